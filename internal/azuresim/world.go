package azuresim

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/utils/clock"
)

// World is one embedded Azure with one cluster, living on its clock from New to Close. It is safe for concurrent use.
type World struct {
	scenario   Scenario
	routes     []route
	clock      clock.Clock
	kubeconfig []byte // what clients get; nil: one is made up

	mutex sync.Mutex // guards everything of the model and of the control plane
	time  *eventQueue
	kube  *controlPlane // nil: the cluster was given
	model *model

	callMutex sync.Mutex
	calls     []Call
	hook      func(Call) Verdict
	hooks     []*hook

	wake   chan struct{}
	ending context.Context
	end    context.CancelFunc
	gone   sync.WaitGroup
}

// Options are what a World needs besides its scenario.
type Options struct {
	// Clock is the time that the World lives on; nil is the real one, which inside a synctest bubble is virtual.
	Clock clock.Clock
	// Seed overrides the scenario's; 0 does not.
	Seed int64
	// Kubernetes is the managed cluster; nil is an embedded one. With one that is given, calls to its API are not seen
	// here: no fault can be about them, and Snapshot shows neither nodes nor pods.
	Kubernetes Kubernetes
	// Paused lets time stand still until Begin, so that the cluster can first become what the scenario begins with.
	Paused bool
	// Kubeconfig is what clients get as the cluster's user credentials; nil is one that leads nowhere.
	Kubeconfig []byte
}

// New starts a world. Its time begins at the clock's now. Close ends it.
func New(scenario Scenario, options Options) (*World, error) {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.Seed != 0 {
		scenario.Seed = options.Seed
	}
	w := &World{
		scenario: scenario, routes: allRoutes(), clock: options.Clock, kubeconfig: options.Kubeconfig,
		wake: make(chan struct{}, 1),
	}
	names := newSeeded(scenario.Seed)
	w.time = newEventQueue(options.Clock.Now(), w.earlier)
	kube := options.Kubernetes
	if kube != nil {
		if err := scenario.FitsGivenCluster(); err != nil {
			return nil, err
		}
	} else {
		w.kube = newControlPlane(names, w.time)
		kube = w.kube
	}
	model, err := newModel(scenario, names, w.time, kube)
	if err != nil {
		return nil, fmt.Errorf("starting scenario %s: %w", scenario.Name, err)
	}
	w.model = model
	if model.server, err = hostOf(options.Kubeconfig); err != nil {
		return nil, fmt.Errorf("starting scenario %s: %w", scenario.Name, err)
	}
	if w.kube != nil {
		w.kube.denies = model.faults.denies
	}
	for _, fault := range scenario.Faults {
		model.addFault(fault)
	}
	w.ending, w.end = context.WithCancel(context.Background())
	if !options.Paused {
		w.gone.Go(w.keepTime)
	}
	return w, nil
}

// Begin lets the time of a World that was held go on, as if it had been made now. Before it the World may not be used.
func (w *World) Begin() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	late := w.clock.Since(w.time.now)
	w.time.postpone(late)
	w.model.faults.postpone(late)
	w.gone.Go(w.keepTime)
}

// Close ends the World's goroutine, timers and watches. Calls after it still see the world, which no longer moves by
// itself.
func (w *World) Close() {
	w.end()
	w.gone.Wait()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.kube != nil {
		w.kube.store().CloseWatches()
	}
}

// ARM carries requests to ARM and to the identity endpoints, in process.
func (w *World) ARM() http.RoundTripper { return inProcess(w.serveARM) }

// Transport is ARM for the SDK's clients.
func (w *World) Transport() policy.Transporter { return &http.Client{Transport: w.ARM()} }

// Credential is a constant token, which the World accepts as it accepts any.
func (w *World) Credential() azcore.TokenCredential { return credential{w.clock} }

type credential struct{ clock clock.PassiveClock }

func (c credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "embedded", ExpiresOn: c.clock.Now().Add(24 * time.Hour)}, nil
}

// Operations lists every long-running operation so far, in the order of their start.
func (w *World) Operations() []Operation {
	w.lock()
	defer w.unlock()
	list := make([]Operation, 0, len(w.model.operations))
	for _, op := range w.model.operations {
		list = append(list, op.Operation)
	}
	return list
}

// lock takes the model and brings it up to date.
func (w *World) lock() {
	w.mutex.Lock()
	w.time.catchUp(w.clock.Now())
}

func (w *World) unlock() { w.mutex.Unlock() }

// earlier tells keepTime that something is due before what it waits for.
func (w *World) earlier() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// keepTime runs what is due when it is due, until the World ends.
func (w *World) keepTime() {
	for w.ending.Err() == nil {
		w.lock()
		due, some := w.time.due()
		w.unlock()
		if !some {
			select {
			case <-w.wake:
			case <-w.ending.Done():
			}
			continue
		}
		timer := w.clock.NewTimer(due.Sub(w.clock.Now()))
		select {
		case <-timer.C():
		case <-w.wake:
		case <-w.ending.Done():
		}
		timer.Stop()
	}
}

// wait passes time on the World's clock, or until the World ends; it returns false when ctx ended first.
func (w *World) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := w.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-w.ending.Done():
	case <-ctx.Done():
		return false
	}
	return true
}
