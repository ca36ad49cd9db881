package config

import (
	"errors"
	"fmt"
)

// Reason is why a branch's policy can't be computed.
type Reason string

const (
	// ReasonNoProtect says that the branch is listed, and no level sets protect or unmanaged.
	ReasonNoProtect Reason = "no-protect"
	// ReasonJobsRequireProtection says that protect is false, and Prow requires a job there.
	ReasonJobsRequireProtection Reason = "jobs-require-protection"
	// ReasonDisabledPolicy says that protect is false, and there are settings beside it.
	ReasonDisabledPolicy Reason = "disabled-policy"
	// ReasonExpressions says that include or exclude of the repository is no expression.
	ReasonExpressions Reason = "expressions"
	// ReasonApps says that restrictions name apps, which branchprotector takes with
	// --enable-apps-restrictions only.
	ReasonApps Reason = "apps"
)

// PolicyError makes branchprotector fail for a branch, at run time: loading the
// configuration, and checkconfig, say nothing.
type PolicyError struct {
	Branch Branch
	Reason Reason
	// Origin is what to look at: the protect that is false, or the branch's entry.
	Origin Origin
	cause  error
}

func (e *PolicyError) Error() string {
	says := map[Reason]string{
		ReasonNoProtect: "a branch that is listed must have protect, or unmanaged: true, set at some level",
		ReasonJobsRequireProtection: "protect: false, but Prow has required jobs for the branch " +
			"(allow_disabled_job_policies is not set)",
		ReasonDisabledPolicy: "protect: false beside other settings (allow_disabled_policies is not set)",
		ReasonExpressions:    "invalid include or exclude",
		ReasonApps:           "restrictions name apps, which requires branchprotector's --enable-apps-restrictions",
	}[e.Reason]
	if e.cause != nil {
		says += ": " + e.cause.Error()
	}
	return fmt.Sprintf("policy of %s: %s", e.Branch, says)
}

func (e *PolicyError) Unwrap() error { return e.cause }

// ErrNoPolicy says that the configuration has no policy for a branch: neither a level
// nor a required job says anything about it.
var ErrNoPolicy = errors.New("no policy")

// levels are the levels of a branch merged, without jobs (GetOrg, GetRepo, GetBranch).
func (c *Config) levels(branch Branch) (Policy, *PolicyError) {
	bp := c.BranchProtection
	org := bp.Orgs[branch.Org]
	repo := org.Repos[branch.Repo]
	policy := bp.Policy.Apply(org.Policy).Apply(repo.Policy)
	own, listed := repo.Branches[branch.Name]
	if !listed {
		return policy, nil
	}
	policy = policy.Apply(own.Policy)
	if !policy.Protect.Set && !on(policy.Unmanaged) {
		return Policy{}, &PolicyError{Branch: branch, Reason: ReasonNoProtect,
			Origin: Origin{LevelBranch, own.Position}}
	}
	return policy, nil
}

// Policy is what all levels and the required jobs ask for a branch together. The
// error is a *PolicyError where branchprotector would fail, and ErrNoPolicy where
// there is none. It is asked for any branch, also where branchprotector never looks:
// see Protector for that.
//
// (GetPolicy in pkg/config/branch_protection.go)
func (c *Config) Policy(branch Branch) (Policy, error) {
	policy, wrong := c.levels(branch)
	if wrong != nil {
		return Policy{}, wrong
	}
	req := c.Requirements(branch, on(policy.RequireManuallyTriggeredJobs))
	return c.withJobs(branch, policy, contextsOf(req.Required), len(req.RequiredIfPresent)+len(req.Optional) > 0)
}

// withJobs adds the contexts of required jobs to a policy, and refuses one that is
// switched off and says more than that.
func (c *Config) withJobs(branch Branch, policy Policy, required List, others bool) (Policy, error) {
	bp := c.BranchProtection
	if len(required) > 0 || on(bp.ProtectReposWithOptionalJobs) && others {
		if off(policy.Protect) {
			if on(bp.AllowDisabledJobPolicies) {
				return Policy{}, ErrNoPolicy
			}
			return Policy{}, &PolicyError{Branch: branch, Reason: ReasonJobsRequireProtection, Origin: policy.Protect.Origin}
		}
		jobs := Policy{StatusChecks: &StatusChecks{Contexts: required}}
		if on(bp.ProtectTested) {
			jobs.Protect = bp.ProtectTested
		}
		policy = policy.Apply(jobs)
	}
	if off(policy.Protect) && !on(bp.AllowDisabledPolicies) {
		without := policy
		without.Protect = Bool{}
		if without.Defined() {
			return Policy{}, &PolicyError{Branch: branch, Reason: ReasonDisabledPolicy, Origin: policy.Protect.Origin}
		}
	}
	if !policy.Defined() {
		return Policy{}, ErrNoPolicy
	}
	return policy, nil
}
