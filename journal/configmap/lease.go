package configmap

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
)

const (
	targetAnnotation = "salve-target"
	holderAnnotation = "salve-holder"
	// openAnnotation names the run at work and its record's head, sealed.
	openAnnotation = "salve-open-run"
	// lockPatience bounds the attempts to take a lease, besides the time that it
	// takes to see whether a holder lives.
	lockPatience = time.Minute
	// lookAgain is the longest pause between two looks at a lease that is held.
	lookAgain = 2 * time.Second
)

// Lock takes the lease on a target. Whether a holder lives is told by its
// renewals alone, on our own clock, because clocks of machines differ: one that
// renews is told of within a third of its lease, and the lease of one that died
// is taken when it was seen not to be renewed for the whole of its time.
func (j *Journal) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	identity := identityOf(claim.Holder)
	ctx, cancel := clock.WithTimeout(ctx, j.clock, lockPatience+LongestLease)
	defer cancel()
	began := j.clock.Now()
	for n := 1; ; n++ {
		asked := j.clock.Now()
		taken, err := j.claim(ctx, claim, identity)
		if err == nil {
			return j.hold(ctx, claim.Target, taken, identity, asked), nil
		}
		var again *changedError
		if errors.As(err, &again) {
			err = &apierr.Error{Class: apierr.Transient, Err: err} // look again, after a pause
		}
		late := elapsed(j.clock.Now(), began) > lockPatience && n > 1
		if !passes(err) || late || clock.Sleep(ctx, j.clock, retryPause(n, err)) != nil {
			var held *journal.HeldError
			if errors.As(err, &held) {
				return nil, err // it names the target
			}
			return nil, fmt.Errorf("locking %s in %s: %w", claim.Target, j.Where(), err)
		}
	}
}

// claim looks at the lease once and takes it if it may be taken.
func (j *Journal) claim(ctx context.Context, claim journal.Claim, identity string) (*coordinationv1.Lease, error) {
	seen, err := j.readLease(ctx, LeaseName(claim.Target))
	switch {
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		return j.makeLease(ctx, claim, identity)
	case err != nil:
		return nil, err
	case holderOf(seen) == identity:
		return seen, nil // the answer to an attempt before was lost
	case holderOf(seen) != "":
		if err := j.awaitLapse(ctx, seen); err != nil {
			return nil, err
		}
	}
	return j.writeLease(ctx, seen, func(next *coordinationv1.Lease) error { return j.describe(next, claim, identity) })
}

// changedError says that a lease changed between reading and writing.
type changedError struct{ error }

func (e *changedError) Unwrap() error { return e.error }

// awaitLapse watches a lease that is held, and says whose it is and for how long. It fails with *journal.HeldError when
// the holder renews it.
func (j *Journal) awaitLapse(ctx context.Context, seen *coordinationv1.Lease) error {
	span := j.span(seen)
	began, notices := j.clock.Now(), backoff.NoticesOf(ctx)
	for waited := time.Duration(0); waited < span; waited = elapsed(j.clock.Now(), began) {
		notices.Tell(backoff.Notice{
			Waited: waited, Pause: span - waited,
			Text: fmt.Sprintf("Waiting for the lease of %s: it is taken over at %s UTC, in %s, unless there is a sign of life "+
				"of that process", named(seen), j.clock.Now().Add(span-waited).UTC().Format(time.TimeOnly),
				max((span-waited).Round(time.Second), time.Second)),
		})
		if err := clock.Sleep(ctx, j.clock, min(span/10, lookAgain)); err != nil {
			return err
		}
		now, err := j.readLease(ctx, seen.Name)
		if err != nil {
			return err
		}
		if now.ResourceVersion == seen.ResourceVersion {
			continue
		}
		if holderOf(now) == "" || now.UID != seen.UID {
			return &changedError{fmt.Errorf("the lease %s was released", seen.Name)}
		}
		return &apierr.Error{
			Class: apierr.Conflict,
			Err:   &journal.HeldError{Target: now.Annotations[targetAnnotation], Holder: *named(now), Silence: j.span(now)},
		}
	}
	return nil
}

// span is how long a holder has to be silent to be taken for dead. A lease that
// somebody edited is not believed to be shorter than our own, nor longer than any.
func (j *Journal) span(seen *coordinationv1.Lease) time.Duration {
	span := time.Duration(0)
	if seconds := seen.Spec.LeaseDurationSeconds; seconds != nil {
		span = time.Duration(*seconds) * time.Second
	}
	return min(max(span, j.lease), LongestLease)
}

// named is who a lease says to hold it. A holder that can't be read is still one.
func named(lease *coordinationv1.Lease) *journal.Holder {
	holder := &journal.Holder{}
	_ = json.Unmarshal([]byte(lease.Annotations[holderAnnotation]), holder)
	return holder
}

// openRunOf is the run that a lease names; nil when it names none that can be read.
func openRunOf(lease *coordinationv1.Lease) *journal.OpenRun {
	open := &journal.OpenRun{}
	if json.Unmarshal([]byte(lease.Annotations[openAnnotation]), open) != nil || open.Run == "" {
		return nil
	}
	return open
}

