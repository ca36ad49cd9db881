package unblockpulls_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/prow/blocked"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/unblockpulls"
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	in := unblockpulls.Defaults()
	in.Bot, in.Cap, in.MaxUnfinished = "robot", 2, 10
	in.Planned = []unblockpulls.Planned{{
		Repository: "kube/widgets", Number: 7, Base: "main", Head: headOf(7), Context: "unit", Do: blocked.Trigger,
		Job: "unit",
	}}
	book, err := unblockpulls.Replayed(in, runbook.Target{})
	if err != nil {
		t.Fatal(err)
	}
	calls := func(needed int) string {
		return fmt.Sprintf(`{"what":{"Needed":%d,"Reserve":0,"Left":{"Known":true,"Limit":5000,"Remaining":60,"Reset":`+
			`"2026-11-24T12:00:00Z","PausedUntil":"0001-01-01T00:00:00Z"}},"begun":false}`, needed)
	}
	outlook := func(free bool, reason string) string {
		return fmt.Sprintf(`[{"repository":"kube/widgets","number":7,"head":"h","waits":["docs"],"Free":%t,"Reason":%q,`+
			`"Missing":["docs"]}]`, free, reason)
	}
	toDo := func(do blocked.Do, settled bool) string {
		return fmt.Sprintf(`{"do":%q,"reason":"it never ran","settled":%t}`, do, settled)
	}
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"not-the-bot": {Readings: []string{`"sam"`, `"robot"`, `"Robot[bot]"`}},
		"within-cap":  {Readings: []string{`2`, `3`}},
		"no-strays":   strays(),
		"headroom":    headroom(),
		"budget-suffices": {
			Readings: []string{calls(60), calls(61), calls(5001)},
			Said:     []string{"what.Left.Reset"},
			Unused: map[string]string{
				"what.Left.Known": "it is known, as it was asked", "what.Left.PausedUntil": "a pause is an error of reading",
			},
		},
		// It stops nothing.
		"summary":          {Readings: []string{`"1 open pull request was looked at"`}, Said: []string{"reading"}},
		"protection-right": {Readings: []string{`[]`, `["\"docs\" on kube/widgets=main"]`}, Said: []string{"[]"}},
		"still-to-do": {
			Readings: []string{
				toDo(blocked.Trigger, false), toDo(blocked.Unknown, false), toDo(blocked.Mend, false), toDo(blocked.Mend, true),
			},
			Said: []string{"reason"},
		},
		"contexts-there": {
			Readings: []string{
				`{"decided":["#7 unit success"],"running":["#8 unit"],"left":["#9 unit"],"missing":[]}`,
				`{"decided":[],"running":[],"left":[],"missing":["#7 unit is not reported"]}`,
			},
			Said: []string{"decided", "running", "left", "missing[]"},
		},
		"pulls-free": {
			Readings: []string{outlook(true, "merged"), outlook(false, "a review"), outlook(false, "")},
			Said:     []string{"[].repository", "[].number"},
			Unused: map[string]string{
				"[].head":    "it was read by it",
				"[].waits":   "repair-branch-protection's",
				"[].Missing": "repair-branch-protection's",
			},
		},
	}, book)
}

// strays are readings of the alarms: quiet ones, one that rings, ones that lack something, and pods elsewhere.
func strays() runbooktest.Row {
	rule := func(name string, severity finding.Severity, reason string) string {
		return fmt.Sprintf(`{"rule":%q,"severity":%q,"reason":%q,"warned":"it differs","alerted":"it rings"}`, name, severity,
			reason)
	}
	of := func(strays string, last string) string {
		verdicts := strings.Repeat(rule(stray.Stray, finding.OK, "")+",", 4) + last
		return `{"what":{"home":"test-pods","strays":` + strays + `,"verdicts":[` + verdicts + `]},"begun":false}`
	}
	quiet := rule(stray.Agree, finding.OK, "")
	return runbooktest.Row{
		Readings: []string{
			of(`[]`, quiet), of(`[]`, rule(stray.Canary, finding.Alert, "")), of(`[]`, rule(stray.Podless, finding.OK, "no jobs")),
			of(`[]`, rule(stray.Agree, finding.Warn, "")), of(`["a","b","c"]`, quiet),
		},
		Said:   []string{"what.home", "what.strays[]", "what.verdicts[].warned", "what.verdicts[].alerted"},
		Unused: map[string]string{"begun": "it never defers"},
	}
}

// headroom are readings of what Prow has to do, with the job that is next.
func headroom() runbooktest.Row {
	const onlyWhether = "only whether there is one"
	of := func(unread string, jobs, unfinished, planned int, next string) string {
		return fmt.Sprintf(`{"what":{"unread":%s,"jobs":%d,"unfinished":%d,"namespace":"prow","planned":%d,"next":%s},`+
			`"begun":false}`, unread, jobs, unfinished, planned, next)
	}
	next := func(closed bool, most, unfinished int) string {
		return fmt.Sprintf(`{"name":"unit","queue":"q","closed":%t,"most":%d,"unfinished":%d}`, closed, most, unfinished)
	}
	return runbooktest.Row{
		Readings: []string{
			of(`null`, 3, 9, 1, `null`), of(`null`, 3, 10, 1, `null`), of(`null`, 0, 0, 0, `null`),
			of(`{"absence":"denied","class":"denied","reason":"403"}`, 3, 9, 1, `null`),
			of(`null`, 3, 2, 1, next(false, 1, 0)), of(`null`, 3, 2, 1, next(false, 1, 1)), of(`null`, 3, 2, 1, next(true, 0, 0)),
		},
		Said:   []string{"what.namespace", "what.unread.reason", "what.next.queue"},
		Unused: map[string]string{"what.unread.absence": onlyWhether, "what.unread.class": onlyWhether},
	}
}
