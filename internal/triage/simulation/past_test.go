package simulation_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"salve/internal/triage/analysis"
	"salve/internal/triage/grouping"
	"salve/internal/triage/history"
	"salve/internal/triage/simulation"
)

// past is the history of the runs of other changes.
func past(t *testing.T, w simulation.World, build string) *analysis.Recorded {
	t.Helper()
	h, err := history.Open(t.Context(), filepath.Join(t.TempDir(), "none"), history.Options{Grouping: analysis.Grouping()})
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, o := range w.Others {
		if h, err = h.With(entry(o)); err != nil {
			t.Error(err)
			return nil
		}
	}
	return analysis.Record(h, analysis.Identity{Build: build, Change: "pr-1"}, w.Now)
}

// entry is the run of another change as it was recorded.
func entry(o simulation.Other) history.Entry {
	e := history.Entry{
		Build: o.Build, Change: o.Change, Time: o.Time, Ran: history.SetOf(o.Ran),
		Totals: history.Totals{Scenarios: len(o.Ran), Passed: len(o.Ran) - len(o.Failed), Failed: len(o.Failed)},
	}
	type group struct {
		history.Group
		names []string
	}
	groups := map[string]*group{}
	for _, name := range slices.Sorted(maps.Keys(o.Failed)) {
		r := o.Failed[name]
		key := string(grouping.Identify(grouping.Failure{Message: r.Message, File: r.File, Line: r.Line}).Key)
		g := groups[key]
		if g == nil {
			g = &group{Group: history.Group{Key: key, Example: history.Example{Message: r.Message, File: r.File, Line: r.Line}}}
			if r.Signature != "" {
				g.Signatures = []string{r.Signature}
			}
			groups[key] = g
		}
		g.Failures++
		g.names = append(g.names, name)
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		g.Scenarios, g.Names = history.SetOf(g.names), g.names[:min(len(g.names), 5)]
		e.Groups = append(e.Groups, g.Group)
	}
	return e
}
