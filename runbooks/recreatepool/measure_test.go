package recreatepool_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"salve/azure"
	"salve/internal/azuresim"
	"salve/internal/clock"
	"salve/internal/permit"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
)

var measure = flag.Bool("measure", false, "print figures on virtual time, as Go's benchmarks do (make bench)")

// The figures below are of virtual time: they depend on the code, not on the
// machine. They stand in tests because only a test can have a bubble of virtual
// time; they assert nothing and run only when asked for.

func TestMeasureRecovery(t *testing.T) {
	if !*measure {
		t.Skip("figures are printed by make bench")
	}
	for _, name := range []string{"wedged", "stuck-operation"} {
		scenario := load(t, name)
		ours, path, calls := recoveryTime(t, scenario)
		naive := naiveTime(t, scenario)
		fmt.Printf("BenchmarkRecovery/%s 1 %.0f virtual-s %.3f of-critical-path %.0f naive-virtual-s %.2f naive/ours "+
			"%d arm-calls\n", name, ours.Seconds(), ours.Seconds()/path.Seconds(), naive.Seconds(),
			naive.Seconds()/ours.Seconds(), calls)
	}
}

func TestMeasureCallsToARM(t *testing.T) {
	if !*measure {
		t.Skip("figures are printed by make bench")
	}
	for _, name := range []string{"healthy", "greenfield"} {
		_, _, calls := recoveryTime(t, load(t, name))
		fmt.Printf("BenchmarkCallsToARM/%s 1 %d arm-calls\n", name, calls)
	}
}

// recoveryTime runs a scenario and gives how long it took, the sum of the
// operations on its critical path, and the number of calls to ARM.
func recoveryTime(t *testing.T, scenario azuresim.Scenario) (took, path time.Duration, calls int) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, scenario, journal.NewFile(t.TempDir()))
		defer s.world.Close()
		began := time.Now()
		if _, err := s.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		took, path = time.Since(began), criticalPath(s.world, began)
		for _, call := range s.world.Calls() {
			if call.API == "arm" {
				calls++
			}
		}
	})
	return took, path, calls
}

// criticalPath is what nobody could have done faster: the operations, which AKS
// allows one at a time, and one grace period for each of the two drains. What
// budgets add to a drain is left out.
func criticalPath(world *azuresim.World, began time.Time) time.Duration {
	const grace = 10 * time.Second
	path := 2 * grace
	for _, operation := range world.Operations() {
		if operation.By == "client" && !operation.Started.Before(began) {
			path += operation.Ended.Sub(operation.Started)
		}
	}
	return path
}

// naive is the recipe as one-off programs have it: polls every 30 s, nodes
// drained one by one, sleeps of 15 s between steps.
type naive struct {
	t      *testing.T
	client *azure.Client
	kube   *kube.Cluster
	in     azuresim.Scenario
	permit runbook.Permit
}

func naiveTime(t *testing.T, scenario azuresim.Scenario) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, scenario, journal.NewMemory())
		defer s.world.Close()
		client, err := azure.New(azure.Options{
			Subscription: scenario.Subscription, Credential: s.world.Credential(), Transport: s.world.ARM(), Clock: clock.Real{},
		})
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := kube.ForConfig(s.world.KubernetesConfig(), clock.Real{})
		if err != nil {
			t.Fatal(err)
		}
		n := &naive{t: t, client: client, in: scenario, kube: cluster,
			permit: permit.Mint(permit.Terms{Run: "naive", Expires: time.Now().Add(24 * time.Hour), Now: time.Now,
				Lease: func(context.Context) error { return nil }})}
		began := time.Now()
		n.recover(context.Background())
		took = time.Since(began)
	})
	return took
}

func (n *naive) recover(ctx context.Context) {
	source := azure.PoolName{ResourceGroup: n.in.ResourceGroup, Cluster: n.in.Cluster, Pool: "system"}
	standIn := source
	standIn.Pool = "standin"
	cluster, err := n.client.Cluster(ctx, source.ResourceGroup, source.Cluster)
	n.must(err)
	if strings.HasSuffix(cluster.State, "ing") {
		_, err = n.client.AbortCluster(permit.NewContext(ctx, n.permit), source.ResourceGroup, source.Cluster)
		n.must(err)
		n.poll(func() bool {
			cluster, err = n.client.Cluster(ctx, source.ResourceGroup, source.Cluster)
			return err == nil && !strings.HasSuffix(cluster.State, "ing")
		})
	}
	definition, err := n.client.Definition(ctx, source)
	n.must(err)
	body, err := definition.Sanitized(cluster.Version)
	n.must(err)
	small, err := body.With(func(p map[string]any) {
		delete(p, "enableAutoScaling")
		delete(p, "minCount")
		delete(p, "maxCount")
	})
	n.must(err)
	n.create(ctx, standIn, small)
	n.drain(ctx, source.Pool)
	n.delete(ctx, source)
	n.create(ctx, source, body)
	n.drain(ctx, standIn.Pool)
	n.delete(ctx, standIn)
	n.must(n.client.MergeTag(permit.NewContext(ctx, n.permit), cluster.ID, "touched", "now"))
	n.poll(func() bool {
		cluster, err = n.client.Cluster(ctx, source.ResourceGroup, source.Cluster)
		return err == nil && cluster.State == "Succeeded"
	})
}

func (n *naive) must(err error) {
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n *naive) poll(done func() bool) {
	for !done() {
		n.must(clock.Sleep(context.Background(), clock.Real{}, 30*time.Second))
	}
	n.must(clock.Sleep(context.Background(), clock.Real{}, 15*time.Second))
}

func (n *naive) create(ctx context.Context, name azure.PoolName, body azure.Definition) {
	_, err := n.client.CreatePool(permit.NewContext(ctx, n.permit), name, body)
	n.must(err)
	n.poll(func() bool {
		definition, err := n.client.Definition(ctx, name)
		return err == nil && definition.State() == "Succeeded"
	})
}

func (n *naive) delete(ctx context.Context, name azure.PoolName) {
	definition, err := n.client.Definition(ctx, name)
	n.must(err)
	_, err = n.client.DeletePool(permit.NewContext(ctx, n.permit), name, definition.ETag(), azure.DeletePoolOptions{})
	n.must(err)
	n.poll(func() bool {
		_, err := n.client.Definition(ctx, name)
		return err != nil
	})
}

// drain empties one node after the other, each for at most five minutes.
func (n *naive) drain(ctx context.Context, pool string) {
	nodes, err := n.kube.Nodes(ctx, "kubernetes.azure.com/agentpool="+pool)
	n.must(err)
	for _, node := range nodes {
		n.must(n.kube.Cordon(permit.NewContext(ctx, n.permit), node))
		_, err := n.kube.Drain(permit.NewContext(ctx, n.permit), []kube.Node{node},
			kube.DrainOptions{Deadline: 5 * time.Minute})
		n.must(err)
	}
	n.must(clock.Sleep(ctx, clock.Real{}, 15*time.Second))
}
