package rescuepods

import (
	"encoding/json"
	"maps"
	"testing"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

// TestEveryFieldOfAReadingIsAskedFor: without it the guard does not decide, and with another value it decides
// otherwise.
func TestEveryFieldOfAReadingIsAskedFor(t *testing.T) {
	in := Defaults()
	in.Selector, in.Expected, in.Max = "app=web", []string{"test-pods"}, 3
	in.Prow.Config, in.Prow.Namespace, in.Prow.ApprovedList = "config.yaml", "prow", "d1"
	book, err := Replayed(in, runbook.Target{ID: "cluster/pods/app=web", Name: "app=web"})
	if err != nil {
		t.Fatal(err)
	}
	const (
		counted = `"expected":4,"stranded":2,"left":1,"live":9,"blind":null,"youngest":{"pod":"default/a","uid":"u",` +
			`"created":"2026-11-24T11:50:00Z"},"now":"2026-11-24T12:00:00Z","seen":"2026-11-24T12:00:00Z"`
		none = `"expected":0,"stranded":0,"left":0,"live":0,"blind":null,"youngest":null,"now":"2026-11-24T12:00:00Z",` +
			`"seen":"2026-11-24T12:00:00Z"`
		all = `"expected":4,"stranded":3,"left":0,"live":6,"blind":null,"youngest":null,"now":"2026-11-24T12:00:00Z",` +
			`"seen":"2026-11-24T12:00:00Z"`
		gone = `"remaining":"","touched":"","gone":3,"free":0,"unselected":0,"stuck":1,"terminating":1`
	)
	readings := map[string][]string{
		"summary": {
			`{"stranded":2,"liveExpected":4,"liveElsewhere":1,"fewerExpected":false,"seen":"2026-11-24T12:00:00Z"}`,
			`{"stranded":9,"liveExpected":1,"liveElsewhere":1,"fewerExpected":false,"seen":"2026-11-24T12:00:00Z"}`,
		},
		"namespaces-exist": {`""`},
		"pods-elsewhere": {
			`{` + counted + `,"runningJobs":0,"jobs":true,"livePods":0}`, `{` + none + `,"runningJobs":0,"jobs":true,"livePods":0}`,
		},
		"cannot-start":   {`{` + counted + `,"evidence":[]}`, `{` + none + `,"evidence":[]}`},
		"source-stopped": {`{` + counted + `}`, `{` + none + `}`}, "within-max": {`{` + all + `}`},
		"within-share": {`{` + all + `}`}, "two-persons": {`{` + all + `}`},
		"record-kept":        {`{"pods":3,"found":true,"foreign":""}`},
		"recorded-gone":      {`{` + gone + `}`},
		"running-untouched":  {`{` + gone + `,"left":4,"evidence":[]}`},
		"jobs-accounted-for": {`{"waiting":"","text":"all are"}`},
		"mount-events":       {`{"lacked":["Secret a"],"seen":"2026-11-24T12:00:00Z"}`},
		"namespace-agreed": {
			`{"git":{"Pods":"test-pods","ProwJobs":"prow"},"mounted":{"Pods":"test-pods","ProwJobs":"prow"},"mount":` +
				`{"Namespace":"prow","Name":"config","Key":"config.yaml"},"landed":["test-pods"],"pods":5,"declared":["test-pods"]}`,
		},
		"fix-proven": {`{"youngest":"default/a","jobs":["a","b","c"],"pods":"test-pods"}`},
		"prow-steady": {
			`{"missing":"","moving":"","mount":"prow/config","mounted":{"Pods":"test-pods","ProwJobs":"prow"},` +
				`"seen":"2026-11-24T12:00:00Z"}`,
		},
		"list-approved": {`"d1"`},
	}
	const evidence, other = "for the evidence", "another guard's"
	tallied := map[string]string{
		"expected": other, "stranded": other, "left": other, "live": other, "blind": other, "youngest": other, "now": other,
		"seen": evidence,
	}
	but := func(fields ...string) map[string]string {
		rest := maps.Clone(tallied)
		for _, field := range fields {
			delete(rest, field)
		}
		return rest
	}
	shown := but("stranded", "left", "blind")
	shown["evidence"] = evidence
	elsewhere := but("expected", "stranded", "left")
	elsewhere["jobs"] = "it is said whether jobs were asked for"
	source := but("youngest", "now")
	source["youngest.uid"] = evidence
	untouched := map[string]string{
		"remaining": other, "gone": other, "free": other, "unselected": other, "evidence": evidence,
	}
	unused := map[string]map[string]string{
		"summary": {"seen": evidence}, "pods-elsewhere": elsewhere, "cannot-start": shown, "source-stopped": source,
		"within-max": but("stranded"), "within-share": but("stranded", "live"), "two-persons": but("stranded", "live"),
		"recorded-gone":     {"touched": other, "stuck": other, "terminating": other},
		"running-untouched": untouched, "mount-events": {"seen": evidence},
		"prow-steady": {"seen": evidence, "mounted": evidence},
	}
	for _, guard := range everyGuard(book) {
		t.Run(guard.Name, func(t *testing.T) {
			var raw []json.RawMessage
			for _, reading := range readings[guard.Name] {
				raw = append(raw, json.RawMessage(reading))
			}
			runbooktest.SweepReadings(t, guard, raw, unused[guard.Name])
		})
	}
}

// everyGuard is each guard, precondition and check of a runbook.
func everyGuard(book runbook.Runbook) []runbook.Guard {
	all := append(append([]runbook.Guard{}, book.Guards...), book.Checks...)
	for _, step := range book.Steps {
		all = append(all, step.Preconditions...)
	}
	return all
}
