package github

import (
	"context"
	"encoding/json"
	"fmt"

	"salve/internal/apierr"
)

// Rule is one rule of a ruleset that is in force for a branch.
type Rule struct {
	// Type is GitHub's word, such as required_status_checks or pull_request.
	Type    string
	Ruleset Ruleset
	// StatusChecks are set for the type required_status_checks alone.
	StatusChecks *StatusChecks
	// Parameters are as GitHub gave them.
	Parameters json.RawMessage
}

// Ruleset is where a rule comes from.
type Ruleset struct {
	ID int64
	// Source is the repository or the organization, by SourceType.
	Source, SourceType string
}

// requiredStatusChecks is the type of a rule that requires contexts
// (https://docs.github.com/rest/repos/rules#get-rules-for-a-branch).
const requiredStatusChecks = "required_status_checks"

// Rules reads the rules of rulesets that are in force for a branch, those of its organization among them. Whoever may
// read the repository may read them.
func (c *Client) Rules(ctx context.Context, branch Branch) ([]Rule, error) {
	if err := branch.seen(); err != nil {
		return nil, err
	}
	type answer struct {
		Type       string          `json:"type"`
		Parameters json.RawMessage `json:"parameters"`
		ID         int64           `json:"ruleset_id"`
		Source     string          `json:"ruleset_source"`
		SourceType string          `json:"ruleset_source_type"`
	}
	var all []Rule
	err := eachPage(ctx, c, fmt.Sprintf("reading the rules for %s", branch),
		branch.Repo.path("rules", "branches", branch.Name), nil, func(page []answer) (int, error) {
			for _, one := range page {
				rule := Rule{
					Type: one.Type, Parameters: one.Parameters,
					Ruleset: Ruleset{ID: one.ID, Source: one.Source, SourceType: one.SourceType},
				}
				if err := rule.readStatusChecks(); err != nil {
					return 0, err
				}
				all = append(all, rule)
			}
			return len(page), nil
		})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (r *Rule) readStatusChecks() error {
	if r.Type != requiredStatusChecks {
		return nil
	}
	var read struct {
		Strict *bool `json:"strict_required_status_checks_policy"`
		Checks []struct {
			Context     string `json:"context"`
			Integration int64  `json:"integration_id"`
		} `json:"required_status_checks"`
	}
	if err := json.Unmarshal(r.Parameters, &read); err != nil {
		return apierr.New(apierr.Terminal, "rule of ruleset %d: %w", r.Ruleset.ID, err)
	}
	r.StatusChecks = &StatusChecks{Strict: read.Strict != nil && *read.Strict}
	for _, check := range read.Checks {
		r.StatusChecks.Checks = append(r.StatusChecks.Checks, Check{Context: check.Context, App: check.Integration})
	}
	return nil
}
