package configmap_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"salve/journal"
	"salve/runbook"
)

// onePerPage has every list come one object at a time.
type onePerPage struct{ next http.RoundTripper }

func (o onePerPage) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if query.Has("limit") {
		request = request.Clone(request.Context())
		query.Set("limit", "1")
		request.URL.RawQuery = query.Encode()
	}
	return o.next.RoundTrip(request)
}

// TestLeasesNameTheOpenRuns: all pages of them, and none that is closed.
func TestLeasesNameTheOpenRuns(t *testing.T) {
	b := newBench(t)
	kept := b.runner(span, func(next http.RoundTripper) http.RoundTripper { return onePerPage{next} })
	open, err := kept.OpenRuns(t.Context())
	if b.must(err); len(open) != 0 {
		t.Fatalf("of none: %v", open)
	}
	for run, closed := range map[string]bool{"run-1": false, "run-2": true, "run-3": false} {
		target := runbook.Target{ID: "lamp of " + run}
		lease, err := kept.Lock(t.Context(), journal.Claim{Target: target.ID})
		b.must(err)
		header := journal.Header{Run: run, Runbook: "lamp-off", Target: target}
		record, err := journal.Create(t.Context(), kept, lease, time.Now, header)
		b.must(err)
		if closed {
			b.must(record.Append(t.Context(), journal.Closed, "", journal.Verdict{Outcome: runbook.Remediated}))
		}
		b.must(lease.Release(t.Context()))
	}
	open, err = kept.OpenRuns(t.Context())
	b.must(err)
	var names []string
	for _, one := range open {
		names = append(names, one.Run)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"run-1", "run-3"}) {
		t.Errorf("open are %v", names)
	}
}
