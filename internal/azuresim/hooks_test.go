package azuresim_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/azuresim"
)

var (
	getPool   = azuresim.Requests{Method: "GET", Path: "*/agentPools/system"}
	listNodes = azuresim.Requests{API: "kubernetes", Method: "list", Path: "nodes"}
)

func TestBeforeAndAfterRunAroundTheRequestTheyAreAskedFor(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		cordoned := func() (count int) {
			for _, node := range a.world.Snapshot().Nodes {
				if node.Unschedulable {
					count++
				}
			}
			return count
		}
		second := getPool
		second.From, second.Times = 2, 1
		var before, after int
		a.world.Before(second, func() { before = cordoned(); a.world.CordonPool("system") })
		a.world.After(second, func() { after = cordoned() })
		a.pool(t, "system")
		if cordoned() != 0 {
			t.Fatal("the first request was taken for the second")
		}
		a.pool(t, "system")
		a.pool(t, "system")
		if nodes := len(a.nodesOf(t, "system")); before != 0 || after != nodes {
			t.Fatalf("%d nodes were cordoned before, %d after, want 0 and %d", before, after, nodes)
		}
	})
}

func TestAnswerStandsInPlaceOfTheExecution(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		a.world.Answer(getPool, http.StatusNotFound,
			azuresim.ErrorBody("SubscriptionNotFound", "The subscription could not be found."))
		_, err := a.pools.Get(t.Context(), a.scenario.ResourceGroup, a.scenario.Cluster, "system", nil)
		var refused *azcore.ResponseError
		if !errors.As(err, &refused) || refused.ErrorCode != "SubscriptionNotFound" ||
			refused.StatusCode != http.StatusNotFound {
			t.Errorf("got %v, want SubscriptionNotFound", err)
		}
		put := azuresim.Requests{Method: "PUT"}
		a.world.Answer(put, http.StatusConflict,
			azuresim.ErrorBody("OperationNotAllowed", "Another operation is in progress."))
		if _, err := a.put(t.Context(), "standin", systemPool(1), nil); !errors.As(err, &refused) ||
			len(a.world.Snapshot().Pools) != 2 {
			t.Errorf("got %v, and pools %+v: the PUT was executed", err, a.world.Snapshot().Pools)
		}

		once := listNodes
		once.Times = 1
		a.world.Answer(once, http.StatusOK, &corev1.NodeList{})
		if nodes := a.nodesOf(t, "system"); len(nodes) != 0 {
			t.Errorf("%d nodes, want the empty list", len(nodes))
		}
		if nodes := a.nodesOf(t, "system"); len(nodes) == 0 {
			t.Error("the empty list came twice")
		}
		a.world.Answer(listNodes, 0,
			apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no right")))
		_, err = a.world.Kubernetes().CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsForbidden(err) {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

func TestRewriteShowsAnotherPool(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		a.world.Rewrite(getPool, func(body map[string]any) { body["name"] = "other" })
		if got := a.pool(t, "system"); *got.Name != "other" || *got.Properties.Count == 0 {
			t.Errorf("the answer is of pool %q", *got.Name)
		}
	})
}

func TestAnAnswerIsLostOrLate(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		put := azuresim.Requests{Method: "PUT", Times: 1}
		a.world.Lose(put, azuresim.DropAfter)
		if _, err := a.put(t.Context(), "standin", systemPool(1), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v, want a lost answer", err)
		}
		if got := *a.pool(t, "standin").Properties.ProvisioningState; got != "Creating" {
			t.Errorf("the pool is %s: the PUT was not executed", got)
		}
		a.world.Delay(getPool, time.Minute)
		began := time.Now()
		if a.pool(t, "system"); time.Since(began) != time.Minute {
			t.Errorf("the answer took %s, want a minute", time.Since(began))
		}
	})
}

func TestOthersActInTheWorld(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		before := a.pool(t, "system")
		a.world.WritePool("system", map[string]string{"owner": "rival"}, azuresim.Duration(time.Second))
		time.Sleep(2 * time.Second)
		if after := a.pool(t, "system"); *after.Properties.ETag == *before.Properties.ETag ||
			*after.Properties.Tags["owner"] != "rival" {
			t.Errorf("the pool is %+v", after.Properties)
		}
		a.world.BreakPool("system")
		if ready := a.readyNodes("system"); ready != 0 {
			t.Errorf("%d nodes are Ready", ready)
		}
		a.world.UnlabelPool("system", "agentpool")
		if nodes := a.nodesOf(t, "system"); len(nodes) != 0 {
			t.Errorf("%d nodes are still found by their label", len(nodes))
		}
		if calls := a.world.Calls(); len(calls) != 3 { // the two GETs and the LIST above
			t.Errorf("what others do was recorded: %+v", calls)
		}
	})
}
