package configmap

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/apierr"
	"salve/journal"
)

// lamp is the target of these tests, and where its lease is.
const lamp = "lamp/1"

var lampPath = "/apis/coordination.k8s.io/v1/namespaces/journal/leases/" + LeaseName(lamp)

// inBubble runs a test on virtual time, with an API server.
func inBubble(t *testing.T, test func(t *testing.T, a *api)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newAPI("journal", "journal-exports")) })
}

// holds takes the lease on lamp/1 in a process of its own.
func (a *api) holds(t *testing.T, run string, span time.Duration) (*wire, journal.Lease) {
	t.Helper()
	w := &wire{api: a}
	holder := journal.Holder{Run: run, User: "ada", Host: "ci-7", PID: 42}
	lease, err := w.journal(t, span).Lock(t.Context(), journal.Claim{Target: lamp, Holder: holder})
	if err != nil {
		t.Fatal(err)
	}
	return w, lease
}

// dies ends what a process does at the API server, for good.
func (w *wire) dies(on *api) {
	on.mu.Lock()
	defer on.mu.Unlock()
	w.meets = func(*http.Request) fate { return unsent }
}

func (w *wire) wakes(on *api) {
	on.mu.Lock()
	defer on.mu.Unlock()
	w.meets = nil
}

// edit changes an object as somebody with rights does.
func (a *api) edit(t *testing.T, path string, change func(*object)) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	next, found := a.objects[path]
	if !found {
		t.Fatalf("%s is not there", path)
	}
	next.Metadata.Annotations, next.Spec = maps.Clone(next.Metadata.Annotations), maps.Clone(next.Spec)
	next.Metadata.Labels, next.Data = maps.Clone(next.Metadata.Labels), maps.Clone(next.Data)
	change(&next)
	a.store(path, next)
}

func (w *wire) requests() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sent)
}

// mustRelease ends a lease, whoever's it is by now.
func mustRelease(t *testing.T, leases ...journal.Lease) {
	t.Helper()
	for _, lease := range leases {
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestDeadHoldersLeaseIsTakenAfterItsTime: its own, or ours where that is longer, and
// no longer than any, whatever is written in it.
func TestDeadHoldersLeaseIsTakenAfterItsTime(t *testing.T) {
	for name, row := range map[string]struct {
		ours, theirs time.Duration
		edited       any
		want         time.Duration
	}{
		"both alike":              {15 * time.Second, 15 * time.Second, nil, 15 * time.Second},
		"theirs is longer":        {5 * time.Second, time.Minute, nil, time.Minute},
		"ours is longer":          {time.Minute, 5 * time.Second, nil, time.Minute},
		"edited to a second":      {15 * time.Second, 15 * time.Second, 1, 15 * time.Second},
		"edited to below zero":    {15 * time.Second, 15 * time.Second, -1000, 15 * time.Second},
		"edited to a day":         {15 * time.Second, 15 * time.Second, 24 * 60 * 60, LongestLease},
		"removed from the lease":  {15 * time.Second, 15 * time.Second, "none", 15 * time.Second},
		"the shortest that exist": {time.Second, time.Second, nil, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, a *api) {
				dead, first := a.holds(t, "run-1", row.theirs)
				dead.dies(a)
				if row.edited != nil {
					a.edit(t, lampPath, func(o *object) {
						o.Spec["leaseDurationSeconds"] = row.edited
						if row.edited == "none" {
							delete(o.Spec, "leaseDurationSeconds")
						}
					})
				}
				began := time.Now()
				_, second := a.holds(t, "run-2", row.ours)
				if took := time.Since(began); took < row.want || took > row.want+row.want/10+2*time.Second {
					t.Errorf("it was taken after %s, want %s", took, row.want)
				}
				if second.Epoch() != first.Epoch()+1 {
					t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
				}
				dead.wakes(a)
				var lost *journal.LostError
				err := first.Check(t.Context())
				if !errors.As(err, &lost) || lost.Holder == nil || lost.Holder.Run != "run-2" || lost.Epoch != 1 ||
					lost.Target != lamp {
					t.Errorf("the dead holder's check: %v", err)
				}
				if err := first.SetOpenRun(t.Context(), journal.OpenRun{Run: "run-1"}); !errors.As(err, &lost) {
					t.Errorf("the dead holder names a run: %v", err)
				}
				mustRelease(t, first)
				if err := second.Check(t.Context()); err != nil {
					t.Errorf("the dead holder released it: %v", err)
				}
				mustRelease(t, second)
			})
		})
	}
}

