package githubsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Protection is the classic protection of a branch, as it was written.
type Protection struct {
	RequiredStatusChecks           *StatusChecks `json:"required_status_checks,omitempty"`
	EnforceAdmins                  bool          `json:"enforce_admins,omitempty"`
	RequiredPullRequestReviews     *Reviews      `json:"required_pull_request_reviews,omitempty"`
	Restrictions                   *Actors       `json:"restrictions,omitempty"`
	RequiredLinearHistory          bool          `json:"required_linear_history,omitempty"`
	AllowForcePushes               bool          `json:"allow_force_pushes,omitempty"`
	AllowDeletions                 bool          `json:"allow_deletions,omitempty"`
	BlockCreations                 bool          `json:"block_creations,omitempty"`
	RequiredConversationResolution bool          `json:"required_conversation_resolution,omitempty"`
	LockBranch                     bool          `json:"lock_branch,omitempty"`
	AllowForkSyncing               bool          `json:"allow_fork_syncing,omitempty"`
	RequiredSignatures             bool          `json:"required_signatures,omitempty"`
	// Extra are fields of a GitHub of tomorrow: they are shown, and a whole write takes them away.
	Extra map[string]any `json:"extra,omitempty"`
}

// StatusChecks are required contexts.
type StatusChecks struct {
	Strict bool    `json:"strict,omitempty"`
	Checks []Check `json:"checks,omitempty"`
}

// Check is one required context. Without an app anybody may report it.
type Check struct {
	Context string `json:"context"`
	AppID   *int64 `json:"app_id,omitempty"`
}

// Reviews are required approvals.
type Reviews struct {
	Dismissal               *Actors `json:"dismissal_restrictions,omitempty"`
	Bypass                  *Actors `json:"bypass_pull_request_allowances,omitempty"`
	DismissStale            bool    `json:"dismiss_stale_reviews,omitempty"`
	RequireCodeOwners       bool    `json:"require_code_owner_reviews,omitempty"`
	RequireLastPushApproval bool    `json:"require_last_push_approval,omitempty"`
	Approvals               int     `json:"required_approving_review_count"`
}

// Actors are logins and slugs.
type Actors struct {
	Users []string `json:"users,omitempty"`
	Teams []string `json:"teams,omitempty"`
	Apps  []string `json:"apps,omitempty"`
}

// Require makes a protection that requires contexts, and nothing else.
func Require(contexts ...string) *Protection {
	checks := &StatusChecks{}
	for _, context := range contexts {
		checks.Checks = append(checks.Checks, Check{Context: context})
	}
	return &Protection{RequiredStatusChecks: checks}
}

// protectionRequest is the body of a whole write. Other keys are refused.
type protectionRequest struct {
	RequiredStatusChecks *struct {
		Strict   *bool     `json:"strict"`
		Contexts *[]string `json:"contexts"`
		Checks   *[]Check  `json:"checks"`
	} `json:"required_status_checks"`
	EnforceAdmins              *bool `json:"enforce_admins"`
	RequiredPullRequestReviews *struct {
		Dismissal               *actorsRequest `json:"dismissal_restrictions"`
		Bypass                  *actorsRequest `json:"bypass_pull_request_allowances"`
		DismissStale            bool           `json:"dismiss_stale_reviews"`
		RequireCodeOwners       bool           `json:"require_code_owner_reviews"`
		RequireLastPushApproval bool           `json:"require_last_push_approval"`
		Approvals               *int           `json:"required_approving_review_count"`
	} `json:"required_pull_request_reviews"`
	Restrictions                   *actorsRequest `json:"restrictions"`
	RequiredLinearHistory          bool           `json:"required_linear_history"`
	AllowForcePushes               *bool          `json:"allow_force_pushes"`
	AllowDeletions                 bool           `json:"allow_deletions"`
	BlockCreations                 bool           `json:"block_creations"`
	RequiredConversationResolution bool           `json:"required_conversation_resolution"`
	LockBranch                     bool           `json:"lock_branch"`
	AllowForkSyncing               bool           `json:"allow_fork_syncing"`
}

type actorsRequest struct {
	Users *[]string `json:"users"`
	Teams *[]string `json:"teams"`
	Apps  *[]string `json:"apps"`
}

// actors of no list at all are none: so is dismissal_restrictions: {} written.
func (a *actorsRequest) actors() *Actors {
	if a == nil || a.Users == nil && a.Teams == nil && a.Apps == nil {
		return nil
	}
	read := &Actors{}
	for list, into := range map[*[]string]*[]string{a.Users: &read.Users, a.Teams: &read.Teams, a.Apps: &read.Apps} {
		if list != nil {
			*into = slices.Clone(*list)
		}
	}
	return read
}

// required are the keys that a whole write has to have, null or not
// (https://docs.github.com/rest/branches/branch-protection#update-branch-protection).
func required() []string {
	return []string{"required_status_checks", "enforce_admins", "required_pull_request_reviews", "restrictions"}
}

