package rescuepods

import (
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
		all = `{"expected":4,"stranded":3,"left":0,"live":6,"blind":null,"youngest":null,"now":"2026-11-24T12:00:00Z",` +
			`"seen":"2026-11-24T12:00:00Z"}`
		fact    = `{"source":"pods","identity":"1","seen":"2026-11-24T12:00:00Z","value":3}`
		gone    = `"remaining":"","touched":"","gone":3,"free":0,"unselected":0,"stuck":1,"terminating":1`
		another = "another guard's"
	)
	tallied := map[string]string{
		"expected": another, "stranded": another, "left": another, "live": another, "blind": another, "youngest": another,
		"now": another, "seen": another,
	}
	but := func(fields ...string) map[string]string {
		rest := maps.Clone(tallied)
		for _, field := range fields {
			delete(rest, field)
		}
		return rest
	}
	with := func(unused map[string]string, field, why string) map[string]string {
		unused[field] = why
		return unused
	}
	const jobs = `,"runningJobs":0,"jobs":true,"livePods":0}`
	runbooktest.SweepGuards(t, runbooktest.Rows{
		"summary": {
			Readings: []string{
				`{"stranded":2,"liveExpected":4,"liveElsewhere":1,"fewerExpected":false,"seen":"2026-11-24T12:00:00Z"}`,
				`{"stranded":9,"liveExpected":1,"liveElsewhere":1,"fewerExpected":false,"seen":"2026-11-24T12:00:00Z"}`,
			},
			Said:     []string{"stranded", "liveExpected", "liveElsewhere", "fewerExpected"}, // it stops nothing
			Evidence: []string{"seen"},
		},
		"namespaces-exist": {Readings: []string{`""`}},
		"pods-elsewhere": {
			Readings: []string{`{` + counted + jobs, `{` + none + jobs},
			Said:     []string{"expected"},
			Unused:   with(but("expected", "stranded", "left"), "jobs", "it is said whether jobs were asked for"),
		},
		"cannot-start": {
			Readings: []string{`{` + counted + `,"evidence":[` + fact + `]}`, `{` + none + `,"evidence":[]}`},
			Said:     []string{"left"},
			Evidence: []string{"evidence"},
			Unused:   but("stranded", "left", "blind"),
		},
		"source-stopped": {
			Readings: []string{`{` + counted + `}`, `{` + none + `}`},
			Said:     []string{"youngest.pod"},
			Evidence: []string{"youngest.uid", "seen"},
			Unused:   but("youngest", "now", "seen"),
		},
		"within-max":   {Readings: []string{all}, Unused: but("stranded")},
		"within-share": {Readings: []string{all}, Unused: but("stranded", "live")},
		"two-persons":  {Readings: []string{all}, Unused: but("stranded", "live")},
		"record-kept":  {Readings: []string{`{"pods":3,"found":true,"foreign":""}`}, Said: []string{"pods"}},
		"recorded-gone": {
			Readings: []string{`{` + gone + `}`},
			Said:     []string{"gone", "free", "unselected"},
			Unused:   map[string]string{"touched": another, "stuck": another, "terminating": another},
		},
		"running-untouched": {
			Readings: []string{`{` + gone + `,"left":4,"evidence":[` + fact + `]}`},
			Said:     []string{"left", "stuck", "terminating"},
			Evidence: []string{"evidence"},
			Unused:   map[string]string{"remaining": another, "gone": another, "free": another, "unselected": another},
		},
		"jobs-accounted-for": {Readings: []string{`{"waiting":"","text":"all are"}`}, Said: []string{"text"}},
		"mount-events": {
			Readings: []string{`{"lacked":["Secret a"],"seen":"2026-11-24T12:00:00Z"}`},
			Said:     []string{"lacked"}, // it stops nothing
			Evidence: []string{"seen"},
		},
		"namespace-agreed": {Readings: []string{
			`{"git":{"Pods":"test-pods","ProwJobs":"prow"},"mounted":{"Pods":"test-pods","ProwJobs":"prow"},"mount":` +
				`{"Namespace":"prow","Name":"config","Key":"config.yaml"},"landed":["test-pods"],"pods":5,"declared":["test-pods"]}`,
		}, Said: []string{"mount"}},
		"fix-proven": {
			Readings: []string{
				`{"youngest":"default/a","jobs":["a","b","c"],"pods":"test-pods"}`,
				`{"youngest":"default/a","jobs":["a"],"pods":"test-pods"}`,
			},
			Said: []string{"jobs[]", "pods"},
		},
		"prow-steady": {
			Readings: []string{
				`{"missing":"","moving":"","mount":"prow/config","mounted":{"Pods":"test-pods","ProwJobs":"prow"},` +
					`"seen":"2026-11-24T12:00:00Z"}`,
			},
			Said:     []string{"mount"},
			Evidence: []string{"seen", "mounted"},
		},
		"list-approved": {Readings: []string{`"d1"`}},
	}, book)
}
