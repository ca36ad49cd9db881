package rollout_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/runbook"
)

// readings are a journal that notes which records are read.
type readings struct {
	*journal.Memory
	read []string
}

func (r *readings) Read(ctx context.Context, run string) ([][]byte, error) {
	r.read = append(r.read, run)
	return r.Memory.Read(ctx, run)
}

const (
	groupA = "pipeline/example.service/sub/rg"
	groupB = "pipeline/example.service/sub/another"
)

// before is a rollout that is over.
type before struct {
	run, revision string
	ago           time.Duration
	targets       []string
	allowed       bool
	// unchanged: it was refused before it began a step.
	unchanged bool
	// done is a step that it has done; outputs are what that handed on.
	done, outputs string
}

// history writes the records of rollouts that are over, the oldest one first.
func (b *bench) history(all ...before) *readings {
	b.Helper()
	kept := &readings{Memory: journal.NewMemory()}
	b.journal = kept
	for _, one := range all {
		inputs, err := json.Marshal(rollout.Inputs{ //nolint:gosec // Pass names variables: no value is in it
			ServiceGroup: "Example.Service", Revision: one.revision, Targets: one.targets,
		})
		if err != nil {
			b.Fatal(err)
		}
		header := journal.Header{Schema: 1, Run: one.run, Runbook: rollout.Name, Version: "1", Inputs: inputs,
			Target: runbook.Target{ID: one.targets[0]}}
		if one.allowed {
			header.Overrides = map[string]string{"revision-order": "by hand"}
		}
		at := time.Now().Add(-one.ago)
		record, err := journal.Create(b.Context(), kept, journal.NoLease(1), func() time.Time { return at }, header)
		if err != nil {
			b.Fatal(err)
		}
		var pending []journal.Pending
		if !one.unchanged {
			pending = append(pending, journal.Pending{Kind: journal.Intended, Step: one.done, Data: journal.Intent{Attempt: 1}})
		}
		if one.outputs != "" {
			pending = append(pending, journal.Pending{Kind: journal.Noted, Data: journal.Note{Name: "outputs " + one.done,
				Value: json.RawMessage(one.outputs)}})
		}
		if one.done != "" {
			pending = append(pending, journal.Pending{Kind: journal.Outcome, Step: one.done,
				Data: journal.Result{Attempt: 1, Result: journal.Done}})
		}
		pending = append(pending, journal.Pending{Kind: journal.Closed, Data: journal.Verdict{Outcome: runbook.RolledOut}})
		if err := record.AppendAll(b.Context(), pending...); err != nil {
			b.Fatal(err)
		}
	}
	return kept
}

const day = 24 * time.Hour

