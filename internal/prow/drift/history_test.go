package drift

import (
	"fmt"
	"testing"
	"time"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// TestHistoryIsBounded, however often a branch changes, however many come and go, and however long it is kept.
func TestHistoryIsBounded(t *testing.T) {
	kept, now := &history{}, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	look := func(name string, contexts ...string) *check.GitHub {
		live := check.LiveBranch{}
		live.Protection.Settings.StatusChecks = &github.StatusChecks{}
		for _, context := range contexts {
			live.Protection.Settings.StatusChecks.Checks = append(live.Protection.Settings.StatusChecks.Checks,
				github.Check{Context: context})
		}
		return &check.GitHub{Branches: map[config.Branch]check.LiveBranch{{Org: "o", Repo: "r", Name: name}: live}}
	}
	for n := range 100 {
		now = now.Add(time.Minute)
		kept.learn(now, look("busy", fmt.Sprint(n)))
	}
	if n := len(kept.changes[config.Branch{Org: "o", Repo: "r", Name: "busy"}]); n != mostChanges {
		t.Errorf("%d changes are kept", n)
	}
	for n := range 100 {
		now = now.Add(time.Hour)
		kept.learn(now, look(fmt.Sprint("passing ", n)))
	}
	if n := len(kept.changes); n > 50 {
		t.Errorf("%d branches are kept", n)
	}
	for n := range 10 {
		now = now.Add(20 * time.Hour)
		kept.learn(now, look("slow", fmt.Sprint(n)))
	}
	if n := len(kept.changes[config.Branch{Org: "o", Repo: "r", Name: "slow"}]); n > 4 {
		t.Errorf("%d changes of long ago are kept", n)
	}
}

// TestHistoryBeginsWithTheFirstAnswer.
func TestHistoryBeginsWithTheFirstAnswer(t *testing.T) {
	kept, now := &history{}, time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	kept.learn(now, &check.GitHub{Failed: "no answer"})
	kept.learn(now.Add(time.Hour), &check.GitHub{})
	if since := kept.told().Since; !since.Equal(now.Add(time.Hour)) {
		t.Errorf("since %s", since)
	}
}
