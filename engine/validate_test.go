package engine_test

import (
	"context"
	"strings"
	"testing"

	"salve/engine"
	"salve/runbook"
)

func TestWrongUsageChangesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		spoil   func(*runbook.Runbook)
		options engine.Options
		want    string
	}{
		"override of an unknown guard": {options: engine.Options{Overrides: map[string]string{"moon": "why not"}},
			want: `no guard "moon"`},
		"override without a reason": {options: engine.Options{Overrides: map[string]string{"lamp-in-sight": ""}},
			want: "requires a reason"},
		"override of a binding guard": {spoil: func(b *runbook.Runbook) { b.Guards[0].NotOverridable = true },
			options: engine.Options{Overrides: map[string]string{"lamp-in-sight": "x"}}, want: "can't be overridden"},
		"a step names an unknown guard": {spoil: func(b *runbook.Runbook) { b.Steps[0].Guards = []string{"moon"} },
			want: `requires guard "moon"`},
		"two steps of the same name": {spoil: func(b *runbook.Runbook) { b.Steps[0].Name = b.Steps[1].Name },
			want: "duplicate"},
		"a step that can't be observed": {spoil: func(b *runbook.Runbook) { b.Steps[0].Observe = nil },
			want: "requires Observe and Apply"},
		"a target without an identity": {spoil: func(b *runbook.Runbook) { b.Target.ID = "" }, want: "target ID"},
		"two guards of the same name": {spoil: func(b *runbook.Runbook) { b.Guards = append(b.Guards, b.Guards[0]) },
			want: "duplicate"},
		"an undo that can't be observed": {spoil: func(b *runbook.Runbook) { b.Steps[0].Rollback.Observe = nil },
			want: "requires Observe and Apply"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			book := b.book()
			if row.spoil != nil {
				row.spoil(&book)
			}
			_, err := b.Run(context.Background(), book, row.options)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if runs, _ := b.Journal.Runs(context.Background()); len(b.calls)+len(runs) > 0 {
				t.Errorf("left %v and runs %v", b.calls, runs)
			}
		})
	}
}
