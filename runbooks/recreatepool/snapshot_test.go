package recreatepool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/azuresim"
	"salve/runbook"
)

// TestPoolThatCouldNotBeMadeAgainHasNoSnapshot: what lacks is told, and so is what the snapshot is of.
func TestPoolThatCouldNotBeMadeAgainHasNoSnapshot(t *testing.T) {
	in := inputs()
	whole := `{"id":"` + in.poolID() + `","name":"system",` +
		`"properties":{"vmSize":"A","vnetSubnetID":"/n","eTag":"e1","count":3}}`
	for name, row := range map[string]struct{ old, replacement, want string }{
		"no properties":    {`"properties"`, `"other"`, "it has no properties"},
		"another pool":     {`agentPools/system`, `agentPools/infra`, `it is of pool "system", ID`},
		"another name":     {`"name":"system"`, `"name":"infra"`, `it is of pool "infra"`},
		"no machine size":  {`"vmSize":"A"`, `"vmSize":""`, "no vmSize"},
		"no network":       {`"vnetSubnetID":"/n",`, ``, "no vnetSubnetID"},
		"no ETag":          {`"e1"`, `""`, "no ETag"},
		"no number":        {`,"count":3`, ``, "0 nodes"},
		"a negative count": {`"count":3`, `"count":-3`, "-3 nodes"},
		"too many":         {`"count":3`, `"count":1001`, "1001 nodes"},
		"too many at most": {`"count":3`, `"count":3,"maxCount":1001`, "3 nodes, from 0 to 1001"},
		"as it should be":  {"", "", ""},
		"as many as can":   {`"count":3`, `"count":1000`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			taken := snapshot{
				Definition: azure.Definition(strings.Replace(whole, row.old, row.replacement, 1)), ScaleSets: []string{"set-1"},
			}
			err := taken.check(in)
			if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			taken.ScaleSets = nil
			if err := taken.check(in); row.want == "" && (err == nil || !strings.Contains(err.Error(), "no scale set")) {
				t.Errorf("without a scale set: %v", err)
			}
		})
	}
}

// TestSnapshotIsOfAPoolAtRest and of a cluster whose version and nodes are known.
func TestSnapshotIsOfAPoolAtRest(t *testing.T) {
	for name, row := range map[string]struct {
		hazard func(d *desk, ctx context.Context)
		class  apierr.Class
		want   string
	}{
		"the pool changes": {func(d *desk, _ context.Context) {
			d.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/agentpools/system"}, stateOf("Updating"))
		}, apierr.Conflict, "the pool is Updating, its definition may still change"},
		"no version is known": {func(d *desk, _ context.Context) {
			d.world.Rewrite(azuresim.Requests{Method: "GET", Path: "*/managedClusters/aks-1"}, func(body map[string]any) {
				delete(body["properties"].(map[string]any), "currentKubernetesVersion")
			})
		}, apierr.Terminal, "ARM does not say the control plane's version"},
		"a node has lost its label": {func(d *desk, ctx context.Context) {
			nodes := d.world.Kubernetes().CoreV1().Nodes()
			list, err := nodes.List(ctx, metav1.ListOptions{LabelSelector: nodeSelector("system")})
			d.must(err)
			_, err = nodes.Patch(ctx, list.Items[0].Name, types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"kubernetes.azure.com/agentpool":null}}}`), metav1.PatchOptions{})
			d.must(err)
		}, apierr.Transient, "unknown nodes:"},
		"all have": {func(d *desk, ctx context.Context) {
			d.must(d.world.Kubernetes().CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: nodeSelector("system")}))
		}, apierr.Transient, "unknown nodes: the labels select none, ARM counts 2"},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, "", func(d *desk, ctx context.Context) {
				row.hazard(d, ctx)
				expectError(t, d.takeSnapshot().Apply(ctx, d.run), row.class, row.want)
				if d.noted(snapshotNote, new(snapshot)) {
					t.Error("it was noted")
				}
			})
		})
	}
}

// TestSnapshotCountsOnceItWasReadBack: what the journal refuses to keep or to give back is no snapshot.
func TestSnapshotCountsOnceItWasReadBack(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		for _, refused := range []string{snapshotNote, "reading back"} {
			d.run.refuses[refused] = true
			if err := d.takeSnapshot().Apply(ctx, d.run); !errors.Is(err, errLost) {
				t.Errorf("%s: %v", refused, err)
			}
			delete(d.run.refuses, refused)
		}
		d.must(d.takeSnapshot().Apply(ctx, d.run))
	})
}

// TestWedgeIsSeenAsFarAsItCanBe: what can't be read is kept as such, beside what can.
func TestWedgeIsSeenAsFarAsItCanBe(t *testing.T) {
	for name, row := range map[string]struct {
		hazard func(d *desk)
		want   string
	}{
		"all is seen": {func(*desk) {}, "log <nil>, interfaces <nil>, diagnosis 1"},
		"the log is refused": {func(d *desk) {
			d.world.Answer(azuresim.Requests{Path: "*/eventtypes/*"}, 400, azuresim.ErrorBody("No", "not now"))
		}, "log refused, interfaces <nil>, diagnosis 1"},
		"the interfaces are refused": {func(d *desk) {
			d.world.Answer(azuresim.Requests{Path: "*/networkInterfaces"}, 400, azuresim.ErrorBody("No", "not now"))
		}, "log <nil>, interfaces refused, diagnosis 1"},
		"the nodes are refused": {func(d *desk) { d.forbid("list", "nodes", 0) }, "log <nil>, interfaces <nil>, diagnosis 0"},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, "", func(d *desk, ctx context.Context) {
				row.hazard(d)
				w, err := d.readWedge(ctx, d.run)
				d.must(err)
				was := func(failure *runbook.Failure) string {
					if failure != nil {
						return "refused"
					}
					return "<nil>"
				}
				got := fmt.Sprintf("log %s, interfaces %s, diagnosis %d", was(w.LogFailure), was(w.InterfacesFailure),
					len(w.Diagnosis))
				if got != row.want {
					t.Errorf("got %s, want %s (%v, %v)", got, row.want, w.LogFailure, w.InterfacesFailure)
				}
			})
		})
	}
}

func TestWedgeIsNotDecidedWithoutClusterScaleSetsOrWindow(t *testing.T) {
	atDesk(t, "", func(d *desk, ctx context.Context) {
		for n, want := range []string{"reading cluster", "listing the scale sets"} {
			d.fresh(n + 1)
			if _, err := d.readWedge(ctx, d.run); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("without the answer to request %d: %v", n+1, err)
			}
		}
		d.run.refuses[windowNote] = true
		d.fresh(0)
		if _, err := d.readWedge(ctx, d.run); !errors.Is(err, errLost) {
			t.Errorf("without its window: %v", err)
		}
		delete(d.run.refuses, windowNote)
		var since time.Time
		w, err := d.readWedge(ctx, d.run)
		if d.must(err); !d.noted(windowNote, &since) || !since.Equal(w.Since) || d.Clock.Since(since) < d.Window.Duration {
			t.Errorf("window from %s, noted %s", w.Since, since)
		}
	})
}
