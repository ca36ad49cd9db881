package notify_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/telemetry/notify"
	"salve/journal"
	"salve/runbook"
)

// silent is a webhook that takes a message and never answers.
type silent struct{ asked int }

func (s *silent) RoundTrip(request *http.Request) (*http.Response, error) {
	s.asked++
	<-request.Context().Done()
	return nil, context.Cause(request.Context())
}

// over is a notifier that sends through a transport.
func over(transport http.RoundTripper) (*notify.Notifier, error) {
	return notify.New(notify.Options{
		Config: []byte("notifications: [{url: {env: URL}}]"), Clock: clock.RealClock{}, Transport: transport,
		Lookups: notify.Lookups{Env: func(string) string { return address }},
	})
}

func ended(reason string) engine.Event {
	return engine.Event{Kind: engine.RunEnded, Run: "run-1", Runbook: "shut-valve",
		Verdict: &journal.Verdict{Outcome: runbook.Failed, Reason: reason, Question: reason}}
}

// TestAWebhookThatNeverAnswersHoldsNothingUp: neither the run, whatever it tells, nor the end of the process.
func TestAWebhookThatNeverAnswersHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := over(&silent{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 1000 {
			n.Tell(ended("stuck"))
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("telling took %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err = n.Close(ctx)
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("closing took %s", took)
		}
		for _, want := range []string{"too many outcomes at once", "timed out"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("closing says %.300v, want %q in it", err, want)
			}
		}
	})
}

// halfSilent never answers one of its addresses.
type halfSilent struct {
	silent
	webhook
}

func (h *halfSilent) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Path == "/silent" {
		return h.silent.RoundTrip(request)
	}
	return h.webhook.RoundTrip(request)
}

// TestAWebhookThatNeverAnswersKeepsNothingFromTheOthers, even where it comes first.
func TestAWebhookThatNeverAnswersKeepsNothingFromTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := &halfSilent{}
		n, err := notify.New(notify.Options{
			Config: []byte("notifications: [{url: {env: silent}}, {url: {env: loud}}]"),
			Clock:  clock.RealClock{}, Transport: hooks,
			Lookups: notify.Lookups{Env: func(name string) string { return "https://hooks.example.com/" + name }},
		})
		if err != nil {
			t.Fatal(err)
		}
		n.Tell(ended("stuck"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err = n.Close(ctx)
		if len(hooks.bodies) != 1 {
			t.Errorf("the other one got %d messages", len(hooks.bodies))
		}
		if want := "notifications[0]: timed out: 1 not delivered"; err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "notifications[1]") {
			t.Errorf("closing says %v, want %q", err, want)
		}
	})
}

// TestAnAttemptIsGivenUp after its time, so that what waits behind it gets its turn.
func TestAnAttemptIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		webhook := &silent{}
		n, err := over(webhook)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		n.Tell(ended("stuck"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err = n.Close(ctx)
		if took := time.Since(began); took > time.Minute || webhook.asked != 3 || err == nil ||
			strings.Contains(err.Error(), "SECRET") {
			t.Errorf("after %s and %d requests: %v", took, webhook.asked, err)
		}
	})
}

// TestNoTextTellsASecret: neither the reason nor the question.
func TestNoTextTellsASecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &webhook{}
		n, err := over(w)
		if err != nil {
			t.Fatal(err)
		}
		n.Tell(ended("Authorization: Bearer hunter2hunter2hunter2 \x1b[2J" + strings.Repeat("x", 64<<10)))
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if body := w.bodies[0]; strings.Contains(body, "hunter2") || strings.Contains(body, `\u001b`) || len(body) > 20<<10 {
			t.Errorf("%d bytes are told: %.300s", len(body), body)
		}
	})
}

// TestThisMachineNeedsNoEncryption: http goes nowhere else.
func TestThisMachineNeedsNoEncryption(t *testing.T) {
	for url, want := range map[string]bool{
		"http://localhost:8080/x": true, "http://127.0.0.1/x": true, "http://[::1]:80/x": true,
		"http://localhost.example.com/x": false, "http://10.0.0.1/x": false, "http://127.0.0.1.example.com/x": false,
	} {
		synctest.Test(t, func(t *testing.T) {
			n, err := notifier("notifications: [{url: {env: URL}}]", url, nil)
			if (err == nil) != want {
				t.Errorf("%s: %v", url, err)
			}
			if err == nil {
				_ = n.Close(t.Context())
			}
		})
	}
}
