package repairprotection

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"salve/internal/prow/github"
	"salve/runbook"
)

// Target is the protection of all branches of one GitHub: whatever the scope of a run, there is one at a time.
func Target(endpoint string) (runbook.Target, error) {
	host, err := hostOf(endpoint)
	if err != nil {
		return runbook.Target{}, err
	}
	return runbook.Target{
		Kind: "GitHub", ID: host + "/branch-protection", Name: "branch protection of " + host,
	}, nil
}

// hostOf is the GitHub that a base URL leads to.
func hostOf(endpoint string) (string, error) {
	base, err := url.Parse(cmp.Or(endpoint, github.DefaultBaseURL))
	if err != nil || base.Host == "" {
		return "", fmt.Errorf("--github-endpoint %q is not the URL of an API", endpoint)
	}
	return strings.ToLower(base.Host), nil
}
