package protection

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/github"
)

// Difference is one field in which two protections differ.
type Difference struct {
	// Field is named as in GitHub's API.
	Field string `json:"field"`
	// Live and Want are the values, as short texts.
	Live string `json:"live"`
	Want string `json:"want"`
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s → %s", d.Field, d.Live, d.Want) }

// Differences are the fields in which a protection differs from what it is to be, in a fixed order.
func Differences(live, want github.Settings) []Difference {
	live, want = live.Normal(), want.Normal()
	var found []Difference
	add := func(field string, a, b any) {
		if one, other := shown(a), shown(b); one != other {
			found = append(found, Difference{Field: field, Live: one, Want: other})
		}
	}
	add("required_status_checks.checks", checksOf(live.StatusChecks), checksOf(want.StatusChecks))
	add("required_status_checks.strict", strict(live.StatusChecks), strict(want.StatusChecks))
	add("required_pull_request_reviews", live.Reviews, want.Reviews)
	add("restrictions", live.Restrictions, want.Restrictions)
	for _, flag := range []struct {
		field      string
		live, want bool
	}{
		{"enforce_admins", live.EnforceAdmins, want.EnforceAdmins},
		{"required_linear_history", live.LinearHistory, want.LinearHistory},
		{"allow_force_pushes", live.AllowForcePushes, want.AllowForcePushes},
		{"allow_deletions", live.AllowDeletions, want.AllowDeletions},
		{"block_creations", live.BlockCreations, want.BlockCreations},
		{"required_conversation_resolution", live.ConversationResolution, want.ConversationResolution},
		{"lock_branch", live.LockBranch, want.LockBranch},
		{"allow_fork_syncing", live.AllowForkSyncing, want.AllowForkSyncing},
		{"required_signatures", live.Signatures, want.Signatures},
	} {
		add(flag.field, flag.live, flag.want)
	}
	return found
}

// shown is a value as JSON, except for those that read better otherwise.
func shown(value any) string {
	switch v := value.(type) {
	case *github.Reviews:
		if v == nil {
			return "none"
		}
	case *github.Actors:
		if v == nil {
			return "everybody"
		}
	case string:
		return v
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func checksOf(checks *github.StatusChecks) string {
	if checks == nil {
		return "none"
	}
	names := []string{}
	for _, check := range checks.Checks {
		name := check.Context
		if check.App != 0 {
			name = fmt.Sprintf("%s (app %d)", name, check.App)
		}
		names = append(names, name)
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func strict(checks *github.StatusChecks) bool { return checks != nil && checks.Strict }

// Added are the contexts that will be required and are not now; Removed are those that no longer will be.
func Added(live, want github.Settings) []string {
	return beyond(want.StatusChecks.Contexts(), live.StatusChecks.Contexts())
}

// Removed are the contexts that are required now and no longer will be.
func Removed(live, want github.Settings) []string {
	return beyond(live.StatusChecks.Contexts(), want.StatusChecks.Contexts())
}

func beyond(some, others []string) []string {
	var more []string
	for _, one := range some {
		if !slices.Contains(others, one) {
			more = append(more, one)
		}
	}
	return more
}
