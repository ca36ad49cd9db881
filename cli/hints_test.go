package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/report"
	"salve/journal"
	"salve/journal/configmap"
)

// TestHintsAboutRunsAreComplete: pasted into the same shell they do what they say.
func TestHintsAboutRunsAreComplete(t *testing.T) {
	t.Parallel()
	folder := &journalFlags{back: []string{"--journal", "kept"}, locationFlags: locationFlags{
		folder: "kept", namespace: configmap.DefaultNamespace, lease: configmap.DefaultLease}}
	folder.cloud.kubeconfig = "k"
	cluster := &journalFlags{back: []string{"--journal-namespace", "ours", "--kubeconfig", "k", "--context", "c"}}
	for _, row := range []struct {
		name        string
		of          *journalFlags
		line, wants string
	}{
		{"a folder, and the cluster to act in", folder,
			"then: salve resume 2026-1. Where they may: salve resume 2026-1 --override a=b",
			"then: salve resume 2026-1 --journal kept --kubeconfig k. " +
				"Where they may: salve resume 2026-1 --journal kept --kubeconfig k --override a=b"},
		{"a folder, to approve", folder, "hint: salve approve 2026-1 --plan d1",
			"hint: salve approve 2026-1 --key KEY --journal kept --plan d1"},
		{"a cluster", cluster,
			"hint: salve runs list; salve runs abandon 2026-1 --reason TEXT, then salve runs prune --broken",
			"hint: salve runs list --journal-namespace ours --kubeconfig k --context c; " +
				"salve runs abandon 2026-1 --journal-namespace ours --kubeconfig k --context c --reason TEXT, " +
				"then salve runs prune --journal-namespace ours --kubeconfig k --context c --broken"},
		{"one that is complete", cluster, "To go on: salve resume 2026-1 --override a=b --kubeconfig other",
			"To go on: salve resume 2026-1 --override a=b --kubeconfig other"},
		{"a word of a sentence", cluster, "salve resume takes a run; salve run x", "salve resume takes a run; salve run x"},
		{"the journal of the user", &journalFlags{}, "hint: salve resume RUN", "hint: salve resume RUN"},
	} {
		a := &app{journal: row.of}
		if got := a.ownCommands(row.line); got != row.wants {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.wants)
		}
	}
}

// TestRunsAreListedOldestFirst, whatever is known of them: those of one second by their names.
func TestRunsAreListedOldestFirst(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 6, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out}
	err := a.showListing(listing{rows: []report.Listed{
		{Run: "20261126-060001-b", State: "open elsewhere"}, {Run: "site", Opened: at.Add(2 * time.Second)},
		{Run: "20261126-060001-a", Opened: at.Add(time.Second)}, {Run: "20261126-060000-c", Opened: at},
		{Run: "20261126-055959-d", State: "broken"},
	}}, &journal.Location{}, "")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for line := range strings.Lines(out.String()) {
		if fields := strings.Fields(line); len(fields) > 0 && line[0] != ' ' && fields[0] != "RUN" && fields[0] != "5" {
			order = append(order, fields[0])
		}
	}
	want := []string{"20261126-055959-d", "20261126-060000-c", "20261126-060001-a", "20261126-060001-b", "site"}
	if !slices.Equal(order, want) {
		t.Errorf("got %v", order)
	}
}

// TestHintsOfAParkedRunAreComplete: in the progress, in the answer, and when the run is looked at again.
func TestHintsOfAParkedRunAreComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t, "pdb-blocked")
	stdout, stderr := b.types(exitNeedsAttention, b.onCluster("run", "aks-recreate-pool", "--on-blocked-drain", "ask",
		"--drain-deadline", "2m")...)
	run := b.runs()[0]
	shown, _ := b.types(exitDecided, "runs", "show", run, "--journal", b.journal)
	explained, _ := b.types(exitDecided, "explain", run, "--journal", b.journal)
	whole := "then: salve resume " + run + " --journal " + b.journal
	for what, text := range map[string]string{"answer": stdout, "progress": stderr, "show": shown, "explain": explained} {
		if !strings.Contains(text, whole) {
			t.Errorf("%s: %q is not in\n%s", what, whole, text)
		}
	}
}
