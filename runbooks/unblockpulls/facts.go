package unblockpulls

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"salve/internal/prow/config"
)

// reporters remembers who reported on the last commits of branches.
type reporters struct {
	lock     sync.Mutex
	byBranch map[config.Branch]map[string]string
}

// reporter says who else than a job of the configuration reports a context; empty when nobody is known to.
func (u *unblocking) reporter(ctx context.Context, branch config.Branch, name string) (string, error) {
	if slices.Contains(u.in.External, name) {
		return "named by --external-context", nil
	}
	if u.pulls.Producer(branch, name) != nil {
		return "", nil
	}
	u.reported.lock.Lock()
	defer u.reported.lock.Unlock()
	if known, found := u.reported.byBranch[branch]; found {
		return known[name], nil
	}
	by, _, err := u.branches.Reported(ctx, branch)
	if err != nil {
		return "", err
	}
	if u.reported.byBranch == nil {
		u.reported.byBranch = map[config.Branch]map[string]string{}
	}
	u.reported.byBranch[branch] = by
	return by[name], nil
}

// marker is what a comment of the runbook carries, unseen by who reads it: for which context on which head it was made.
// A name may hold anything, and two hyphens would end it.
func marker(head, context string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(context), "-", "%2D")
	return fmt.Sprintf("<!-- salve %s head=%s context=%s -->", Name, head, escaped)
}
