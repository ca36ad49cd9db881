package recreatepool

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"salve/azure"
	"salve/internal/azuresim"
	"salve/internal/permit"
	"salve/kube"
	"salve/runbook/runbooktest"
)

var errLost = errors.New("the disk is full")

// desk is the runbook's code at work on an embedded Azure, one function at a time and without an engine. Requests to
// ARM and to the cluster's API are counted together, and one of them can be refused.
type desk struct {
	*recreation
	t     *testing.T
	world *azuresim.World
	run   *deskRun
	// requests were sent since the last fresh; the one of the number refused is refused, none for 0.
	requests, refused atomic.Int64
}

// deskRun is a run whose journal refuses notes, warnings or to be read back.
type deskRun struct {
	*runbooktest.Run
	refuses map[string]bool
}

func (r *deskRun) Note(ctx context.Context, name string, value any) error {
	if r.refuses[name] {
		return errLost
	}
	return r.Run.Note(ctx, name, value)
}

func (r *deskRun) ReadBack(ctx context.Context, name string, into any) (bool, error) {
	if r.refuses["reading back"] {
		return true, errLost
	}
	return r.Run.ReadBack(ctx, name, into)
}

func (r *deskRun) Warn(ctx context.Context, format string, args ...any) error {
	if r.refuses["warning"] {
		return errLost
	}
	return r.Run.Warn(context.WithoutCancel(ctx), format, args...)
}

// scene is a cluster with a corrupted system pool of two nodes and a healthy pool.
const scene = `
shows: a desk
expect: remediated
inputs: {pool: system}
activityLog: {quiet: true}
pools:
  - {name: system, mode: System, count: 2, state: Failed, corrupted: true}
  - {name: workers, count: 1}
`

// atDesk tells a story on virtual time in which everything may be changed, in the scene with more YAML.
func atDesk(t *testing.T, more string, story func(d *desk, ctx context.Context)) {
	t.Helper()
	scenario, err := azuresim.Parse("desk", []byte(scene+more))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		world, err := azuresim.New(scenario, azuresim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer world.Close()
		d := &desk{t: t, world: world, run: &deskRun{Run: &runbooktest.Run{}, refuses: map[string]bool{}}}
		client, err := azure.New(azure.Options{Subscription: scenario.Subscription, Credential: world.Credential(),
			Transport: counter{d, world.ARM()}, Clock: clock.RealClock{}})
		d.must(err)
		config := world.KubernetesConfig()
		config.Transport = counter{d, config.Transport}
		cluster, err := kube.ForConfig(config, clock.RealClock{})
		d.must(err)
		d.recreation = &recreation{Inputs: inputs(), World: World{Azure: client, Clock: clock.RealClock{},
			Kubernetes: func(context.Context) (*kube.Cluster, error) { return cluster, nil }}}
		story(d, permit.NewContext(t.Context(), permit.Mint(permit.Terms{
			Run: "run-1", Expires: time.Now().Add(time.Hour), Now: time.Now, Lease: func(context.Context) error { return nil },
		})))
	})
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// fresh begins a round, in which the request of a number is refused.
func (d *desk) fresh(refused int) {
	d.seen.Reset()
	d.requests.Store(0)
	d.refused.Store(int64(refused))
}

// snapshot takes the snapshot and notes it.
func (d *desk) snapshot(ctx context.Context) {
	d.t.Helper()
	taken, err := d.newSnapshot(ctx, d.run)
	d.must(err)
	d.must(d.run.Note(ctx, snapshotNote, taken))
	d.fresh(0)
}

// standInThere makes the stand-in of this run.
func (d *desk) standInThere(ctx context.Context) {
	d.t.Helper()
	d.snapshot(ctx)
	step := d.addStandIn()
	d.must(step.Apply(ctx, d.run))
	d.must(step.Await(ctx, d.run))
	d.fresh(0)
}

// changes are the requests that may have changed something, but for those of the story itself before.
func (d *desk) changes(before int) (made []string) {
	for _, call := range d.world.Calls()[before:] {
		if call.Mutating {
			made = append(made, call.Verb+" "+call.Resource[strings.LastIndexByte(call.Resource, '/')+1:])
		}
	}
	return made
}

// counter counts requests and refuses one.
type counter struct {
	*desk
	next http.RoundTripper
}

func (c counter) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.requests.Add(1) != c.refused.Load() {
		return c.next.RoundTrip(request)
	}
	const body = `{"error":{"code":"RequestDisallowedByPolicy","message":"refused"},` +
		`"kind":"Status","apiVersion":"v1","status":"Failure","message":"RequestDisallowedByPolicy","code":403}`
	return &http.Response{StatusCode: http.StatusForbidden, Status: "403 Forbidden", Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}
