package cli

import (
	"context"
	"errors"
	"fmt"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/journal/configmap"
	"salve/kube"
)

// clusterOpener reaches the cluster of which a run needs the lease.
type clusterOpener func(context.Context) (*kube.Cluster, error)

// withLeases takes the leases of a run wherever other runners look for them, besides those beside its record: in a
// cluster whenever that can be reached, and on this machine. Two journals on one target, in two folders or in one and
// a cluster, have one lease.
func (a *app) withLeases(
	ctx context.Context, clk clock.Clock, from *journalFlags, kept *journal.Location, open clusterOpener, say func(string),
) (*journal.Location, error) {
	limited, cancel := clock.WithTimeout(ctx, clk, probeToLook)
	defer cancel()
	lockers := journal.Lockers{kept.Locker}
	world, err := from.lockerInWorld(limited, kept, open)
	switch {
	case context.Cause(ctx) != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, new(*engine.InvalidError)):
		return nil, err
	case err != nil && apierr.ClassOf(err) == apierr.Missing: // there is no cluster, which is for the guards to say
	case err != nil:
		say(fmt.Sprintf("The lease is taken beside the record only, the cluster can't be reached: %v.", err))
	case world != nil:
		lockers = journal.Lockers{world, kept.Locker}
	}
	if folder, err := a.stateFolder("machine"); err == nil { // who has no home has no other folders to be told apart from
		lockers = append(lockers, machineLocker{journal.NewFile(folder), say})
	}
	all := *kept
	all.Locker = lockers
	return &all, nil
}

// lockerInWorld hands out leases in a cluster; nil when there is none, or the record is there as well.
func (s *journalFlags) lockerInWorld(ctx context.Context, kept *journal.Location, open clusterOpener) (journal.Locker,
	error) {
	cluster, err := open(ctx)
	if err != nil || cluster == nil {
		return nil, err
	}
	world, err := s.configMaps(cluster)
	if err != nil {
		return nil, err
	}
	if beside, inCluster := kept.Backend.(*configmap.Journal); inCluster {
		there, err := beside.ID(ctx)
		if err != nil {
			return nil, err
		}
		if here, err := world.ID(ctx); err != nil || here == there {
			return nil, err
		}
	}
	_, err = world.Peek(ctx, "any")
	return world, err
}

// machineLocker hands out leases that keep the runs of one user on this machine apart, whatever folders their records
// are in. They name no run and no epoch: records know nothing of them.
type machineLocker struct {
	journal.Locker
	say func(string)
}

// Lock takes the lease on a target. Where the user has no state folder that can be written, there is none to be had.
func (m machineLocker) Lock(ctx context.Context, claim journal.Claim) (journal.Lease, error) {
	claim.Above = 0
	lease, err := m.Locker.Lock(ctx, claim)
	var held *journal.HeldError
	switch {
	case errors.As(err, &held):
		return nil, err
	case err != nil:
		m.say(fmt.Sprintf("No lease of this machine is taken, runs in other folders are not seen: %v.", err))
		return journal.NoLease(0), nil
	}
	return machineLease{lease}, nil
}

// Peek tells of nobody: whether a holder lives is seen by Lock.
func (machineLocker) Peek(context.Context, string) (journal.Peeked, error) {
	return journal.Peeked{}, nil
}

// OpenRuns names none.
func (machineLocker) OpenRuns(context.Context) ([]journal.OpenRun, error) { return nil, nil }

type machineLease struct{ journal.Lease }

// Epoch is below those that records know.
func (machineLease) Epoch() int64 { return 0 }

// SetOpenRun leaves naming the run to the other leases.
func (machineLease) SetOpenRun(context.Context, journal.OpenRun) error { return nil }

// rolloutCluster is the cluster in which the lease of a rollout is taken besides: that of --kubeconfig, the one that is
// named, or that of $KUBECONFIG; nil when there is none, or the record is in it already.
func (s *journalFlags) rolloutCluster(a *app, kept *journal.Location) clusterOpener {
	return func(ctx context.Context) (*kube.Cluster, error) {
		if _, inCluster := kept.Backend.(*configmap.Journal); inCluster {
			return nil, nil
		}
		if s.cloud.kubeconfig != "" || s.named() {
			return s.cluster(ctx, a)
		}
		file := a.lookup("KUBECONFIG")
		if file == "" {
			return nil, nil
		}
		return kube.Open(file, "", clock.Real{})
	}
}
