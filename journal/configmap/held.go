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

	// turn is taken by who writes the lease. What is below is changed under it, and
	// under mu, under which nobody waits for an API server.
	turn chan struct{}
	mu   sync.Mutex
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
		journal: j, target: target, identity: identity, uid: taken.UID, epoch: epochOf(taken), turn: make(chan struct{}, 1),
		seen: taken, renewed: asked, stop: stop,
	}
	h.gone.Go(func() { h.keep(keeping) })
	return h
}

// Epoch is the number of times that the lease has changed hands.
func (h *held) Epoch() int64 { return h.epoch }

// keep renews the lease three times in its span, and as often as is expected of a
// lease of the default span: whoever waits may be told a shorter one than ours. What
// fails is tried again the next time, and told by Check.
func (h *held) keep(ctx context.Context) {
	for clock.Sleep(ctx, h.journal.clock, min(h.journal.lease, DefaultLease)/3) == nil {
		_ = h.inTurn(ctx, h.renew)
	}
}

// inTurn writes the lease when nobody else does, as long as it is ours.
func (h *held) inTurn(ctx context.Context, write func(context.Context) error) error {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return &apierr.Error{Class: apierr.Transient, Err: context.Cause(ctx)}
	}
	defer func() { <-h.turn }()
	if err := h.isLost(); err != nil {
		return err
	}
	return write(ctx)
}

// Check is satisfied by a renewal that is young enough; else it renews, for which
// it waits as long as an API server may take to restart. It fails with class
// Conflict when the lease is another's, and with that of the last attempt when the
// lease can't be seen.
func (h *held) Check(ctx context.Context) error { return h.patiently(ctx, patience, h.fresh) }

// patiently repeats a call until it succeeds, the lease is lost or the time is over.
// What is forbidden is tried again too: an API server that has just begun may not know
// of any rights yet.
func (h *held) patiently(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	limited, cancel := clock.WithTimeout(ctx, h.journal.clock, limit)
	defer cancel()
	for n := 1; ; n++ {
		err := call(limited)
		if err == nil || h.isLost() != nil {
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
	if err := h.isLost(); err != nil || h.isYoung() {
		return err
	}
	return h.inTurn(ctx, func(ctx context.Context) error {
		if h.isYoung() {
			return nil // whose turn it was has renewed it
		}
		return h.renew(ctx)
	})
}

func (h *held) isYoung() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return elapsed(h.journal.clock.Now(), h.renewed) < h.journal.lease*2/3
}

// isLost is why the lease is not ours any more; nil while it is.
func (h *held) isLost() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// renew writes our sign of life. A lease that changed is read again: the answer
// to a renewal may have been lost, or the lease itself.
func (h *held) renew(ctx context.Context) error {
	return h.write(ctx, func(*coordinationv1.Lease) {})
}

// write renews the lease and changes it besides. It is the caller's turn.
func (h *held) write(ctx context.Context, change func(*coordinationv1.Lease)) error {
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
			h.see(written, asked)
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
		h.see(now, h.renewed)
	}
	return apierr.New(apierr.Transient, "conflict: the lease on %s changes too quickly to be renewed", h.target)
}

// see notes the lease as it is.
func (h *held) see(now *coordinationv1.Lease, renewed time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seen, h.renewed = now, renewed
}

// lose notes that the lease is not ours any more, for good.
func (h *held) lose(holder *journal.Holder, reason string) error {
	lost := &journal.LostError{Target: h.target, Epoch: h.epoch, Holder: holder, Reason: reason}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = &apierr.Error{Class: apierr.Conflict, Err: lost}
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
	name := func(next *coordinationv1.Lease) {
		metav1.SetMetaDataAnnotation(&next.ObjectMeta, openAnnotation, string(raw))
	}
	return h.patiently(ctx, patience, func(ctx context.Context) error {
		return h.inTurn(ctx, func(ctx context.Context) error { return h.write(ctx, name) })
	})
}

// releaseLimit bounds what a run that is over still waits for.
const releaseLimit = 10 * time.Second

// Release ends the renewals and names no holder any more, for which it tries as long
// as releaseLimit. The lease itself stays, because its epoch must only grow.
func (h *held) Release(ctx context.Context) error {
	h.stop()
	h.gone.Wait()
	err := h.patiently(ctx, releaseLimit, func(ctx context.Context) error { return h.inTurn(ctx, h.giveUp) })
	if h.isLost() != nil {
		return nil // given up now or before, or another's by now
	}
	_ = h.lose(nil, "it was released")
	return err
}

// giveUp names no holder any more, once the lease was seen to be ours: the answer to
// a renewal, or to an attempt before, may have been lost.
func (h *held) giveUp(ctx context.Context) error {
	if err := h.renew(ctx); err != nil {
		return err
	}
	_, err := h.journal.writeLease(ctx, h.seen, func(next *coordinationv1.Lease) error {
		next.Spec.HolderIdentity, next.Spec.RenewTime = nil, nil
		return nil
	})
	if err != nil {
		return err
	}
	return h.lose(nil, "it was released")
}
