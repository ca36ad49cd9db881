package configmap

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"salve/journal"
)

// slow has the answer to the first request of a method come late, though it is executed at once.
type slow struct {
	*wire
	late   string
	answer time.Duration
	came   atomic.Bool
}

func (s *slow) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.wire.RoundTrip(request)
	if request.Method == s.late && s.came.CompareAndSwap(false, true) {
		time.Sleep(s.answer)
	}
	return response, err
}

// TestRenewalIsAsOldAsItsRequest: others count from when the API server had it. A holder that counted from a late
// answer would change something when the lease is another's by then.
func TestRenewalIsAsOldAsItsRequest(t *testing.T) {
	const answer = 9 * time.Second // of a lease of 15 s, two thirds of which are young
	for name, row := range map[string]struct {
		late string
		asks time.Duration // when the late request is made, after the lease was asked for
	}{
		"taken":   {late: http.MethodPost},
		"renewed": {late: http.MethodPut, asks: DefaultLease / 3},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, a *api) {
				way := &slow{wire: &wire{api: a}, late: row.late, answer: answer}
				began := time.Now()
				lease, err := journalThrough(t, way, DefaultLease).Lock(t.Context(), journal.Claim{Target: lamp})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Until(began.Add(row.asks + answer + time.Second/2)))
				way.dies(a)
				if err := lease.Check(t.Context()); err != nil {
					t.Errorf("within two thirds: %v", err)
				}
				time.Sleep(time.Second)
				if err := lease.Check(t.Context()); err == nil {
					t.Errorf("it counts as renewed %s after it was asked for", answer+3*time.Second/2)
				}
				way.wakes(a)
				mustRelease(t, lease)
			})
		})
	}
}