// TestLivingHolderIsToldOfSoon: and its clock is not looked at, which may be wrong by
// years.
func TestLivingHolderIsToldOfSoon(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		_, first := a.holds(t, "run-1", 0)
		a.edit(t, lampPath, func(o *object) {
			o.Spec["renewTime"],
				o.Spec["acquireTime"] = "2001-01-01T00:00:00.000000Z", nil
		})
		began := time.Now()
		_, err := (&wire{api: a}).journal(t, 0).Lock(t.Context(), journal.Claim{Target: lamp})
		var held *journal.HeldError
		if !errors.As(err, &held) || apierr.ClassOf(err) != apierr.Conflict {
			t.Fatalf("got %v", err)
		}
		if want := (journal.Holder{Run: "run-1", User: "ada", Host: "ci-7", PID: 42}); held.Target != lamp ||
			held.Holder != want {
			t.Errorf("held is %+v", held)
		}
		if took := time.Since(began); took > DefaultLease/3+2*time.Second {
			t.Errorf("told after %s", took)
		}
		mustRelease(t, first)
	})
}

// TestLeaseIsRenewedThreeTimesInItsTime: as long as it is held, also one of a long span,
// because whoever waits may be told a shorter one.
func TestLeaseIsRenewedThreeTimesInItsTime(t *testing.T) {
	for span, want := range map[time.Duration]int{15 * time.Second: 12, 3 * time.Second: 60, 5 * time.Minute: 12} {
		inBubble(t, func(t *testing.T, a *api) {
			w, lease := a.holds(t, "run-1", span)
			before := w.requests()
			time.Sleep(time.Minute + time.Second/2)
			if got := w.requests() - before; got != want {
				t.Errorf("a lease of %s is renewed %d times in a minute, want %d", span, got, want)
			}
			mustRelease(t, lease)
			before = w.requests()
			time.Sleep(time.Minute)
			if got := w.requests() - before; got != 0 {
				t.Errorf("after it was released it is renewed %d times", got)
			}
		})
	}
}

// TestCheckAsksOnlyAboutAnOldRenewal: one that is younger than two thirds of the lease
// leaves a permit enough of it.
func TestCheckAsksOnlyAboutAnOldRenewal(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, lease := a.holds(t, "run-1", 15*time.Second)
		before := w.requests()
		if err := lease.Check(t.Context()); err != nil || w.requests() != before {
			t.Errorf("right after it was taken: %v after %d requests", err, w.requests()-before)
		}
		w.dies(a)
		time.Sleep(10*time.Second - time.Millisecond)
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("within two thirds: %v", err)
		}
		time.Sleep(time.Millisecond)
		began := time.Now()
		err := lease.Check(t.Context())
		if err == nil || apierr.ClassOf(err) != apierr.Transient {
			t.Errorf("after two thirds: %v", err)
		}
		if took := time.Since(began); took < patience || took > patience+6*time.Second {
			t.Errorf("told after %s", took)
		}
		w.wakes(a)
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("when it is seen again: %v", err)
		}
		mustRelease(t, lease)
	})
}

