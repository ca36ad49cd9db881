package repairprotection

import (
	"salve/internal/prow/github"
	"salve/runbook"
)

// Target is the protection of all branches of one GitHub: whatever the scope of a run, there is one at a time.
func Target(endpoint string) (runbook.Target, error) {
	host, err := github.Host(endpoint)
	if err != nil {
		return runbook.Target{}, err
	}
	return runbook.Target{
		Kind: "GitHub", ID: host + "/branch-protection", Name: "branch protection of " + host,
	}, nil
}
