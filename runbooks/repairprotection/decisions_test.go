package repairprotection

import (
	"strings"
	"testing"
	"time"

	"salve/internal/pipeline/revision"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/internal/prow/protector"
	"salve/internal/prow/ratelimit"
	"salve/runbook"
	"salve/runbooks/repairprotection/branches"
)

// row is what is read, and what is decided of it.
type row struct {
	finding runbook.Finding
	answer  runbook.Answer
	ends    runbook.Outcome
	says    string
}

func decide(t *testing.T, rows map[string]row) {
	t.Helper()
	for rule, row := range rows {
		t.Run(rule, func(t *testing.T) {
			got := row.finding
			if got.Answer != row.answer || got.Outcome != row.ends || !strings.Contains(got.Reason, row.says) {
				t.Errorf("%s (%s): %s; want %s (%s) about %q", got.Answer, got.Outcome, got.Reason, row.answer, row.ends,
					row.says)
			}
		})
	}
}

const (
	yes     = runbook.AnswerHolds
	no      = runbook.AnswerDoesNotHold
	unknown = runbook.AnswerUnknown
)

func TestNoProtectorRunning(t *testing.T) {
	decide(t, map[string]row{
		"none is at work": {noProtectorRunning(nil), yes, "", "none"},
		"what doesn't count is named": {noProtectorRunning([]protector.Run{{What: "Job theirs/p", Image: "v1",
			Passed: "another Prow's"}}), yes, "", "not counted: Job theirs/p (v1), another Prow's"},
		"it hides none that counts": {noProtectorRunning([]protector.Run{{What: "Job theirs/p", Image: "v1", Passed: "x"},
			{What: "pod prow/p", Image: "v1"}}), no, runbook.Deferred, "in progress: pod prow/p (v1);"},
		"it is said how to leave one out": {noProtectorRunning([]protector.Run{{What: "pod prow/p", Image: "v1"}}), no,
			runbook.Deferred, "--other-prow-namespace"},
		"one is": {noProtectorRunning([]protector.Run{{What: "pod prow/p", Image: "v1"}}), no, runbook.Deferred,
			"pod prow/p (v1)"},
	})
}

func TestProtectorAgrees(t *testing.T) {
	image := func(tag string) map[string]string {
		return map[string]string{"CronJob prow/p": "branchprotector:" + tag}
	}
	decide(t, map[string]row{
		"without manifests nothing is known": {protectorAgrees(protector.Images{Unread: true}), unknown, "",
			"--manifests"},
		"nothing is deployed, nothing declared": {protectorAgrees(protector.Images{}), yes, "", "none is deployed"},
		"as declared": {protectorAgrees(protector.Images{Deployed: image("v2"), Declared: image("v2")}), yes, "",
			"as declared: 1"},
		"edited by hand: the next deployment undoes it": {
			protectorAgrees(protector.Images{Deployed: image("v2"), Declared: image("v1")}), no, runbook.NeedsAttention,
			"runs branchprotector:v2, and its manifest says branchprotector:v1"},
		"declared, and about to be deployed": {protectorAgrees(protector.Images{Declared: image("v1")}), no,
			runbook.NeedsAttention, "declared and not deployed"},
		"deployed by nobody knows what": {protectorAgrees(protector.Images{Deployed: image("v1")}), unknown, "",
			"no manifest declares it"},
	})
}

func TestConfigurationNotOlder(t *testing.T) {
	ours := protector.Applied{Host: "h", Revision: "5", Digest: "d"}
	seen := func(order revision.Order, change func(*standing)) runbook.Finding {
		s := standing{Order: order, Applied: &protector.Applied{Host: "h", Revision: "5", Digest: "d", Run: "r1"}}
		if change != nil {
			change(&s)
		}
		return configurationNotOlder(s, ours)
	}
	decide(t, map[string]row{
		"nothing was applied before": {configurationNotOlder(standing{}, ours), yes, "", "no configuration"},
		"the same":                   {seen(revision.Same, nil), yes, "", "run r1"},
		"a newer one":                {seen(revision.Newer, nil), yes, "", "newer"},
		"an older one":               {seen(revision.Older, nil), no, runbook.NeedsAttention, "older"},
		"one that diverged": {seen(revision.Unordered, func(s *standing) {
			s.Unordered, s.Diverged = "neither", true
		}), no, runbook.NeedsAttention, "not a successor"},
		"one that is not known": {seen(revision.Unordered, func(s *standing) {
			s.Unordered = "fetch it"
		}), unknown, "", "fetch it"},
		"the same revision with other files": {seen(revision.Same, func(s *standing) { s.Applied.Digest = "e" }), unknown, "",
			"others"},
		"another GitHub": {seen(revision.Newer, func(s *standing) { s.Applied.Host = "other" }), no, runbook.NeedsAttention,
			"about GitHub other"},
	})
}