// parseProtection reads the body of a whole write, and answers what GitHub answers to a wrong one.
func (c *call) parseProtection() (*Protection, *reply) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &keys); err != nil {
		return nil, c.fail(http.StatusBadRequest, "Problems parsing JSON")
	}
	var missing []string
	for _, key := range required() {
		if _, ok := keys[key]; !ok {
			missing = append(missing, fmt.Sprintf("%q", key))
		}
	}
	// The wording is that of https://github.com/zalando/zappr/issues/508.
	switch len(missing) {
	case 0:
	case 1:
		return nil, c.fail(http.StatusUnprocessableEntity, "Invalid request.\n\n"+missing[0]+" wasn't supplied.")
	default:
		return nil, c.fail(http.StatusUnprocessableEntity,
			"Invalid request.\n\n"+strings.Join(missing, ", ")+" weren't supplied.")
	}
	var body protectionRequest
	if err := json.Unmarshal(c.body, &body); err != nil {
		return nil, c.fail(http.StatusUnprocessableEntity, "Invalid request.\n\nNo subschema in \"anyOf\" matched.")
	}
	if problem := c.checkProtection(&body); problem != nil {
		return nil, problem
	}
	return body.protection(c.repo), nil
}

// checkProtection refuses what is well-formed and wrong.
func (c *call) checkProtection(body *protectionRequest) *reply {
	if checks := body.RequiredStatusChecks; checks != nil {
		// Both at once: https://github.com/ossf/allstar/issues/155.
		if checks.Strict == nil || (checks.Contexts == nil) == (checks.Checks == nil) {
			return c.fail(http.StatusUnprocessableEntity, "Invalid request.\n\nNo subschema in \"anyOf\" matched.\n"+
				"More than one subschema in \"oneOf\" matched.\nNot all subschemas of \"allOf\" matched.")
		}
	}
	if r := body.RequiredPullRequestReviews; r != nil && r.Approvals != nil && (*r.Approvals < 0 || *r.Approvals > 6) {
		return c.fail(http.StatusUnprocessableEntity, "Invalid request.\n\nNo subschema in \"anyOf\" matched.\n"+
			fmt.Sprintf("%d must be less than or equal to 6.", *r.Approvals))
	}
	if body.Restrictions != nil && c.owner.User {
		return c.invalid("Only organization repositories can have users and team restrictions")
	}
	return nil
}

func (b *protectionRequest) protection(repo *Repository) *Protection {
	is := func(flag *bool) bool { return flag != nil && *flag }
	p := &Protection{
		EnforceAdmins: is(b.EnforceAdmins), Restrictions: b.Restrictions.restrictions(),
		RequiredLinearHistory: b.RequiredLinearHistory, AllowForcePushes: is(b.AllowForcePushes),
		AllowDeletions: b.AllowDeletions, BlockCreations: b.BlockCreations,
		RequiredConversationResolution: b.RequiredConversationResolution, LockBranch: b.LockBranch,
		AllowForkSyncing: b.AllowForkSyncing,
	}
	if s := b.RequiredStatusChecks; s != nil {
		p.RequiredStatusChecks = &StatusChecks{Strict: is(s.Strict)}
		if s.Contexts != nil {
			for _, context := range *s.Contexts {
				p.RequiredStatusChecks.add(Check{Context: context})
			}
		}
		if s.Checks != nil {
			for _, check := range *s.Checks {
				p.RequiredStatusChecks.add(Check{Context: check.Context, AppID: repo.pinned(check)})
			}
		}
	}
	if r := b.RequiredPullRequestReviews; r != nil {
		p.RequiredPullRequestReviews = &Reviews{
			Dismissal: r.Dismissal.actors(), Bypass: r.Bypass.actors(), DismissStale: r.DismissStale,
			RequireCodeOwners: r.RequireCodeOwners, RequireLastPushApproval: r.RequireLastPushApproval, Approvals: 1,
		}
		if r.Approvals != nil {
			p.RequiredPullRequestReviews.Approvals = *r.Approvals
		}
	}
	return p
}

// restrictions of an object are always some: empty lists shut everybody out.
func (a *actorsRequest) restrictions() *Actors {
	if a == nil {
		return nil
	}
	if read := a.actors(); read != nil {
		return read
	}
	return &Actors{}
}

func (s *StatusChecks) add(check Check) {
	if !slices.ContainsFunc(s.Checks, func(known Check) bool { return known.Context == check.Context }) {
		s.Checks = append(s.Checks, check)
	}
}

// pinned is the app of a required check: -1 is any, and none is the one that reported it last.
func (r *Repository) pinned(check Check) *int64 {
	if check.AppID != nil {
		if *check.AppID < 0 {
			return nil
		}
		return check.AppID
	}
	var newest *CheckRun
	for _, commit := range r.Commits {
		for i := range commit.CheckRuns {
			run := &commit.CheckRuns[i]
			if run.Name == check.Context && (newest == nil || run.Started.After(newest.Started)) {
				newest = run
			}
		}
	}
	if newest == nil || newest.AppID == 0 {
		return nil
	}
	return &newest.AppID
}
