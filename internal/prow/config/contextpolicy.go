package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ContextPolicy is what Tide waits for on a branch, as far as static presubmits say.
type ContextPolicy struct {
	// Required must exist and be green, RequiredIfPresent be green where they exist,
	// Optional don't count.
	Required, RequiredIfPresent, Optional List
	// SkipUnknown: other contexts don't count either; otherwise they must be green.
	SkipUnknown Bool
	// Ignored is why from-branch-protection has no effect: the policy of the branch
	// can't be computed. Tide writes that into its log and goes on without.
	Ignored error
}

// ContextError says that contexts are in two buckets. Tide then handles no pull
// request of the branch.
type ContextError struct {
	Branch   Branch
	Contexts []string
	// Buckets are the two.
	Buckets [2]string
}

func (e *ContextError) Error() string {
	return fmt.Sprintf("context policy of %s: %s is both %s and %s", e.Branch, strings.Join(e.Contexts, ", "),
		e.Buckets[0], e.Buckets[1])
}

// ContextPolicy is Tide's for a branch. The error is a *ContextError.
//
// (GetTideContextPolicy in pkg/config/tide.go)
func (c *Config) ContextPolicy(branch Branch) (ContextPolicy, error) {
	options := c.Tide.ContextOptions.of(branch)
	policy := ContextPolicy{Required: options.Required, RequiredIfPresent: options.RequiredIfPresent,
		Optional: options.Optional, SkipUnknown: options.SkipUnknown}
	manual := false
	if _, configured := c.BranchProtection.Orgs[branch.Org]; configured && on(options.FromBranchProtection) {
		protection, err := c.Policy(branch)
		switch {
		case errors.Is(err, ErrNoPolicy):
		case err != nil:
			policy.Ignored = err
		default:
			manual = on(protection.RequireManuallyTriggeredJobs)
			if on(protection.Protect) {
				policy.Required = policy.Required.and(protection.Contexts())
			}
		}
	}
	req := c.Requirements(branch, manual)
	policy.Required = policy.Required.and(contextsOf(req.Required))
	policy.RequiredIfPresent = policy.RequiredIfPresent.and(contextsOf(req.RequiredIfPresent))
	policy.Optional = policy.Optional.and(contextsOf(req.Optional))
	if wrong := policy.overlap(branch); wrong != nil {
		return ContextPolicy{}, wrong
	}
	return policy, nil
}

func (p ContextPolicy) overlap(branch Branch) *ContextError {
	for _, pair := range []struct {
		a, b   List
		called [2]string
	}{
		{p.Required, p.Optional, [2]string{"required", "optional"}},
		{p.Required, p.RequiredIfPresent, [2]string{"required", "required if present"}},
		{p.Optional, p.RequiredIfPresent, [2]string{"optional", "required if present"}},
	} {
		other := pair.b.Values()
		both := slices.DeleteFunc(pair.a.Values(), func(context string) bool {
			_, found := slices.BinarySearch(other, context)
			return !found
		})
		if len(both) > 0 {
			return &ContextError{Branch: branch, Contexts: both, Buckets: pair.called}
		}
	}
	return nil
}

// Counts is whether a context that is on a pull request must be green for Tide.
func (p ContextPolicy) Counts(context string) bool {
	switch {
	case p.Optional.Origins(context) != nil:
		return false
	case p.Required.Origins(context) != nil, p.RequiredIfPresent.Origins(context) != nil:
		return true
	}
	return !on(p.SkipUnknown)
}
