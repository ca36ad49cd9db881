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
	base, err := url.Parse(cmp.Or(endpoint, github.DefaultBaseURL))
	if err != nil || base.Host == "" {
		return runbook.Target{}, fmt.Errorf("--github-endpoint %q is not the URL of an API", endpoint)
	}
	host := strings.ToLower(base.Host)
	return runbook.Target{Kind: "branch protection", ID: host + "/branch-protection", Name: host}, nil
}
