package check

import (
	"fmt"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/finding"
)

// lockedDoor is C3: whether somebody may merge by hand into the repository that Prow is
// deployed from, when Prow can't report what is required there. With enforce_admins
// nobody may, before an admin has changed the protection: WARN. Where only bots may push,
// admins still may: INFO. Where no deploy job needs what it deploys, both are INFO.
func lockedDoor(f *facts) finding.List {
	var found finding.List
	for _, job := range f.jobs {
		branch, ok := f.now.sourceBranch(job.Job)
		if !ok {
			continue
		}
		made := f.now.decide(branch)
		if made.err != nil || made.Action != config.Protect {
			continue
		}
		if f := f.doorOf(branch, made.Policy, len(f.cycleOf(job)) > 0); f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// sourceBranch is the branch that a job deploys.
func (v *view) sourceBranch(job *config.Job) (config.Branch, bool) {
	if job.Kind != config.Periodic {
		return config.Branch{Org: job.Org, Repo: job.Repo, Name: v.mainBranch(job)}, true
	}
	if len(job.ExtraRefs) == 0 {
		return config.Branch{}, false
	}
	ref := job.ExtraRefs[0]
	return config.Branch{Org: ref.Org, Repo: ref.Repo, Name: ref.BaseRef}, true
}

func (f *facts) doorOf(b config.Branch, policy config.Policy, cycle bool) *finding.Finding {
	made := &finding.Finding{Severity: finding.Info, Subject: finding.Subject{Org: b.Org, Repo: b.Repo, Branch: b.Name}}
	if contexts := policy.Contexts().Values(); len(contexts) > 0 {
		made.Evidence = append(made.Evidence, "required: "+strings.Join(few(contexts), ", "))
	}
	switch {
	case on(policy.EnforceAdmins):
		if cycle {
			made.Severity = finding.Warn
		}
		made.Position = policy.EnforceAdmins.Origin.Position
		made.Message = "enforce_admins: true on the branch that Prow is deployed from: when Prow can't report, not even an " +
			"admin can merge the way back"
		made.Mend = "drop enforce_admins there, or write into the break-glass document who may lift it, and how"
	case policy.Restrictions != nil && onlyBots(*policy.Restrictions):
		made.Position = f.placeOf(requirement{branch: branch{Branch: b}})
		made.Message = fmt.Sprintf("only bots may push to the branch that Prow is deployed from (%s): an admin has to merge "+
			"the way back", orNone(policy.Restrictions.Users.Values()))
		made.Mend = "name in the break-glass document who those admins are"
	default:
		return nil
	}
	return made
}

// onlyBots is whether nobody of those who may push is known to be a human: a team may
// have some, a user whose name ends as bots' names do is none.
func onlyBots(actors config.Restrictions) bool {
	for _, user := range actors.Users.Values() {
		name := strings.ToLower(strings.TrimSuffix(user, "[bot]"))
		if name == strings.ToLower(user) && !strings.HasSuffix(name, "bot") {
			return false
		}
	}
	return len(actors.Teams) == 0
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