// TestLeaseIsLostForGood: however it was lost, and whatever happens to it later.
func TestLeaseIsLostForGood(t *testing.T) {
	for name, row := range map[string]struct {
		change func(t *testing.T, a *api)
		want   string
	}{
		"deleted": {func(_ *testing.T, a *api) {
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.objects, lampPath)
		}, "gone"},
		"made anew": {func(t *testing.T, a *api) {
			a.edit(t, lampPath, func(o *object) { o.Metadata.UID = "another" })
		}, "held by run run-1"},
		"of another holder": {func(t *testing.T, a *api) {
			a.edit(t, lampPath, func(o *object) { o.Spec["holderIdentity"] = "bob" })
		}, "held by run run-1"},
		"of another epoch": {func(t *testing.T, a *api) {
			a.edit(t, lampPath, func(o *object) { o.Spec["leaseTransitions"] = 7 })
		}, "held by run run-1"},
		"of nobody": {func(t *testing.T, a *api) {
			a.edit(t, lampPath, func(o *object) { delete(o.Spec, "holderIdentity") })
		}, "nobody holds it"},
		"of a holder that can't be read": {func(t *testing.T, a *api) {
			a.edit(t, lampPath, func(o *object) {
				o.Spec["holderIdentity"], o.Metadata.Annotations[holderAnnotation] = "bob", "{"
			})
		}, "held by an unnamed holder"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, a *api) {
				w, lease := a.holds(t, "run-1", 0)
				before := a.objects[lampPath]
				row.change(t, a)
				time.Sleep(DefaultLease)
				var lost *journal.LostError
				err := lease.Check(t.Context())
				if !errors.As(err, &lost) || apierr.ClassOf(err) != apierr.Conflict ||
					!strings.Contains(err.Error(), row.want) || lost.Epoch != 1 {
					t.Errorf("got %v", err)
				}
				a.mu.Lock()
				a.objects[lampPath] = before
				a.mu.Unlock()
				asked := w.requests()
				if again := lease.Check(t.Context()); !errors.As(again, &lost) || w.requests() != asked {
					t.Errorf("when it is there again: %v after %d requests", again, w.requests()-asked)
				}
				if err := lease.SetOpenRun(t.Context(), journal.OpenRun{Run: "run-9"}); !errors.As(err, &lost) {
					t.Errorf("a run is named: %v", err)
				}
				time.Sleep(time.Minute)
				if w.requests() != asked {
					t.Errorf("it is still renewed")
				}
				mustRelease(t, lease)
			})
		})
	}
}

// TestEditedLeaseIsStillOurs: somebody labelled it, and it has another version since.
func TestEditedLeaseIsStillOurs(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		_, lease := a.holds(t, "run-1", 0)
		a.edit(t, lampPath, func(o *object) { o.Metadata.Labels["looked-at"] = "yes" })
		time.Sleep(DefaultLease)
		if err := lease.Check(t.Context()); err != nil {
			t.Error(err)
		}
		a.edit(t, lampPath, func(o *object) { o.Metadata.Labels["looked-at"] = "again" })
		open := journal.OpenRun{Target: lamp, Run: "run-1", Seq: 3}
		if err := lease.SetOpenRun(t.Context(), open); err != nil || *lease.OpenRun() != open {
			t.Errorf("%+v, %v", lease.OpenRun(), err)
		}
		a.edit(t, lampPath, func(o *object) { o.Metadata.Labels["looked-at"] = "and again" })
		mustRelease(t, lease)
		peeked, err := (&wire{api: a}).journal(t, 0).Peek(t.Context(), lamp)
		if err != nil || peeked.Holder != nil || peeked.Epoch != 1 || peeked.Open == nil || *peeked.Open != open {
			t.Errorf("after it was released: %+v, %v", peeked, err)
		}
		if kept := a.objects[lampPath]; kept.Metadata.Labels["looked-at"] != "and again" || kept.Spec["renewTime"] != nil {
			t.Errorf("the lease is %+v", kept)
		}
	})
}

// TestLeaseThatIsEditedAllTheTime: it is never said to be renewed when it was not.
func TestLeaseThatIsEditedAllTheTime(t *testing.T) {
	inBubble(t, func(t *testing.T, a *api) {
		w, lease := a.holds(t, "run-1", 0)
		a.mu.Lock()
		w.meets = func(request *http.Request) fate {
			if request.Method == http.MethodPut {
				a.store(lampPath, a.objects[lampPath])
			}
			return served
		}
		a.mu.Unlock()
		time.Sleep(DefaultLease)
		err := lease.Check(t.Context())
		if apierr.ClassOf(err) != apierr.Transient || !strings.Contains(fmt.Sprint(err), "changes too quickly") {
			t.Errorf("got %v", err)
		}
		w.wakes(a)
		if err := lease.Check(t.Context()); err != nil {
			t.Errorf("when it stays as it is: %v", err)
		}
		mustRelease(t, lease)
	})
}
