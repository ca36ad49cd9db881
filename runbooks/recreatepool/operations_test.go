package recreatepool_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"salve/journal"
	"salve/runbook"
)

// astray has every answer to a change lead to somebody else's host.
type astray struct {
	next    http.RoundTripper
	changes []string
	t       *testing.T
}

func (a *astray) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.Contains(request.URL.Host, "evil") {
		a.t.Errorf("%s %s was sent with the token", request.Method, request.URL)
	}
	answer, err := a.next.RoundTrip(request)
	if err != nil || request.Method == http.MethodGet {
		return answer, err
	}
	a.changes = append(a.changes, request.Method+" "+request.URL.Path[strings.LastIndexByte(request.URL.Path, '/')+1:])
	for _, name := range []string{"Azure-AsyncOperation", "Location"} {
		if answer.Header.Get(name) != "" {
			answer.Header.Set(name, "https://evil.example/subscriptions/x")
		}
	}
	return answer, nil
}

// TestOperationThatLeadsElsewhereIsSeenInItsResource: every change was accepted, nobody but ARM is asked what became of
// it, and no change is taken for failed or made twice.
func TestOperationThatLeadsElsewhereIsSeenInItsResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, wedgedBut(t, ""), journal.NewMemory())
		defer s.world.Close()
		wire := &astray{t: t}
		s.through = func(next http.RoundTripper) http.RoundTripper { wire.next = next; return wire }
		result, err := s.run(t.Context())
		if err != nil || result.Outcome != runbook.Remediated {
			t.Fatalf("ended %s: %s, %v", result.Outcome, result.Reason, err)
		}
		counts := map[string]int{}
		for _, change := range wire.changes {
			counts[change]++
		}
		if len(counts) < 4 || counts["DELETE system"] != 1 || counts["PUT system"] != 1 {
			t.Errorf("changes %v", wire.changes)
		}
	})
}