func TestBudgetSuffices(t *testing.T) {
	limit := func(needed, remaining, of, reserve int) runbook.Finding {
		return budgetSuffices(ratelimit.Calls{Needed: needed, Reserve: reserve, Left: github.Rate{Known: true, Limit: of,
			Remaining: remaining, Reset: time.Date(2019, 2, 5, 13, 0, 0, 0, time.UTC)}})
	}
	decide(t, map[string]row{
		"it suffices": {limit(100, 100, 5000, 0), yes, "", "100"},
		"what is reserved is others'": {limit(100, 100, 5000, 1), no, runbook.Deferred,
			"left: 99, until 2019-02-05T13:00:00Z"},
		"it suffices after the next reset": {limit(100, 60, 5000, 0), no, runbook.Deferred, "until 2019-02-05T13:00:00Z"},
		"it suffices in no hour: only waits": {limit(100, 60, 60, 0), no, runbook.NeedsAttention,
			"--override budget-suffices"},
	})
}

// stateOf is a branch as it is and is to be.
func stateOf(name string, change func(*protection.State)) protection.State {
	state := protection.State{
		Branch: config.Branch{Org: "kube", Repo: "widgets", Name: name}, Kind: protection.Protect, Protected: true,
		Live: github.Protection{Protected: true},
	}
	if change != nil {
		change(&state)
	}
	return state
}

// statesOf are branches as decisions take them.
func statesOf(states ...protection.State) []branchState { return branchStatesOf(states) }

func differing(state *protection.State) {
	state.Differences = []protection.Difference{{Field: "enforce_admins", Live: "false", Want: "true"}}
}

func TestProtectionDiffers(t *testing.T) {
	decide(t, map[string]row{
		"all are right": {protectionDiffers(statesOf(stateOf("main", nil))), no, "", "all 1"},
		"one differs": {protectionDiffers(statesOf(stateOf("main", differing))), yes, "",
			"1 of 1"},
		"a branch that is gone is right": {protectionDiffers(statesOf(stateOf("main",
			func(s *protection.State) { s.Gone = true }))), no, "", "all 1"},
	})
}

func TestNoBranchUnprotected(t *testing.T) {
	lost := statesOf(stateOf("main", func(s *protection.State) {
		s.Kind, s.Protected = protection.Unprotect, false
	}))
	bare := statesOf(stateOf("main", func(s *protection.State) { s.Protected, s.Live.Protected = false, false }))
	decide(t, map[string]row{
		"without a word": {noBranchUnprotected(nil, lost), no, runbook.NeedsAttention,
			"--allow-unprotect kube/widgets=main=REASON"},
		"with a reason": {noBranchUnprotected(map[string]string{"kube/widgets=main": "retired"}, lost), yes,
			"", ""},
		"with that of another branch": {noBranchUnprotected(map[string]string{"kube/widgets=old": "retired"}, lost), no,
			runbook.NeedsAttention, ""},
		"one that never had any": {noBranchUnprotected(nil, bare), yes, "", ""},
	})
}

func TestContextsReported(t *testing.T) {
	branch := config.Branch{Org: "kube", Repo: "widgets", Name: "main"}
	decide(t, map[string]row{
		"none becomes required": {contextsReported(nil), yes, "", "0"},
		"all are reported": {contextsReported([]branches.Demand{{Branch: branch, Context: "unit", By: "job unit"}}),
			yes, "", "1"},
		"one is not": {contextsReported([]branches.Demand{{Branch: branch, Context: "unit", By: "job unit"},
			{Branch: branch, Context: "docs", Why: "job docs is optional"}}), no, runbook.NeedsAttention,
			`"docs" on kube/widgets=main: job docs is optional`},
	})
}

