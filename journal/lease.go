package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/apierr"
)

// Locker hands out leases on targets. It is apart from where records are kept: two
// journals on one target still have one lease.
type Locker interface {
	// Lock takes the lease on a target. It fails with *HeldError as soon as it is
	// seen that another holder lives.
	Lock(ctx context.Context, claim Claim) (Lease, error)
	// Peek looks at a lease and takes nothing.
	Peek(ctx context.Context, target string) (Peeked, error)
	// OpenRuns are the runs that leases name as open, one for each such target. It reads
	// leases and no record: what they name is believed by FindOpen alone.
	OpenRuns(ctx context.Context) ([]OpenRun, error)
}

// Claim is what a lease is asked for with.
type Claim struct {
	Target string
	Holder Holder
	// Above is an epoch that the lease's must exceed: that of a record which comes
	// from another location.
	Above int64
}

// Peeked is what a lease says.
type Peeked struct {
	// Epoch is that of the newest holder; zero when there never was one.
	Epoch int64
	// Holder names who holds it, or who said so last: whether that one lives is
	// seen by Lock alone. Nil when it was released.
	Holder *Holder
	// Open is what the lease names; nil when it names no run.
	Open *OpenRun
}

// Lease is the lock on a target while it is ours.
type Lease interface {
	// Epoch is the fencing token: it grows with each lease on the target.
	Epoch() int64
	// Check fails with *LostError, of class Conflict, when the lease is not ours.
	Check(ctx context.Context) error
	// OpenRun is what the lease named when it was taken or was last set.
	OpenRun() *OpenRun
	// SetOpenRun names the run at work and the head of its record. It fails with
	// *LostError when the lease is not ours.
	SetOpenRun(ctx context.Context, open OpenRun) error
	// Release releases the target.
	Release(ctx context.Context) error
}

// OpenRun is the newest run on a target as its lease names it: whoever comes next
// looks for it there, and a record that was cut or put back does not match.
type OpenRun struct {
	Target  string `json:"target"`
	Run     string `json:"run"`
	Runbook string `json:"runbook"`
	// Location is where its record is kept.
	Location string `json:"location"`
	// Key is the ID of the key that the record is sealed with.
	Key string `json:"key"`
	// Epoch is that of the lease that wrote this.
	Epoch int64 `json:"epoch"`
	// Seq and Sum are the record's head: the number of entries and the last hash.
	Seq int    `json:"seq"`
	Sum string `json:"sum"`
	// Closed says that the run needs nothing more.
	Closed bool `json:"closed,omitempty"`
	// Boot names the start of the machine that wrote this; empty where it has no name.
	// A head that was not synced outlives its process, and not its machine.
	Boot string `json:"boot,omitempty"`
	// Seal is over all of the above.
	Seal string `json:"seal"`
}

const headPurpose = "salve lease head 2"

func (o OpenRun) sealedBy(key Key) bool {
	seal := o.Seal
	return o.Key == key.ID() && key.sealed(seal, headPurpose, o.bytes())
}

// after tells whether a head was written after another one of the same run.
func (o OpenRun) after(other OpenRun) bool {
	return o.Epoch > other.Epoch || o.Epoch == other.Epoch && o.Seq > other.Seq
}

func (o OpenRun) bytes() []byte {
	return fmt.Appendf(nil, "%q %q %q %q %q %d %d %q %t %q",
		o.Target, o.Run, o.Runbook, o.Location, o.Key, o.Epoch, o.Seq, o.Sum, o.Closed, o.Boot)
}

// HeldError says that another runner is at work on the target.
type HeldError struct {
	Target string
	Holder Holder
	// Silence is after how long without a sign of life the lease may be taken from its holder; zero when it ends with
	// the holder's process.
	Silence time.Duration
}

// Error has the target last: its ID is long, and whoever typed the command knows it.
func (e *HeldError) Error() string {
	until := "until that process ends"
	if e.Silence > 0 {
		until = fmt.Sprintf("until it is released, or %s after that process's last sign of life", e.Silence)
	}
	return fmt.Sprintf("the lease is held by %s, %s; target %s", e.Holder, until, e.Target)
}

