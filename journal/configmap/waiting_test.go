package configmap

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/journal"
)

// TestReleaseEndsInTime: a run that is over waits ten seconds for it, no longer, and
// the lease is not ours whatever became of it.
func TestReleaseEndsInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, lease := a.holds(t, "run-1", 0)
		w.dies(a)
		began := time.Now()
		if err := lease.Release(t.Context()); err == nil || apierr.ClassOf(err) != apierr.Transient {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took < releaseLimit || took > releaseLimit+6*time.Second {
			t.Errorf("it took %s", took)
		}
		w.wakes(a)
		if err := lease.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "it was released") {
			t.Errorf("checked: %v", err)
		}
		mustRelease(t, lease) // a second time
		began = time.Now()
		_, second := a.holds(t, "run-2", 0)
		if took := time.Since(began); took < DefaultLease || second.Epoch() != 2 {
			t.Errorf("taken after %s, epoch %d", took, second.Epoch())
		}
		mustRelease(t, second)
	})
}

// TestLockWaitsForAnAPIServerAndNoLonger: what it can't see it does not take.
func TestLockWaitsForAnAPIServerAndNoLonger(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w := &wire{api: a}
		j := w.journal(t, 0)
		w.dies(a)
		time.AfterFunc(40*time.Second, func() { w.wakes(a) })
		lease, err := j.Lock(t.Context(), journal.Claim{Target: lamp})
		if err != nil {
			t.Fatalf("an API server that restarts: %v", err)
		}
		mustRelease(t, lease)
		w.dies(a)
		began := time.Now()
		_, err = j.Lock(t.Context(), journal.Claim{Target: lamp})
		if apierr.ClassOf(err) != apierr.Transient || !strings.Contains(fmt.Sprint(err), "namespace journal of the cluster") {
			t.Errorf("one that doesn't come back: %v", err)
		}
		if took := time.Since(began); took < lockPatience || took > lockPatience+30*time.Second {
			t.Errorf("told after %s", took)
		}
	})
}

// TestEpochsStayWithinALease: what was edited is not followed below zero, or above what
// a lease can hold.
func TestEpochsStayWithinALease(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		_, lease := a.holds(t, "run-1", 0)
		mustRelease(t, lease)
		a.edit(t, lampPath, func(o *object) { o.Spec["leaseTransitions"] = -7 })
		_, lease = a.holds(t, "run-1", 0)
		if lease.Epoch() != 1 {
			t.Errorf("epoch %d", lease.Epoch())
		}
		mustRelease(t, lease)
		a.edit(t, lampPath, func(o *object) { delete(o.Spec, "leaseTransitions") })
		_, lease = a.holds(t, "run-1", 0)
		if lease.Epoch() != 1 {
			t.Errorf("epoch %d", lease.Epoch())
		}
		mustRelease(t, lease)
		j := (&wire{api: a}).journal(t, 0)
		highest, err := j.Lock(t.Context(), journal.Claim{Target: lamp, Above: maxEpoch - 1})
		if err != nil || highest.Epoch() != maxEpoch {
			t.Fatalf("the highest: %v", err)
		}
		mustRelease(t, highest)
		for target, above := range map[string]int64{lamp: 0, "lamp/2": maxEpoch} {
			if _, err := j.Lock(t.Context(), journal.Claim{Target: target,
				Above: above}); apierr.ClassOf(err) != apierr.Terminal || err == nil {
				t.Errorf("above the highest on %s: %v", target, err)
			}
		}
	})
}

// TestLeaseIsReleasedWhileSomebodyWaits: it is taken soon, not when its time is over.
func TestLeaseIsReleasedWhileSomebodyWaits(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, a *api, lease journal.Lease){
		"released": func(t *testing.T, _ *api, lease journal.Lease) { mustRelease(t, lease) },
		"made anew and released": func(t *testing.T, a *api, _ journal.Lease) {
			a.edit(t, lampPath, func(o *object) { o.Metadata.UID = "another"; delete(o.Spec, "holderIdentity") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, a *api) {
				w, first := a.holds(t, "run-1", time.Minute)
				time.AfterFunc(time.Second, func() { end(t, a, first) })
				began := time.Now()
				_, second := a.holds(t, "run-2", time.Minute)
				if took := time.Since(began); took > 10*time.Second || second.Epoch() != 2 {
					t.Errorf("taken after %s, epoch %d", took, second.Epoch())
				}
				mustRelease(t, second, first)
				_ = w
			})
		})
	}
}

// TestPeekTakesNothing: and says what is written, as far as it can be read.
func TestPeekTakesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w := &wire{api: a}
		j := w.journal(t, 0)
		if peeked, err := j.Peek(t.Context(), lamp); err != nil || peeked != (journal.Peeked{}) {
			t.Errorf("no lease: %+v, %v", peeked, err)
		}
		_, lease := a.holds(t, "run-1", 0)
		peeked, err := j.Peek(t.Context(), lamp)
		if err != nil || peeked.Epoch != 1 || peeked.Holder == nil || peeked.Holder.Run != "run-1" || peeked.Open != nil {
			t.Errorf("held: %+v, %v", peeked, err)
		}
		for _, garbage := range []string{"{", "{}", `{"target":"lamp/1"}`, ""} {
			a.edit(t, lampPath, func(o *object) { o.Metadata.Annotations[openAnnotation] = garbage })
			if peeked, err := j.Peek(t.Context(), lamp); err != nil || peeked.Open != nil {
				t.Errorf("%q names %+v, %v", garbage, peeked.Open, err)
			}
		}
		mustRelease(t, lease)
		for _, sent := range w.sent {
			if !strings.HasPrefix(sent, "GET ") {
				t.Errorf("it sent %s", sent)
			}
		}
		w.meets = func(*http.Request) fate { return forbidden }
		if _, err := j.Peek(t.Context(), lamp); apierr.ClassOf(err) != apierr.Denied ||
			!strings.Contains(fmt.Sprint(err), "lamp/1") {
			t.Errorf("forbidden: %v", err)
		}
	})
}

// TestTimeThatPassedIsTheLonger: of what two clocks say, one of which stands still while
// a laptop sleeps.
func TestTimeThatPassedIsTheLonger(t *testing.T) {
	since := time.Now()
	if got := elapsed(since.Add(3*time.Second), since); got != 3*time.Second {
		t.Errorf("both clocks: %s", got)
	}
	slept := since.Round(0).Add(time.Hour) // the wall clock alone
	if got := elapsed(slept, since); got != time.Hour {
		t.Errorf("after a sleep: %s", got)
	}
}
