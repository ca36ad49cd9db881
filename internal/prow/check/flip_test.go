package check_test

import (
	"testing"
	"time"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

func TestB7Flip(t *testing.T) {
	at := func(hoursAgo int, contexts ...string) check.Change {
		return check.Change{At: now().Add(-time.Duration(hoursAgo) * time.Hour), Contexts: contexts}
	}
	for name, test := range map[string]struct {
		changes []check.Change
		flips   bool
	}{
		"nothing":                 {nil, false},
		"one look":                {[]check.Change{at(1, "a")}, false},
		"a change":                {[]check.Change{at(5, "a"), at(1, "b")}, false},
		"a change that came back": {[]check.Change{at(5, "a"), at(3, "b"), at(1, "a")}, true},
		"by a third state":        {[]check.Change{at(9, "a"), at(5, "b"), at(3), at(1, "a")}, true},
		"came back too late":      {[]check.Change{at(50, "a"), at(30, "b"), at(1, "a")}, false},
		"came back long ago":      {[]check.Change{at(60, "a"), at(50, "b"), at(40, "a")}, false},
		"and changed again":       {[]check.Change{at(9, "a"), at(5, "b"), at(3, "a"), at(1, "c")}, true},
		"to none and back":        {[]check.Change{at(5, "a"), at(3), at(1, "a")}, true},
		"was there for long":      {[]check.Change{at(900, "a"), at(3, "b"), at(1, "a")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			given := facts(t, guarded(), nil)
			given.GitHub = onGitHub(map[string]check.LiveBranch{main: requiring()})
			given.History = &check.History{Since: now().Add(-48 * time.Hour),
				Changes: map[config.Branch][]check.Change{named(main): test.changes}}
			found, verdict := run(t, "B7", given)
			if (len(found) == 1 && found[0].Severity == finding.Alert) != test.flips {
				t.Errorf("%+v", found)
			}
			if test.flips {
				expectEvidence(t, found[0], "required: a", "2026-11-23T")
				return
			}
			expectVerdict(t, verdict, finding.OK, "")
		})
	}
	given := facts(t, guarded(), nil)
	given.GitHub, given.History = onGitHub(nil), &check.History{Since: now().Add(-time.Hour)}
	_, verdict := run(t, "B7", given)
	expectVerdict(t, verdict, finding.Unknown, "watched since 2026-11-23T11:00:00Z")
}
