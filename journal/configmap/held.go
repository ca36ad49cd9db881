package configmap

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
)

// held is a lease while it is ours. It renews itself until it is released or
// lost.
type held struct {
	journal  *Journal
	target   string
	identity string
	uid      types.UID
	epoch    int64

	mu sync.Mutex
	// seen is the lease as it was last written by us.
	seen *coordinationv1.Lease
	// renewed is when the newest successful renewal was sent.
	renewed time.Time
	lost    error

	stop context.CancelFunc
	gone sync.WaitGroup
}

func (j *Journal) hold(
	ctx context.Context, target string, taken *coordinationv1.Lease, identity string, asked time.Time,
) journal.Lease {
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	h := &held{
		journal: j, target: target, identity: identity, uid: taken.UID, epoch: epochOf(taken), seen: taken,
		renewed: asked, stop: stop,
	}
	h.gone.Go(func() { h.keep(keeping) })
	return h
}

// Epoch is the number of times that the lease has changed hands.
func (h *held) Epoch() int64 { return h.epoch }

// keep renews the lease three times in its span, and as often as is expected of a
// lease of the default span: whoever waits may be told a shorter one than ours.
func (h *held) keep(ctx context.Context) {
	for clock.Sleep(ctx, h.journal.clock, min(h.journal.lease, DefaultLease)/3) == nil {
		h.mu.Lock()
		_ = h.renew(ctx) // Check tells
		h.mu.Unlock()
	}
}

// Check is satisfied by a renewal that is young enough; else it renews, for which
// it waits as long as an API server may take to restart. It fails with class
// Conflict when the lease is another's, and with that of the last attempt when the
// lease can't be seen.
func (h *held) Check(ctx context.Context) error { return h.patiently(ctx, h.fresh) }

// patiently repeats a call until it succeeds, the lease is lost or the time is over.
func (h *held) patiently(ctx context.Context, call func(context.Context) error) error {
	limited, cancel := clock.WithTimeout(ctx, h.journal.clock, patience)
	defer cancel()
	for n := 1; ; n++ {
		err := call(limited)
		if err == nil || h.isLost() {
			return err
		}
		if clock.Sleep(limited, h.journal.clock, retryPause(n, err)) != nil {
			return err
		}
	}
}

// fresh makes sure that the lease is ours for a part of its span from now on, so
// that the change which a permit allows reaches the world within it.
func (h *held) fresh(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	if elapsed(h.journal.clock.Now(), h.renewed) < h.journal.lease*2/3 {
		return nil
	}
	return h.renew(ctx)
}

func (h *held) isLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost != nil
}

// renew writes our sign of life. A lease that changed is read again: the answer
// to a renewal may have been lost, or the lease itself.
func (h *held) renew(ctx context.Context) error {
	return h.write(ctx, func(*coordinationv1.Lease) {})
}

// write renews the lease and changes it besides. The caller holds the mutex.
func (h *held) write(ctx context.Context, change func(*coordinationv1.Lease)) error {
	if h.lost != nil {
		return h.lost
	}
	for range 2 {
		asked := h.journal.clock.Now()
		written, err := h.journal.writeLease(ctx, h.seen, func(next *coordinationv1.Lease) error {
			now := metav1.NewMicroTime(asked)
			next.Spec.RenewTime = &now
			change(next)
			return nil
		})
		var changed *changedError
		switch {
		case err == nil:
			h.seen, h.renewed = written, asked
			return nil
		case !errors.As(err, &changed):
			return err
		}
		now, err := h.journal.readLease(ctx, h.seen.Name)
		switch {
		case err != nil && apierr.ClassOf(err) != apierr.Missing:
			return err
		case err != nil:
			return h.lose(nil, "the lease object is gone")
		case now.UID != h.uid || holderOf(now) != h.identity || epochOf(now) != h.epoch:
			if holderOf(now) == "" {
				return h.lose(nil, "nobody holds it now")
			}
			return h.lose(named(now), "")
		}
		h.seen = now
	}
	return apierr.New(apierr.Transient, "conflict: the lease on %s changes too quickly to be renewed", h.target)
}

// lose notes that the lease is not ours any more, for good.
func (h *held) lose(holder *journal.Holder, reason string) error {
	h.lost = &apierr.Error{
		Class: apierr.Conflict, Err: &journal.LostError{Target: h.target, Epoch: h.epoch, Holder: holder, Reason: reason},
	}
	return h.lost
}

// OpenRun is the run that the lease named when it was taken, or since.
func (h *held) OpenRun() *journal.OpenRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return openRunOf(h.seen)
}

// SetOpenRun names the run and its record's head, and renews the lease with it. It
// waits as long as an API server may take to restart.
func (h *held) SetOpenRun(ctx context.Context, open journal.OpenRun) error {
	raw, err := json.Marshal(open)
	if err != nil {
		return err
	}
	return h.patiently(ctx, func(ctx context.Context) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.write(ctx, func(next *coordinationv1.Lease) {
			metav1.SetMetaDataAnnotation(&next.ObjectMeta, openAnnotation, string(raw))
		})
	})
}

// releaseLimit bounds what a run that is over still waits for.
const releaseLimit = 10 * time.Second

// Release ends the renewals and names no holder any more. The lease itself stays,
// because its epoch must only grow.
func (h *held) Release(ctx context.Context) error {
	h.stop()
	h.gone.Wait()
	ctx, cancel := clock.WithTimeout(ctx, h.journal.clock, releaseLimit)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.renew(ctx); h.lost != nil {
		return nil // another's by now
	} else if err != nil {
		return err
	}
	_, err := h.journal.writeLease(ctx, h.seen, func(next *coordinationv1.Lease) error {
		next.Spec.HolderIdentity, next.Spec.RenewTime = nil, nil
		return nil
	})
	_ = h.lose(nil, "it was released")
	return err
}