func TestAsPlanned(t *testing.T) {
	other := stateOf("main", func(s *protection.State) {
		differing(s)
		s.Live.Settings.LinearHistory, s.Want.LinearHistory = true, true
	})
	now := stateOf("main", differing)
	planned := Planned{Live: now.LiveDigest(), Want: now.WantDigest()}
	decide(t, map[string]row{
		"as it was":      {asPlanned(branchStateOf(now), planned), yes, "", "as it was planned"},
		"right by now":   {asPlanned(branchStateOf(stateOf("main", nil)), Planned{}), yes, "", "nothing"},
		"something else": {asPlanned(branchStateOf(other), planned), no, runbook.NeedsAttention, "changed since the plan"},
		"changed, and to be the same": {asPlanned(branchStateOf(stateOf("main", func(s *protection.State) {
			differing(s)
			s.Live.Settings.LinearHistory = true
		})), planned), yes, "", "to be the same"},
		"a field that nobody knows": {asPlanned(branchStateOf(stateOf("main", func(s *protection.State) {
			differing(s)
			s.Live.Unknown = []string{"robots"}
		})), planned), no, runbook.NeedsAttention, "would wipe fields that are not known: robots"},
	})
}

func TestObserve(t *testing.T) {
	for rule, row := range map[string]struct {
		state   protection.State
		want    runbook.State
		partial bool
	}{
		"right":   {stateOf("main", nil), runbook.StateDone, false},
		"gone":    {stateOf("main", func(s *protection.State) { s.Gone = true }), runbook.StateDone, false},
		"differs": {stateOf("main", differing), runbook.StateNotStarted, false},
		"all but the signatures": {stateOf("main", func(s *protection.State) {
			s.Want.Signatures = true
			s.Differences = []protection.Difference{{Field: "required_signatures"}}
		}), runbook.StateNotStarted, true},
	} {
		if got := observe(row.state); got.State != row.want || got.Partial != row.partial {
			t.Errorf("%s: %+v", rule, got)
		}
	}
}

func TestPullsFree(t *testing.T) {
	outlook := func(free bool, reason string, missing ...string) []branches.Outlook {
		return []branches.Outlook{{Pull: branches.Pull{Repository: "kube/widgets", Number: 7, Waits: []string{"docs"}},
			Free: free, Reason: reason, Missing: missing}}
	}
	decide(t, map[string]row{
		"none was named": {pullsFree(nil), yes, "", "mergeable: none"},
		"mergeable":      {pullsFree(outlook(true, "mergeable")), yes, "", "kube/widgets#7 (mergeable)"},
		"it waits for something else": {pullsFree(outlook(false, "not green: unit", "unit")), yes, "",
			"something else: kube/widgets#7 (not green: unit)"},
		"it waits for the same": {pullsFree(outlook(false, "not green: docs", "docs")), no, "",
			"still blocked: kube/widgets#7"},
		"it waits, and nobody knows why": {pullsFree(outlook(false, "")), no, "", "by what is not known"},
	})
}

func TestChecksOfBranches(t *testing.T) {
	leftover := stateOf("old", func(s *protection.State) { differing(s); s.Kind = protection.Leftover })
	decide(t, map[string]row{
		"all right": {protectionsRight(statesOf(stateOf("main", nil))), yes, "",
			"as the configuration says: 1"},
		"one is not": {protectionsRight(statesOf(stateOf("main", differing))), no, "",
			"kube/widgets=main: enforce_admins"},
		"leftovers are left": {leftoversGone(statesOf(leftover)), no, "", "kube/widgets=old"},
		"none is left":       {leftoversGone(statesOf(stateOf("main", differing))), yes, "", "none"},
	})
}

func TestStepNamesShowWhatTheyAre(t *testing.T) {
	for name, want := range map[string]string{
		"kube/widgets=release/1.0": "kube/widgets=release/1.0",
		"kube/widgets=a\u202eb":    `"kube/widgets=a\u202eb"`,
		"kube/widgets=größe":       "kube/widgets=größe",
		"kube/widgets=a\x1b[31mb":  `"kube/widgets=a\x1b[31mb"`,
	} {
		if got := visible(name); got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
}
