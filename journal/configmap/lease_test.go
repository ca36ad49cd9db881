package configmap_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/journal"
	"salve/journal/configmap"
)

const span = 2 * time.Second

func (b *bench) lock(kept *configmap.Journal, run string) (journal.Lease, error) {
	return kept.Lock(b.Context(), journal.Claim{Target: "lamp/1",
		Holder: journal.Holder{Run: run, User: "ada", Host: "north", PID: 42}})
}

func TestALivingHolderIsNamed(t *testing.T) {
	b := newBench(t)
	first, err := b.lock(b.runner(span, nil), "run-1")
	b.must(err)
	defer func() { b.must(first.Release(context.WithoutCancel(t.Context()))) }()
	_, err = b.lock(b.runner(span, nil), "run-2")
	var held *journal.HeldError
	if !errors.As(err, &held) || held.Holder.Run != "run-1" || held.Holder.Host != "north" ||
		apierr.ClassOf(err) != apierr.Conflict {
		t.Fatalf("the second lock: %v", err)
	}
	other, err := b.runner(span, nil).Lock(t.Context(), journal.Claim{Target: "lamp/2"})
	b.must(err)
	b.must(other.Release(t.Context()))
}

func TestTheEpochOnlyGrows(t *testing.T) {
	b := newBench(t)
	last := int64(0)
	for _, above := range []int64{0, 0, 7, 0, 3} {
		lease, err := b.runner(span, nil).Lock(t.Context(), journal.Claim{Target: "lamp/1", Above: above})
		b.must(err)
		if lease.Epoch() <= max(last, above) {
			t.Errorf("epoch %d after %d, asked for above %d", lease.Epoch(), last, above)
		}
		last = lease.Epoch()
		b.must(lease.Release(t.Context()))
	}
}

// TestTheLeaseOfADeadHolderIsTaken: and the dead one, should it wake up, is told.
func TestTheLeaseOfADeadHolderIsTaken(t *testing.T) {
	b := newBench(t)
	dead := &sleeper{}
	first, err := b.lock(b.runner(span, dead.wrap), "run-1")
	b.must(err)
	b.must(first.Check(t.Context()))
	dead.sleep(true)
	second, err := b.lock(b.runner(span, nil), "run-2")
	b.must(err)
	defer func() { b.must(second.Release(context.WithoutCancel(t.Context()))) }()
	if second.Epoch() != first.Epoch()+1 {
		t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
	}
	dead.sleep(false)
	if err := first.Check(t.Context()); apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("the dead holder's check: %v", err)
	}
	b.must(first.Release(t.Context()))
	b.must(second.Check(t.Context()))
}

// TestALeaseThatWasDeletedIsLost: who makes it anew begins with epoch 1 again,
// which must not look like ours.
func TestALeaseThatWasDeletedIsLost(t *testing.T) {
	b := newBench(t)
	first, err := b.lock(b.runner(span, nil), "run-1")
	b.must(err)
	leases := b.plane.Client().CoordinationV1().Leases(b.namespace)
	b.must(leases.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	second, err := b.lock(b.runner(span, nil), "run-2")
	b.must(err)
	defer func() { b.must(second.Release(context.WithoutCancel(t.Context()))) }()
	time.Sleep(span)
	if err := first.Check(t.Context()); apierr.ClassOf(err) != apierr.Conflict {
		t.Errorf("the first holder's check: %v", err)
	}
}

func TestALeaseOutlivesTheAPIServer(t *testing.T) {
	b := newBench(t)
	lease, err := b.lock(b.runner(span, nil), "run-1")
	b.must(err)
	b.plane.StopAPIServer(t)
	time.Sleep(span)
	checked := make(chan error, 1)
	go func() { checked <- lease.Check(t.Context()) }()
	b.plane.StartAPIServer(t)
	b.must(<-checked)
	b.must(lease.Release(t.Context()))
}

func TestADeniedLeaseSaysSo(t *testing.T) {
	b := newBench(t)
	kept := b.stranger()
	_, err := kept.Lock(t.Context(), journal.Claim{Target: "lamp/1"})
	if apierr.ClassOf(err) != apierr.Denied || !strings.Contains(err.Error(), b.namespace) {
		t.Errorf("as a stranger: %v", err)
	}
	if err := kept.Create(context.WithoutCancel(t.Context()), "run-1"); apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("as a stranger: %v", err)
	}
}
