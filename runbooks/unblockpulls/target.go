package unblockpulls

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"salve/internal/prow/github"
	"salve/runbook"
)

// Target is the pull requests of one GitHub: whatever the selection of a run, there is one at a time, so that its cap
// and its pace are those of all.
func Target(endpoint string) (runbook.Target, error) {
	base, err := url.Parse(cmp.Or(endpoint, github.DefaultBaseURL))
	if err != nil || base.Host == "" {
		return runbook.Target{}, fmt.Errorf("--github-endpoint %q is not the URL of an API", endpoint)
	}
	host := strings.ToLower(base.Host)
	return runbook.Target{
		Kind: "GitHub", ID: host + "/blocked-pull-requests", Name: "blocked pull requests of " + host,
	}, nil
}
