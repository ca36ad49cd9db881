package console

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// toldOf is what Lines tells of events, then of what else happens.
func toldOf(host Host, events []engine.Event, more ...func(*Lines)) string {
	var out strings.Builder
	lines := NewLines(&out, "aks-recreate-pool on aks-1/system", func() time.Time { return midnight }, host)
	for _, event := range events {
		lines.Watch(event)
	}
	for _, do := range more {
		do(lines)
	}
	lines.Close()
	return out.String()
}

// TestLines: line by line, in words alone.
func TestLines(t *testing.T) {
	want := `00:00:00  aks-recreate-pool on aks-1/system
00:00:01  run run-1 opened
00:00:02  guards: pool-wedged holds: it is Failed
00:00:02  plan made: 3 steps, digest 842df
00:00:03  snapshot: began
00:00:04  snapshot: done after 1s
00:00:05  drain: began
00:00:06  drain: 7 of 9 pods gone
00:00:07  drain: warning: the API server said: Bearer [redacted]
00:01:10  drain: failed after 1m5s: a node went away while its pods were being evicted, and came back
00:01:11  taking back what was done: no capacity
00:01:11  uncordon: began
00:01:15  uncordon: done after 4s
00:01:20  failed: no capacity
`
	if diff := cmp.Diff(want, toldOf(NoHost, story())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// story is a run that fails.
func story() []engine.Event {
	finding := runbook.Finding{Guard: "pool-wedged", Answer: runbook.AnswerHolds, Reason: "it is Failed"}
	begin := []engine.Event{
		{At: midnight.Add(time.Second), Run: "run-1", Kind: engine.RunBegan, Text: "opened"},
		{At: midnight.Add(2 * time.Second), Kind: engine.Found, Step: "start", Finding: &finding},
		{At: midnight.Add(2 * time.Second), Kind: engine.PlanMade, Plan: &runbook.Plan{Digest: "842df",
			Steps: make([]runbook.PlannedStep, 3)}},
	}
	from := slices.IndexFunc(events(), func(event engine.Event) bool { return event.Kind == engine.StepBegan })
	return slices.Concat(begin, events()[from:], ended())
}

// TestLinesInGroups: what hosts make of the same run. Outcomes stand in no group.
func TestLinesInGroups(t *testing.T) {
	for name, row := range map[string]struct {
		host Host
		want []string
	}{
		"GitHub Actions": {GitHubActions, []string{
			"::group::guards\n00:00:02  guards: pool-wedged holds: it is Failed\n::endgroup::\n",
			"::group::snapshot\n00:00:03  snapshot: began\n00:00:04  snapshot: done after 1s\n::endgroup::\n",
			"::endgroup::\n::error title=drain::failed: a node went away while its pods were being evicted, and came back\n",
			"::warning title=drain::warning: the API server said: Bearer [redacted]\n",
			"00:01:20  failed: no capacity\n::error title=run run-1::failed: no capacity\n",
		}},
		"Azure Pipelines": {AzurePipelines, []string{
			"##[group]guards\n00:00:02  guards: pool-wedged holds: it is Failed\n##[endgroup]\n",
			"##[endgroup]\n##vso[task.logissue type=error]drain: failed: a node went away while its pods were being evicted",
			"##vso[task.logissue type=warning]drain: warning: the API server said: Bearer [redacted]\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			told := toldOf(row.host, story())
			for _, want := range row.want {
				if !strings.Contains(told, want) {
					t.Errorf("%q is not told:\n%s", want, told)
				}
			}
			wellFormed(t, told)
		})
	}
}

// wellFormed fails where groups are nested, left open, or closed twice.
func wellFormed(t *testing.T, told string) {
	t.Helper()
	open := false
	for _, line := range strings.Split(told, "\n") {
		begins := strings.HasPrefix(line, "::group::") || strings.HasPrefix(line, "##[group]")
		ends := line == "::endgroup::" || line == "##[endgroup]"
		if begins && open || ends && !open {
			t.Fatalf("at %q groups are not well-formed:\n%s", line, told)
		}
		open = begins || open && !ends
	}
	if open {
		t.Fatalf("a group is left open:\n%s", told)
	}
}

// TestGroupsOfParallelSteps: one group is open at a time; what runs beside it is told when that is over.
func TestGroupsOfParallelSteps(t *testing.T) {
	event := func(kind engine.EventKind, step string) engine.Event {
		event := engine.Event{At: midnight, Kind: kind, Step: step}
		if kind == engine.StepEnded {
			event.Result = &journal.Result{Result: journal.Done}
		}
		return event
	}
	got := toldOf(GitHubActions, []engine.Event{
		event(engine.StepBegan, "one"), event(engine.StepBegan, "two"), event(engine.StepBegan, "three"),
		event(engine.StepEnded, "two"), event(engine.StepEnded, "one"), event(engine.StepEnded, "three"),
	})
	want := `00:00:00  aks-recreate-pool on aks-1/system
::group::one
00:00:00  one: began
00:00:00  one: done after 0s
::endgroup::
::group::two
00:00:00  two: began
00:00:00  two: done after 0s
::endgroup::
::group::three
00:00:00  three: began
00:00:00  three: done after 0s
::endgroup::
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestGroupsAreWellFormed: whatever happens in whatever order, when the run parks, and when it is cut off.
func TestGroupsAreWellFormed(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		kinds := []engine.EventKind{engine.RunBegan, engine.Found, engine.PlanMade, engine.StepBegan, engine.StepBegan,
			engine.StepBegan, engine.StepMoved, engine.StepEnded, engine.StepEnded, engine.Waiting, engine.Warning,
			engine.RollbackBegan, engine.ChecksBegan, engine.RunEnded, engine.ApprovalUsed}
		results := []journal.ResultKind{journal.Done, journal.Skipped, journal.Unknown, journal.Failure}
		var events []engine.Event
		for range 40 {
			events = append(events, engine.Event{
				At: midnight, Kind: kinds[random.IntN(len(kinds))],
				Step:     []string{"", "start", "checks", "guards", "one", "two", "three"}[random.IntN(7)],
				Finding:  &runbook.Finding{Guard: "g", Answer: runbook.AnswerUnknown, Reason: "r"},
				Plan:     &runbook.Plan{},
				Progress: &runbook.Progress{Text: fmt.Sprint(random.IntN(3))},
				Result:   &journal.Result{Result: results[random.IntN(len(results))]},
				Verdict:  &journal.Verdict{Outcome: runbook.NeedsAttention, Question: "what now?"},
			})
		}
		parts := func(lines *Lines) {
			for i, event := range events {
				lines.Part([]string{"alpha", "beta"}[i%2])(event)
				lines.Say(midnight, "said")
			}
		}
		for _, host := range []Host{GitHubActions, AzurePipelines} {
			wellFormed(t, toldOf(host, events))
			wellFormed(t, toldOf(host, nil, parts))
		}
	}
}

// TestHostileLines: no text of others becomes a command of the host, wherever it stands.
func TestHostileLines(t *testing.T) {
	for _, text := range []string{"::error::owned", "x\n::add-mask::owned", "x\r\n::warning::owned%0A::error::",
		"##vso[task.setvariable variable=PATH]/tmp", "##[error]owned", "\n##VSO[task.complete result=Succeeded]",
		"%0A%0D::"} {
		finding := &runbook.Finding{Guard: text, Answer: runbook.AnswerUnknown, Reason: text, Override: text}
		events := []engine.Event{
			{Kind: engine.RunBegan, Run: text, Text: text},
			{Kind: engine.Found, Step: "start", Finding: finding},
			{Kind: engine.PlanMade, Plan: &runbook.Plan{Digest: text}},
			{Kind: engine.Waiting, Step: text, Text: text},
			{Kind: engine.StepBegan, Step: text, Text: text},
			{Kind: engine.StepMoved, Step: text, Progress: &runbook.Progress{Text: text, Details: []string{text}}},
			{Kind: engine.Warning, Step: text, Text: text},
			{Kind: engine.StepEnded, Step: text, Result: &journal.Result{Result: journal.Failure, Reason: text}},
			{Kind: engine.StepEnded, Step: text, Result: &journal.Result{Result: journal.Unknown, Reason: text}},
			{Kind: engine.RollbackBegan, Text: text},
			{Kind: engine.RunEnded, Runbook: text, Target: runbook.Target{Name: text}, Verdict: &journal.Verdict{
				Outcome: runbook.Failed, Reason: text, Question: text}},
		}
		for _, host := range []Host{GitHubActions, AzurePipelines} {
			for line := range strings.Lines(toldOf(host, events, func(l *Lines) { l.Say(midnight, text) })) {
				line = strings.TrimSuffix(line, "\n")
				if line == "" || ours(line) {
					line = after(line)
				}
				if found := obeyedBy(line); found != "" {
					t.Errorf("%q: the host obeys %q", text, found)
				}
			}
		}
	}
}

// ours tells whether a line is a command that is ours.
func ours(line string) bool { return after(line) != line }

// after is what is left of a line behind our own command.
func after(line string) string {
	for _, own := range []string{"::group::", "::endgroup::", "::error title=", "::warning title=", "##[group]",
		"##[endgroup]", "##vso[task.logissue type=error]", "##vso[task.logissue type=warning]"} {
		if rest, is := strings.CutPrefix(line, own); is {
			return "text " + rest
		}
	}
	return line
}

// TestLongHeldGroups: a step that talks while another one's group is open takes no more than its share.
func TestLongHeldGroups(t *testing.T) {
	events := []engine.Event{{At: midnight, Kind: engine.StepBegan, Step: "one"}}
	for i := range 5 * heldLines {
		events = append(events, engine.Event{At: midnight, Kind: engine.Waiting, Step: "two", Text: fmt.Sprint(i)})
	}
	told := toldOf(GitHubActions, events)
	lines := strings.Count(told, "\n")
	if lines > heldLines+10 || !strings.Contains(told, "800 ordinary lines were left out here") {
		t.Errorf("%d lines:\n%s", lines, told)
	}
	wellFormed(t, told)
}

// TestNamesOfGroupsAreClean: the name of a step is somebody's text, too.
func TestNamesOfGroupsAreClean(t *testing.T) {
	told := toldOf(GitHubActions, []engine.Event{
		{At: midnight, Kind: engine.StepBegan, Step: "use password=hunter2 \x1b[31m"},
	})
	for _, never := range []string{"hunter2", "\x1b"} {
		if strings.Contains(told, never) {
			t.Errorf("%q is in %q", never, told)
		}
	}
}
