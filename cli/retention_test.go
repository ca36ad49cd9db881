package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/clock"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/recreatepool"
)

// oldRuns writes closed runs of long ago, one more than are kept, and names the oldest one.
func oldRuns(t *testing.T, store journal.Store) string {
	t.Helper()
	began := time.Now().Add(-2 * journal.DefaultAge)
	for n := range journal.DefaultKeep + 1 {
		at := began.Add(time.Duration(n) * time.Second)
		header := journal.Header{
			Run: at.UTC().Format("20060102-150405-") + "aaaaaa", Runbook: "x",
			Target: runbook.Target{ID: fmt.Sprint("lamp/", n)},
		}
		record, err := journal.Create(t.Context(), store, journal.NoLease(1), func() time.Time { return at }, header)
		if err == nil {
			err = record.Append(t.Context(), journal.Closed, "", journal.Verdict{Outcome: runbook.NothingToDo})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return began.UTC().Format("20060102-150405-") + "aaaaaa"
}

// TestOldRunsAreDeletedAtTheEndOfARun: by run, by resume and by pipeline run, unless they are told not to.
func TestOldRunsAreDeletedAtTheEndOfARun(t *testing.T) {
	run := func(b *bench) []string { return b.onCluster("run", recreatepool.Name) }
	for name, test := range map[string]struct {
		arguments []string
		variable  string
		want      int
		kept      bool
	}{
		"by default":                         {},
		"switched off by flag":               {arguments: []string{"--retention", "0"}, kept: true},
		"switched off by variable":           {variable: "0", kept: true},
		"a flag wins":                        {arguments: []string{"--retention", "24h"}, variable: "0"},
		"for longer":                         {arguments: []string{"--retention", "9000h"}, kept: true},
		"a negative span":                    {arguments: []string{"--retention", "-1h"}, want: exitUsage, kept: true},
		"a negative span in the environment": {variable: "-1h", want: exitUsage, kept: true},
		"a variable that is no duration":     {variable: "long", want: exitUsage, kept: true},
		"a plan deletes nothing":             {arguments: []string{"--dry-run"}, kept: true},
		"a run that was refused, by usage":   {arguments: []string{"--wait-for-lease", "-1s"}, want: exitUsage, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "healthy")
			b.byHand = true
			oldest := oldRuns(t, journal.NewFile(b.journal))
			b.variables = map[string]string{retentionVariable: test.variable}
			b.types(test.want, append(run(b), test.arguments...)...)
			if there := slices.Contains(b.runs(), oldest); there != test.kept {
				t.Errorf("the oldest run is there: %v", there)
			}
		})
	}
	t.Run("pipeline", func(t *testing.T) {
		b := newBench(t, "healthy")
		b.byHand = true
		oldest := oldRuns(t, journal.NewFile(b.journal))
		const text = `$schema: pipeline.schema.v1
serviceGroup: Example
rolloutName: Example
resourceGroups:
- name: g
  resourceGroup: rg
  subscription: sub
  steps:
  - {name: a, action: Shell, command: 'test -e %s', shellIdentity: {value: none}}
`
		path := filepath.Join(t.TempDir(), "pipeline.yaml")
		if err := os.WriteFile(path, fmt.Appendf(nil, text, b.journal+"/go"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.pipeline(exitFailed, "run", path, "--journal", b.journal, "--retention", "0")
		if !slices.Contains(b.runs(), oldest) {
			t.Fatal("it was deleted although it was to be kept")
		}
		open := b.runs()[len(b.runs())-1]
		resume := []string{"resume", open, "--journal", b.journal, "--pipeline", path}
		b.types(exitFailed, append(resume, "--retention", "9000h")...)
		if !slices.Contains(b.runs(), oldest) {
			t.Fatal("it was deleted by a resume although it was to be kept")
		}
		b.types(exitFailed, resume...)
		if slices.Contains(b.runs(), oldest) {
			t.Error("the oldest run is still there")
		}
	})
}

// undeletable is a journal of a runner that may not delete records.
type undeletable struct{ *journal.Memory }

func (undeletable) Delete(context.Context, string) error {
	return errors.New("configmaps is forbidden:\nno right to delete")
}

// TestUndeletedRunsAreNoFailure: one line of the debug log says so, and nothing else.
func TestUndeletedRunsAreNoFailure(t *testing.T) {
	store := undeletable{journal.NewMemory()}
	oldRuns(t, store)
	for verbosity, lines := range []int{0, 1} {
		var log bytes.Buffer
		a := &app{stderr: &log, verbosity: verbosity}
		a.expire(t.Context(), retention{age: time.Hour}, journal.LocationOf(store, "memory"), clock.Real{}, "run-1")
		got := strings.Count(log.String(), "\n")
		if got != lines || lines > 0 && !strings.Contains(log.String(), "forbidden") {
			t.Errorf("verbosity %d says %q", verbosity, log.String())
		}
	}
}

// TestInterruptedRunDeletesNothing: it is to end at once.
func TestInterruptedRunDeletesNothing(t *testing.T) {
	store := journal.NewMemory()
	oldest := oldRuns(t, store)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &app{stderr: &bytes.Buffer{}}
	a.expire(ctx, retention{age: time.Hour}, journal.LocationOf(store, "memory"), clock.Real{}, "run-1")
	if runs, err := store.Runs(t.Context()); err != nil || !slices.Contains(runs, oldest) {
		t.Errorf("runs %v, %v", runs, err)
	}
}
