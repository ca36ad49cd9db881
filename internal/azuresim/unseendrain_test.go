package azuresim_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"salve/internal/azuresim"
)

// unseen is a cluster that doesn't answer: what a drain has left on its nodes is not known until it is seen.
type unseen struct {
	seen    atomic.Bool
	removed atomic.Int32
}

func (*unseen) AddNode(*corev1.Node)                       {}
func (*unseen) SetReady(string)                            {}
func (*unseen) Cordon(string)                              {}
func (*unseen) Empty([]string)                             {}
func (*unseen) Evict([]string)                             {}
func (*unseen) Start(azuresim.Workloads)                   {}
func (*unseen) SetBudget(*policyv1.PodDisruptionBudget)    {}
func (*unseen) RemoveBudget(string, string)                {}
func (u *unseen) RemoveNode(string)                        { u.removed.Add(1) }
func (u *unseen) Left([]string) ([]azuresim.PodLeft, bool) { return nil, u.seen.Load() }

// TestADrainThatNobodySeesIsNotOver: an empty answer of a cluster that doesn't answer is no empty pool, and no failure
// of its drain either.
func TestADrainThatNobodySeesIsNotOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, scenario := &unseen{}, builtIn(t, "healthy")
		world, err := azuresim.New(scenario, azuresim.Options{Kubernetes: cluster})
		if err != nil {
			t.Fatal(err)
		}
		defer world.Close()
		a := newAzure(t, world, scenario)
		if _, err := a.pools.BeginDelete(t.Context(), scenario.ResourceGroup, scenario.Cluster, "workers", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if state := *a.pool(t, "workers").Properties.ProvisioningState; state != "Deleting" || cluster.removed.Load() > 0 {
			t.Errorf("the pool is %s, and %d of its nodes are gone", state, cluster.removed.Load())
		}
		cluster.seen.Store(true)
		time.Sleep(time.Hour)
		if got := a.call(t, "GET", "C/agentPools/workers"+aksVersion, ""); got.status != 404 {
			t.Errorf("the pool is there: %s", got.text)
		}
	})
}

// TestClustersAreReadStrictly: fields that AKS does not know are refused in a cluster as in its pools.
func TestClustersAreReadStrictly(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		body := `{"location": "westeurope", "properties": {"dnsPrefx": "x"}}`
		got := a.call(t, "PUT", "C"+aksVersion, body)
		if got.status != 400 || got.code() != "UnmarshalError" ||
			!strings.Contains(got.message(), `unknown field "dnsPrefx"`) {
			t.Errorf("%d %s", got.status, got.text)
		}
		if got := a.call(t, "PUT", "C?api-version=2023-08-01", body); got.status != 200 {
			t.Errorf("an api-version that drops it: %d %s", got.status, got.text)
		}
	})
}
