package drift

import (
	"maps"
	"slices"
	"time"

	"salve/internal/prow/check"
	"salve/internal/prow/config"
)

// mostChanges is how many changes of one branch are kept, the latest: a branch that changes more often than every hour
// and a half has come back long before.
const mostChanges = 16

// history is what branches required when they were looked at, for as long as it matters.
type history struct {
	since   time.Time
	changes map[config.Branch][]check.Change
}

// learn takes in what was read. A branch that could not be read is left as it was; what is too old is forgotten.
func (h *history) learn(now time.Time, seen *check.GitHub) {
	if seen.Failed != "" {
		return
	}
	if h.changes == nil {
		h.since, h.changes = now, map[config.Branch][]check.Change{}
	}
	for name, live := range seen.Branches {
		if live.Failed != "" {
			continue
		}
		contexts := live.Protection.Settings.StatusChecks.Contexts()
		known := h.changes[name]
		if len(known) > 0 && slices.Equal(known[len(known)-1].Contexts, contexts) {
			continue
		}
		known = append(known, check.Change{At: now, Contexts: contexts})
		h.changes[name] = slices.Clone(known[max(0, len(known)-mostChanges):])
	}
	h.forget(now, seen)
}

// forget drops branches that are gone from a repository that was read, and of the others the changes before the last
// one that is older than what matters: that one says what was required when the rest began.
func (h *history) forget(now time.Time, seen *check.GitHub) {
	for name, changes := range h.changes {
		if _, there := seen.Branches[name]; !there && now.Sub(changes[len(changes)-1].At) > 2*check.FlipWindow {
			delete(h.changes, name)
			continue
		}
		for len(changes) > 1 && now.Sub(changes[1].At) > 2*check.FlipWindow {
			changes = changes[1:]
		}
		h.changes[name] = changes
	}
}

// told is a copy for the rules.
func (h *history) told() *check.History {
	told := &check.History{Since: h.since, Changes: map[config.Branch][]check.Change{}}
	maps.Copy(told.Changes, h.changes)
	return told
}
