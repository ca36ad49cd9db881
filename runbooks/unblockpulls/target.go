package unblockpulls

import (
	"salve/internal/prow/github"
	"salve/runbook"
)

// Target is the pull requests of one GitHub: whatever the selection of a run, there is one at a time, so that its cap
// and its pace are those of all.
func Target(endpoint string) (runbook.Target, error) {
	host, err := github.Host(endpoint)
	if err != nil {
		return runbook.Target{}, err
	}
	return runbook.Target{
		Kind: "GitHub", ID: host + "/blocked-pull-requests", Name: "blocked pull requests of " + host,
	}, nil
}