// String names the holder, for people.
func (h Holder) String() string {
	text := "an unnamed holder"
	if h.Run != "" {
		text = "run " + h.Run
	}
	if h.User != "" {
		text += " of " + h.User
	}
	if h.Host != "" {
		text += fmt.Sprintf(" on host %s (process %d)", h.Host, h.PID)
	}
	if !h.Since.IsZero() {
		text += " since " + h.Since.UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	return text
}

// LostError says that a lease is not ours any more.
type LostError struct {
	Target string
	// Epoch is that of the lease that was lost.
	Epoch int64
	// Holder is who holds it now; nil when that is not known.
	Holder *Holder
	// Reason says what is known besides.
	Reason string
}

func (e *LostError) Error() string {
	text := fmt.Sprintf("lease lost: %s", e.Target)
	if e.Holder != nil {
		text = fmt.Sprintf("lease lost: held by %s", *e.Holder)
	}
	text += fmt.Sprintf(" (ours was epoch %d", e.Epoch)
	if e.Reason != "" {
		text += "; " + e.Reason
	}
	return text + ")"
}

// lost is the error of a lease that isn't ours any more.
func lost(target string, epoch int64, holder *Holder, reason string) error {
	return &apierr.Error{
		Class: apierr.Conflict, Err: &LostError{Target: target, Epoch: epoch, Holder: holder, Reason: reason},
	}
}

// NoLease stands for the lease on a record that nobody else can see: of previews
// and of tests.
func NoLease(epoch int64) Lease { return noLease(epoch) }

type noLease int64

func (l noLease) Epoch() int64                              { return int64(l) }
func (l noLease) Check(context.Context) error               { return nil }
func (l noLease) OpenRun() *OpenRun                         { return nil }
func (l noLease) SetOpenRun(context.Context, OpenRun) error { return nil }
func (l noLease) Release(context.Context) error             { return nil }

// LockAll takes the leases on several targets in one order, so that two runners
// never wait for each other, and none when one of them can't be had. The lease of
// the first claim's target names the run. What it gives is one lease: its epoch is
// the highest of all.
func LockAll(ctx context.Context, locker Locker, claims ...Claim) (Lease, error) {
	if len(claims) == 0 {
		return nil, apierr.New(apierr.Terminal, "no target to lock")
	}
	primary := claims[0].Target
	sorted := slices.Clone(claims)
	slices.SortFunc(sorted, func(a, b Claim) int { return cmp.Compare(a.Target, b.Target) })
	sorted = slices.CompactFunc(sorted, func(a, b Claim) bool { return a.Target == b.Target })
	all := &joint{}
	for _, claim := range sorted {
		lease, err := locker.Lock(ctx, claim)
		if err != nil {
			return nil, errors.Join(err, all.Release(context.WithoutCancel(ctx)))
		}
		all.held = append(all.held, lease)
		if claim.Target == primary {
			all.named = append(all.named, lease)
		}
	}
	return all, nil
}

// Lockers takes the leases of several lockers on one target: that of the world and
// that of this machine. Each of them names the run.
type Lockers []Locker

// Lock takes all of them in their order, or none.
func (l Lockers) Lock(ctx context.Context, claim Claim) (Lease, error) {
	all := &joint{}
	for _, locker := range l {
		lease, err := locker.Lock(ctx, claim)
		if err != nil {
			return nil, errors.Join(err, all.Release(context.WithoutCancel(ctx)))
		}
		all.held, all.named = append(all.held, lease), append(all.named, lease)
		claim.Above = max(claim.Above, lease.Epoch())
	}
	return all, nil
}

// Peek looks at all of them: a run that one of them names as open is open.
func (l Lockers) Peek(ctx context.Context, target string) (Peeked, error) {
	var all Peeked
	for _, locker := range l {
		one, err := locker.Peek(ctx, target)
		if err != nil {
			return Peeked{}, err
		}
		all.Epoch = max(all.Epoch, one.Epoch)
		all.Open = newer(all.Open, one.Open)
		if all.Holder == nil {
			all.Holder = one.Holder
		}
	}
	return all, nil
}

// OpenRuns are what any of them names, each run once.
func (l Lockers) OpenRuns(ctx context.Context) ([]OpenRun, error) {
	var all []OpenRun
	for _, locker := range l {
		open, err := locker.OpenRuns(ctx)
		if err != nil {
			return nil, err
		}
		for _, one := range open {
			if !slices.ContainsFunc(all, func(known OpenRun) bool {
				return known.Run == one.Run && known.Target == one.Target
			}) {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// newer is the open one of two, or else the one that was written later: a lease of
// this machine and that of the world don't learn of each other's runs.
func newer(a, b *OpenRun) *OpenRun {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.Closed != b.Closed:
		if a.Closed {
			return b
		}
		return a
	case b.Epoch > a.Epoch:
		return b
	}
	return a
}

// namedBy are the runs that a lease names, each of them where it is several.
func namedBy(lease Lease) []OpenRun {
	leases := []Lease{lease}
	if several, joined := lease.(*joint); joined {
		leases = several.named
	}
	var named []OpenRun
	for _, one := range leases {
		if open := one.OpenRun(); open != nil {
			named = append(named, *open)
		}
	}
	return named
}

// joint is several leases as one.
type joint struct {
	held []Lease
	// named are those that name the run.
	named []Lease
}

func (j *joint) Epoch() int64 {
	var highest int64
	for _, lease := range j.held {
		highest = max(highest, lease.Epoch())
	}
	return highest
}

func (j *joint) Check(ctx context.Context) error {
	for _, lease := range j.held {
		if err := lease.Check(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (j *joint) OpenRun() *OpenRun {
	var open *OpenRun
	for _, lease := range j.named {
		open = newer(open, lease.OpenRun())
	}
	return open
}

func (j *joint) SetOpenRun(ctx context.Context, open OpenRun) error {
	for _, lease := range j.named {
		if err := lease.SetOpenRun(ctx, open); err != nil {
			return err
		}
	}
	return nil
}

// Release releases all of them, the last one first.
func (j *joint) Release(ctx context.Context) error {
	var failed error
	for _, lease := range slices.Backward(j.held) {
		failed = errors.Join(failed, lease.Release(ctx))
	}
	return failed
}