// Peek reads the lease on a target.
func (j *Journal) Peek(ctx context.Context, target string) (journal.Peeked, error) {
	var seen *coordinationv1.Lease
	err := backoff.Retry(ctx, j.clock, func(ctx context.Context) (err error) {
		seen, err = j.readLease(ctx, LeaseName(target))
		return err
	})
	switch {
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		return journal.Peeked{}, nil
	case err != nil:
		return journal.Peeked{}, fmt.Errorf("looking at the lease on %s in %s: %w", target, j.Where(), err)
	}
	peeked := journal.Peeked{Epoch: epochOf(seen), Open: openRunOf(seen)}
	if holderOf(seen) != "" {
		peeked.Holder = named(seen)
	}
	return peeked, nil
}

// OpenRuns lists the leases.
func (j *Journal) OpenRuns(ctx context.Context) ([]journal.OpenRun, error) {
	var open []journal.OpenRun
	page := metav1.ListOptions{LabelSelector: ownerLabel + "=" + ownerName, Limit: listPage}
	for {
		var list *coordinationv1.LeaseList
		err := backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
			return j.once(ctx, func(ctx context.Context) (err error) {
				list, err = j.client.CoordinationV1().Leases(j.namespace).List(ctx, page)
				return err
			})
		})
		if err != nil {
			return nil, fmt.Errorf("listing the leases in %s: %w", j.Where(), err)
		}
		for i := range list.Items {
			if named := openRunOf(&list.Items[i]); named != nil && !named.Closed {
				open = append(open, *named)
			}
		}
		if page.Continue = list.Continue; page.Continue == "" {
			return open, nil
		}
	}
}

func (j *Journal) makeLease(ctx context.Context, claim journal.Claim, identity string) (*coordinationv1.Lease, error) {
	next := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: LeaseName(claim.Target), Labels: map[string]string{ownerLabel: ownerName},
	}}
	if err := j.describe(next, claim, identity); err != nil {
		return nil, err
	}
	var made *coordinationv1.Lease
	err := j.inNamespace(ctx, j.namespace, func(ctx context.Context) (err error) {
		made, err = j.client.CoordinationV1().Leases(j.namespace).
			Create(ctx, next, metav1.CreateOptions{FieldManager: fieldManager})
		return err
	})
	if err != nil && apierr.ClassOf(err) == apierr.Conflict {
		return nil, &changedError{err}
	}
	return made, err
}

// describe writes a new holder into a lease, under the next epoch.
func (j *Journal) describe(lease *coordinationv1.Lease, claim journal.Claim, identity string) error {
	holder, err := json.Marshal(claim.Holder)
	if err != nil {
		return err
	}
	epoch := max(epochOf(lease), claim.Above) + 1
	if epoch > maxEpoch {
		return apierr.New(apierr.Terminal, "epoch %d is more than a lease can hold: lease %s was edited. "+
			"hint: make sure that no run is at work, then kubectl -n %s delete lease %s",
			epoch, LeaseName(claim.Target), j.namespace, LeaseName(claim.Target))
	}
	now := metav1.NewMicroTime(j.clock.Now())
	seconds := int32(j.lease / time.Second) //nolint:gosec // G115: at most LongestLease
	transitions := int32(epoch)             //nolint:gosec // G115: at most maxEpoch
	open, known := lease.Annotations[openAnnotation]
	lease.Annotations = map[string]string{targetAnnotation: claim.Target, holderAnnotation: string(holder)}
	if known {
		lease.Annotations[openAnnotation] = open
	}
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &identity, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now,
		LeaseTransitions: &transitions,
	}
	return nil
}

const maxEpoch = 1<<31 - 1

func (j *Journal) readLease(ctx context.Context, name string) (lease *coordinationv1.Lease, err error) {
	err = j.once(ctx, func(ctx context.Context) (err error) {
		lease, err = j.client.CoordinationV1().Leases(j.namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return lease, err
}

// writeLease changes a lease if it still is as it was read.
func (j *Journal) writeLease(
	ctx context.Context, seen *coordinationv1.Lease, change func(*coordinationv1.Lease) error,
) (*coordinationv1.Lease, error) {
	next := seen.DeepCopy()
	if err := change(next); err != nil {
		return nil, err
	}
	var written *coordinationv1.Lease
	err := j.once(ctx, func(ctx context.Context) (err error) {
		written, err = j.client.CoordinationV1().Leases(j.namespace).
			Update(ctx, next, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
	if class := apierr.ClassOf(err); err != nil && (class == apierr.Conflict || class == apierr.Missing) {
		return nil, &changedError{err}
	}
	return written, err
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

func epochOf(lease *coordinationv1.Lease) int64 {
	if lease.Spec.LeaseTransitions == nil {
		return 0
	}
	return max(0, int64(*lease.Spec.LeaseTransitions))
}

// identityOf tells this holder from every other, also from one of the same
// process before.
func identityOf(holder journal.Holder) string {
	chance := make([]byte, 8)
	_, _ = rand.Read(chance) // never fails, by its documentation
	return fmt.Sprintf("%s@%s/%d/%s", holder.User, holder.Host, holder.PID, hex.EncodeToString(chance))
}

// LeaseName is the name of the Lease of a target: any ID fits into it.
func LeaseName(target string) string {
	sum := sha256.Sum256([]byte(target))
	return "target-" + hex.EncodeToString(sum[:8])
}

// elapsed is the time between two readings of the clock: the longer one of what
// the monotonic clock and the wall clock say, because the one stands still while
// a laptop sleeps and the other may be set back.
func elapsed(now, since time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}
