package cleanup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
)

// TestLeaseWatch takes readings one after the other and checks them on the watcher's own clock.
func TestLeaseWatch(t *testing.T) {
	held := lease{name: "a", uid: "a", version: "1", held: true, span: leastSpan}
	changed := held
	changed.version = "2"
	other := held
	other.uid = "b"
	released := changed
	released.held = false
	type reading struct {
		after     time.Duration
		leases    []lease
		renewed   []string
		undecided time.Duration
	}
	for name, readings := range map[string][]reading{
		"a lease that stays as it is for its span is silent": {
			{leases: []lease{held}, undecided: leastSpan},
			{after: leastSpan - 1, leases: []lease{held}, undecided: 1},
			{after: 1, leases: []lease{held}},
			{after: time.Hour, leases: []lease{held}},
		},
		"a lease that changes is renewed, until its span is over": {
			{leases: []lease{held}, undecided: leastSpan},
			{after: time.Second, leases: []lease{changed}, renewed: []string{"a"}},
			{after: leastSpan - 1, leases: []lease{changed}, renewed: []string{"a"}},
			{after: 1, leases: []lease{changed}},
		},
		"silence of long ago is no proof once it changes": {
			{leases: []lease{held}, undecided: leastSpan},
			{after: time.Hour, leases: []lease{held}},
			{after: time.Hour, leases: []lease{changed}, renewed: []string{"a"}},
		},
		"another lease of the name is watched from the start": {
			{leases: []lease{held}, undecided: leastSpan},
			{after: leastSpan, leases: []lease{other}, undecided: leastSpan},
		},
		"nobody holds a lease that was given back": {
			{leases: []lease{held}, undecided: leastSpan},
			{after: time.Second, leases: []lease{released}},
		},
		"without leases nothing is waited for": {{}},
	} {
		t.Run(name, func(t *testing.T) {
			var watch leaseWatch
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for n, one := range readings {
				now = now.Add(one.after)
				renewed, undecided := watch.take(one.leases, now)
				if !slices.Equal(renewed, one.renewed) || undecided != one.undecided {
					t.Errorf("reading %d: renewed %q, undecided %s; want %q, %s", n, renewed, undecided, one.renewed, one.undecided)
				}
			}
		})
	}
}

// TestSpanOfLeaseIsBounded both ways: somebody may have edited it.
func TestSpanOfLeaseIsBounded(t *testing.T) {
	for seconds, want := range map[int32]time.Duration{
		1: leastSpan, 15: leastSpan, 137: 137 * time.Second, 86400: longestSpan, -5: leastSpan,
	} {
		got := leaseOf(&coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: &seconds}}).span
		if got != want {
			t.Errorf("%d seconds: watched for %s, want %s", seconds, got, want)
		}
	}
	if got := leaseOf(&coordinationv1.Lease{}).span; got != leastSpan {
		t.Errorf("no span: watched for %s", got)
	}
}

// TestLivenessByLeases renews leases in different ways, by a clock that is wrong.
func TestLivenessByLeases(t *testing.T) {
	for name, row := range map[string]struct {
		seconds int32
		every   time.Duration // zero: nobody renews it
		renewed time.Duration // the holder's clock, against ours
		want    bool
		takes   time.Duration
	}{
		"renewed, by a clock three minutes behind": {seconds: 15, every: 700 * time.Millisecond, renewed: -3 * time.Minute,
			want: true, takes: 2 * time.Second},
		"renewed, by a clock of next year": {seconds: 15, every: 10 * time.Second, renewed: 9000 * time.Hour,
			want: true, takes: 10 * time.Second},
		"renewed slowly, its span edited":  {seconds: 1, every: 26 * time.Second, want: true, takes: 26 * time.Second},
		"silent, though renewed just now":  {seconds: 15, want: false, takes: 30 * time.Second},
		"silent, by a clock of next year":  {seconds: 15, renewed: 9000 * time.Hour, want: false, takes: 30 * time.Second},
		"silent, and said to be for a day": {seconds: 86400, want: false, takes: 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset()
				leases := client.CoordinationV1().Leases("operator-system")
				holder, version := "operator-1", 1
				held := func() *coordinationv1.Lease {
					renewed := metav1.NewMicroTime(time.Now().Add(row.renewed))
					return &coordinationv1.Lease{
						ObjectMeta: metav1.ObjectMeta{
							Name: "leader", Namespace: "operator-system", UID: "1", ResourceVersion: fmt.Sprint(version),
						},
						Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &row.seconds, RenewTime: &renewed},
					}
				}
				if _, err := leases.Create(t.Context(), held(), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				if row.every > 0 {
					go func() {
						for clock.Sleep(ctx, clock.Real{}, row.every) == nil {
							version++
							_, _ = leases.Update(ctx, held(), metav1.UpdateOptions{})
						}
					}()
				}
				o := &Operator{Cluster: &kube.Cluster{Client: client, Clock: clock.Real{}}, Namespace: "operator-system"}
				start := time.Now()
				seen, err := o.Liveness(t.Context(), nil)
				took := time.Since(start)
				if err != nil || seen.Alive() != row.want || took < row.takes || took > row.takes+leasePoll {
					t.Errorf("alive %v after %s (%v), want %v after %s", seen.Alive(), took, err, row.want, row.takes)
				}
				start = time.Now()
				if again, err := o.Liveness(t.Context(), nil); err != nil || again.Alive() != row.want || time.Since(start) > 0 {
					t.Errorf("asked again: alive %v after %s, %v", again.Alive(), time.Since(start), err)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// TestWatchOfLeasesSaysHowLongItTakes, and ends with the time that it has.
func TestWatchOfLeasesSaysHowLongItTakes(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, _ *inMemory, o *Operator) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		start := time.Now()
		var said []string
		_, err := o.Liveness(ctx, func(p runbook.Progress) { said = append(said, p.Text) })
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 5*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		if len(said) < 2 || said[0] != "watching the operator's leases for 30s more" || said[1] == said[0] {
			t.Errorf("said %q", said)
		}
	})
}
