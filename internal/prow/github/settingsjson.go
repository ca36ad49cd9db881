package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// anyApp is how a write says that anybody may report a context. Without an app GitHub would pin the context to the
// one that reported it last
// (https://docs.github.com/rest/branches/branch-protection#update-branch-protection).
const anyApp = -1

// Request is the body of a whole write, as the API wants it: other than what it gives back on reading.
func (s Settings) Request() json.RawMessage {
	s = s.Normal()
	body := map[string]any{
		// These four have to be there; null takes them away.
		"required_status_checks": nil, "required_pull_request_reviews": nil, "restrictions": nil,
		"enforce_admins": s.EnforceAdmins,

		"required_linear_history": s.LinearHistory, "allow_force_pushes": s.AllowForcePushes,
		"allow_deletions": s.AllowDeletions, "block_creations": s.BlockCreations,
		"required_conversation_resolution": s.ConversationResolution, "lock_branch": s.LockBranch,
		"allow_fork_syncing": s.AllowForkSyncing,
	}
	if s.StatusChecks != nil {
		checks := []map[string]any{}
		for _, check := range s.StatusChecks.Checks {
			app := check.App
			if app == 0 {
				app = anyApp
			}
			checks = append(checks, map[string]any{"context": check.Context, "app_id": app})
		}
		body["required_status_checks"] = map[string]any{"strict": s.StatusChecks.Strict, "checks": checks}
	}
	if s.Reviews != nil {
		body["required_pull_request_reviews"] = s.Reviews.request()
	}
	if s.Restrictions != nil {
		body["restrictions"] = s.Restrictions.request()
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(fmt.Sprintf("settings hold nothing but texts, numbers and lists: %v", err))
	}
	return raw
}

// request leaves out the lists that are not set: a repository of a user's may not name them.
func (r *Reviews) request() map[string]any {
	body := map[string]any{
		"dismiss_stale_reviews": r.DismissStale, "require_code_owner_reviews": r.RequireCodeOwners,
		"require_last_push_approval": r.RequireLastPushApproval, "required_approving_review_count": r.Approvals,
	}
	if r.Dismissal != nil {
		body["dismissal_restrictions"] = r.Dismissal.request()
	}
	if r.Bypass != nil {
		body["bypass_pull_request_allowances"] = r.Bypass.request()
	}
	return body
}

func (a *Actors) request() map[string]any {
	list := func(names []string) []string { return append([]string{}, names...) } // [] and never null
	return map[string]any{"users": list(a.Users), "teams": list(a.Teams), "apps": list(a.Apps)}
}

// ParseSettings reads the object that GitHub gives of a protection. Fields that this package does not know are named
// in unknown, as "restrictions.robots": a whole write made from the settings would take them away.
func ParseSettings(object json.RawMessage) (settings Settings, unknown []string, err error) {
	r := &objectReader{}
	root := r.object("", object)
	settings = Settings{
		StatusChecks:           r.statusChecks(root.take("required_status_checks")),
		Reviews:                r.reviews(root.take("required_pull_request_reviews")),
		Restrictions:           r.actors("restrictions", root.take("restrictions")),
		EnforceAdmins:          r.enabled("enforce_admins", root),
		LinearHistory:          r.enabled("required_linear_history", root),
		AllowForcePushes:       r.enabled("allow_force_pushes", root),
		AllowDeletions:         r.enabled("allow_deletions", root),
		BlockCreations:         r.enabled("block_creations", root),
		ConversationResolution: r.enabled("required_conversation_resolution", root),
		LockBranch:             r.enabled("lock_branch", root),
		AllowForkSyncing:       r.enabled("allow_fork_syncing", root),
		Signatures:             r.enabled("required_signatures", root),
	}
	// GET branch has these two beside the rest.
	root.take("name")
	root.take("enabled")
	r.left("", root)
	if r.err != nil {
		return Settings{}, nil, r.err
	}
	slices.Sort(r.unknown)
	return settings.Normal(), r.unknown, nil
}

// objectReader reads nested objects, remembers the first error and the fields nobody took.
type objectReader struct {
	err     error
	unknown []string
}

type fields map[string]json.RawMessage

// take gives a field and takes it off the list; nil for one that is not there or null.
func (f fields) take(name string) json.RawMessage {
	raw := f[name]
	delete(f, name)
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}
	return raw
}

func (r *objectReader) into(place string, raw json.RawMessage, into any) {
	if raw == nil || r.err != nil {
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		r.err = fmt.Errorf("protection field %q: %w", place, err)
	}
}

func (r *objectReader) object(place string, raw json.RawMessage) fields {
	found := fields{}
	r.into(place, raw, &found)
	return found
}

// left notes what nobody took, but for links.
func (r *objectReader) left(place string, of fields) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if name != "url" && !strings.HasSuffix(name, "_url") {
			r.unknown = append(r.unknown, short(strings.TrimPrefix(place+"."+name, ".")))
		}
	}
}

// enabled reads {"enabled": true}.
func (r *objectReader) enabled(name string, from fields) (is bool) {
	of := r.object(name, from.take(name))
	r.into(name, of.take("enabled"), &is)
	r.left(name, of)
	return is
}

func (r *objectReader) statusChecks(raw json.RawMessage) *StatusChecks {
	const place = "required_status_checks"
	if raw == nil {
		return nil
	}
	of, read := r.object(place, raw), &StatusChecks{}
	var contexts []string
	var checks []struct {
		Context string `json:"context"`
		App     *int64 `json:"app_id"`
	}
	r.into(place, of.take("strict"), &read.Strict)
	r.into(place, of.take("contexts"), &contexts)
	r.into(place, of.take("checks"), &checks)
	of.take("enforcement_level")
	r.left(place, of)
	for _, check := range checks {
		app := int64(0)
		if check.App != nil && *check.App != anyApp {
			app = *check.App
		}
		read.Checks = append(read.Checks, Check{Context: check.Context, App: app})
	}
	for _, name := range contexts {
		read.add(name)
	}
	return read
}

func (r *objectReader) reviews(raw json.RawMessage) *Reviews {
	const place = "required_pull_request_reviews"
	if raw == nil {
		return nil
	}
	of, read := r.object(place, raw), &Reviews{}
	read.Dismissal = r.actors(place+".dismissal_restrictions", of.take("dismissal_restrictions"))
	read.Bypass = r.actors(place+".bypass_pull_request_allowances", of.take("bypass_pull_request_allowances"))
	r.into(place, of.take("dismiss_stale_reviews"), &read.DismissStale)
	r.into(place, of.take("require_code_owner_reviews"), &read.RequireCodeOwners)
	r.into(place, of.take("require_last_push_approval"), &read.RequireLastPushApproval)
	r.into(place, of.take("required_approving_review_count"), &read.Approvals)
	r.left(place, of)
	return read
}

// actors reads lists of whole users, teams and apps, of which a write names the login or the slug.
func (r *objectReader) actors(place string, raw json.RawMessage) *Actors {
	if raw == nil {
		return nil
	}
	of := r.object(place, raw)
	names := func(list, key string) (found []string) {
		var all []fields
		r.into(place, of.take(list), &all)
		for _, one := range all {
			var name string
			r.into(place+"."+list, one.take(key), &name)
			if name == "" && r.err == nil {
				r.err = fmt.Errorf("protection field %q: an entry without %s", place+"."+list, key)
			}
			found = append(found, name)
		}
		return found
	}
	read := &Actors{Users: names("users", "login"), Teams: names("teams", "slug"), Apps: names("apps", "slug")}
	r.left(place, of)
	return read
}