// TestRevisionIsComparedAsFarBackAsItTakes: to a run that itself began after such a comparison, on all that is to be
// changed; and no record before that is read.
func TestRevisionIsComparedAsFarBackAsItTakes(t *testing.T) {
	a := []string{groupA}
	for name, test := range map[string]struct {
		history []before
		refused string
		unread  []string
	}{
		"what the newest run came after is not read": {history: []before{
			{run: "r1", revision: "9", ago: 9 * day, targets: a, done: "g/a"},
			{run: "r2", revision: "4", ago: 8 * day, targets: a, done: "g/a"},
			{run: "r3", revision: "5", ago: 3 * day, targets: a, done: "g/a"},
		}, unread: []string{"r1"}},
		"one that was allowed to be older settles nothing": {history: []before{
			{run: "r1", revision: "9", ago: 9 * day, targets: a, done: "g/a"},
			{run: "r2", revision: "5", ago: 3 * day, targets: a, done: "g/a", allowed: true},
		}, refused: "r1"},
		"one that was refused settles nothing": {history: []before{
			{run: "r1", revision: "9", ago: 9 * day, targets: a, done: "g/a"},
			{run: "r2", revision: "5", ago: 3 * day, targets: a, unchanged: true},
		}, refused: "r1"},
		"one that changed a part of it settles nothing": {history: []before{
			{run: "r1", revision: "9", ago: 9 * day, targets: []string{groupB, groupA}, done: "g/a"},
			{run: "r2", revision: "5", ago: 3 * day, targets: []string{groupB}, done: "g/a"},
		}, refused: "r1"},
		"one that changed more settles it": {history: []before{
			{run: "r1", revision: "9", ago: 9 * day, targets: a, done: "g/a"},
			{run: "r2", revision: "5", ago: 5 * day, targets: []string{groupB, groupA}, done: "g/a"},
		}},
		"runners' clocks differ by less than a day": {history: []before{
			{run: "r1", revision: "9", ago: 3*day + time.Hour, targets: a, done: "g/a"},
			{run: "r2", revision: "5", ago: 3 * day, targets: a, done: "g/a"},
		}, refused: "r1"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, b *bench) {
				kept := b.history(test.history...)
				result := b.run(t.Context(), b.plan("revision: '7'\n", "a"), rollout.Options{})
				if test.refused != "" {
					b.expect(result, runbook.Failed, "revision 7 is older than 9, which run "+test.refused)
				} else {
					b.expect(result, runbook.RolledOut, "")
				}
				after := slices.Index(kept.read, result.Run) // before that the engine looks for an open run
				for _, run := range test.unread {
					if after < 0 || slices.Contains(kept.read[after:], run) {
						t.Errorf("%s was read: %v", run, kept.read)
					}
				}
			})
		})
	}
}

// TestSoakLooksBackToTheFirstRunOfItsRevision: which may be one before the newest.
func TestSoakLooksBackToTheFirstRunOfItsRevision(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		a := []string{groupA}
		b.history(
			before{run: "r1", revision: "7", ago: 9 * day, targets: a, done: "g/a"},
			before{run: "r2", revision: "7", ago: time.Hour, targets: a, done: "g/a"})
		began := time.Now()
		soak := `soak; action: Soak | since: {resourceGroup: g, step: a} | duration: 200h`
		b.expect(b.run(t.Context(), b.plan("revision: '7'\n", "a", soak), rollout.Options{}), runbook.RolledOut, "")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it soaked anew, for %s", took)
		}
	})
}

// TestSoakWithoutARevisionCountsFromItsOwnRun: rollouts without one have nothing in common, and what soaked before was
// another thing.
func TestSoakWithoutARevisionCountsFromItsOwnRun(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		b.history(before{run: "r1", ago: 9 * day, targets: []string{groupA}, done: "g/a"})
		began := time.Now()
		soak := `soak; action: Soak | since: {resourceGroup: g, step: a} | duration: 200h`
		b.expect(b.run(t.Context(), b.plan("", "a", soak), rollout.Options{}), runbook.RolledOut, "")
		if took := time.Since(began); took != 200*time.Hour+time.Minute {
			t.Errorf("it soaked for %s", took)
		}
	})
}

// TestPreviewShowsTheNewestOfWhatWasHandedOn: also where the newest run has not done the step.
func TestPreviewShowsTheNewestOfWhatWasHandedOn(t *testing.T) {
	in(t, func(t *testing.T, b *bench) {
		a := []string{groupA}
		kept := b.history(
			before{run: "r1", revision: "5", ago: 9 * day, targets: a, done: "g/a", outputs: `{"values":{"size":"one"}}`},
			before{run: "r2", revision: "5", ago: 7 * day, targets: a, done: "g/a", outputs: `{"values":{"size":"two"}}`},
			before{run: "r3", revision: "5", ago: 2 * day, targets: a, done: "g/other"},
		)
		plan := b.plan("revision: '7'\n", "a", "b < a;"+lookup)
		previews, err := b.runner().Preview(t.Context(), plan, false)
		if err != nil {
			t.Fatal(err)
		}
		shown := previews[len(previews)-1].Variables
		if len(shown) != 1 || shown[0].Text != "two" || shown[0].Run != "r2" {
			t.Errorf("shown %+v", shown)
		}
		if len(kept.read) == 0 {
			t.Error("nothing was read")
		}
	})
}
