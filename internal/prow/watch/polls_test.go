package watch_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/prow/finding"
	"salve/internal/prow/watch"
)

// TestAPollerThatFailsEndsTheWatch, with an error: a watch that looks on without it would say OK.
func TestAPollerThatFailsEndsTheWatch(t *testing.T) {
	for name, poller := range map[string]watch.Poller{
		"by a panic": pollerFunc(func() (finding.List, []finding.Verdict) { panic("no") }),
		"by a finding without severity": pollerFunc(func() (finding.List, []finding.Verdict) {
			return finding.List{{Rule: "B3"}}, nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.options.Poller, w.options.Every = poller, time.Minute
				if _, err := watch.New(w.options).Run(t.Context()); err == nil {
					t.Error("it ends without one")
				}
			})
		})
	}
}

type pollerFunc func() (finding.List, []finding.Verdict)

func (p pollerFunc) Poll(context.Context) (finding.List, []finding.Verdict) { return p() }

// rounds is a poller of what a test says.
type rounds struct {
	found    finding.List
	verdicts []finding.Verdict
	hangs    chan struct{}
	asked    int
}

func (r *rounds) Poll(ctx context.Context) (finding.List, []finding.Verdict) {
	r.asked++
	select {
	case <-r.hangs:
	case <-ctx.Done():
	}
	return r.found, r.verdicts
}

// TestWhatIsPolledIsToldToo, and is UNKNOWN when the poll doesn't come back.
func TestWhatIsPolledIsToldToo(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		answers := make(chan struct{}, 10)
		poller := &rounds{hangs: answers,
			found:    finding.List{{Rule: "B3", Severity: finding.Warn, Message: "drift", Subject: finding.Subject{Org: "o"}}},
			verdicts: []finding.Verdict{{Rule: "B3", Severity: finding.Warn, Findings: 1}}}
		w.options.Poller, w.options.Every = poller, time.Minute
		w.run()
		w.pass(1500 * time.Millisecond)
		w.expect("blind C5", "blind GitHub")
		if reason := w.reason(watch.GitHub); reason != "GitHub was not asked yet" {
			t.Errorf("it lacks %q", reason)
		}
		answers <- struct{}{}
		w.pass(2 * time.Second)
		w.expect("new WARN B3", "sees GitHub")
		answers <- struct{}{}
		w.pass(90 * time.Second)
		w.expect()
		w.pass(5 * time.Minute)
		w.expect("blind B3")
		poller.found, poller.verdicts = nil, []finding.Verdict{{Rule: "B3", Severity: finding.OK}}
		answers <- struct{}{}
		w.pass(10 * time.Second)
		w.expect("sees B3", "gone WARN B3")
		if poller.asked != 3 { // the next one would begin in a minute
			t.Errorf("asked %d times", poller.asked)
		}
	})
}

// TestAPollThatSeesNothingTakesNothingBack.
func TestAPollThatSeesNothingTakesNothingBack(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		failing := false
		w.options.Poller, w.options.Every = pollerFunc(func() (finding.List, []finding.Verdict) {
			if failing {
				return nil, []finding.Verdict{{Rule: "B3", Severity: finding.Unknown, Lack: finding.Lack{Reason: "rate limit"}}}
			}
			failing = true
			return finding.List{{Rule: "B3", Severity: finding.Warn, Message: "drift"}}, []finding.Verdict{{Rule: "B3",
				Severity: finding.Warn, Findings: 1}}
		}), time.Minute
		w.run()
		w.pass(5 * time.Second)
		first := slices.DeleteFunc(w.changes(), func(one string) bool { // the rules may be asked before the poll ends
			return strings.HasSuffix(one, " GitHub")
		})
		slices.Sort(first)
		if want := []string{"blind C5", "new WARN B3"}; !slices.Equal(first, want) {
			t.Errorf("told %q, want %q", first, want)
		}
		w.pass(2 * time.Minute)
		w.expect("blind B3")
		if last := w.lastTold; !last.Reached(finding.Warn) {
			t.Errorf("%+v", last)
		}
	})
}

// TestAReasonThatChangesIsToldOnceAMinute: messages of errors are other ones with each attempt.
func TestAReasonThatChangesIsToldOnceAMinute(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		asked := 0
		w.options.Every = 25 * time.Second
		w.options.Poller = pollerFunc(func() (finding.List, []finding.Verdict) {
			asked++
			return nil, []finding.Verdict{{Rule: "B3", Severity: finding.Unknown,
				Lack: finding.Lack{Reason: fmt.Sprint("attempt ", asked)}}}
		})
		w.run()
		w.pass(5 * time.Second)
		w.changes()
		w.pass(50 * time.Second)
		w.expect() // attempts 2 and 3
		w.pass(30 * time.Second)
		w.expect("blind B3") // at a minute
		w.pass(30 * time.Second)
		w.expect()
		w.pass(10 * time.Second)
		w.expect("blind B3")
	})
}

// TestAStalePollIsUnknown, though it found nothing, and what was not given is no reason to keep what is gone.
func TestAStalePollIsUnknown(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		answers := make(chan struct{}, 10)
		poller := &rounds{hangs: answers, verdicts: []finding.Verdict{{Rule: "B3", Severity: finding.OK},
			{Rule: "B4", Severity: finding.Warn, Findings: 1}},
			found: finding.List{{Rule: "B4", Severity: finding.Warn, Message: "leftover"}}}
		w.options.Poller, w.options.Every = poller, time.Minute
		answers <- struct{}{}
		w.run()
		w.pass(10 * time.Second)
		w.changes()
		poller.found, poller.verdicts = nil, []finding.Verdict{{Rule: "B3", Severity: finding.OK},
			{Rule: "B4", Severity: finding.Unknown, Lack: finding.Lack{Reason: "needs --manifests", NotGiven: true}}}
		answers <- struct{}{}
		w.pass(time.Minute)
		w.expect("blind B4", "gone WARN B4")
		w.pass(5 * time.Minute)
		w.changes()
		for _, verdict := range w.lastTold.Verdicts {
			if verdict.Rule == "B3" && (verdict.Severity != finding.Unknown || verdict.Reason == "") {
				t.Errorf("%+v", verdict)
			}
		}
	})
}
