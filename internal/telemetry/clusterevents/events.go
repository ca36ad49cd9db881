package clusterevents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/telemetry"
	"salve/kube"
	"salve/runbook"
)

// The reasons of Events.
const (
	GuardUnknown    = "GuardUnknown"    // a guard could not see
	StepStarted     = "StepStarted"     // a change was announced
	PointOfNoReturn = "PointOfNoReturn" // a change was announced after which nothing is rolled back
	NeedsAttention  = "NeedsAttention"  // the run is open and asks a question
	RunClosed       = "RunClosed"       // the run has its outcome
)

const (
	// room is how many Events may wait to be written; more are dropped.
	room = 256
	// patience is how long one may take to be written.
	patience = 5 * time.Second
	// maxNote bounds the text of an Event, in bytes; the API server refuses one of more than 1024
	// (https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/events.go).
	maxNote = 1000
	source  = "salve"
)

// Options are what Events need.
type Options struct {
	// Open gives a client that may create Events in the namespace. It is called once, when there is something to tell.
	Open func(context.Context) (kubernetes.Interface, error)
	// Namespace is that of the leases, and Lease gives the name of a target's.
	Namespace string
	Lease     func(target string) string
	Clock     clock.Clock
}

// Events writes them one after the other.
type Events struct {
	Options
	queue   chan *corev1.Event
	written chan struct{}
	stop    context.CancelFunc

	mu      sync.Mutex
	told    map[string]bool
	dropped int
	failed  error
}

// New starts writing. Close ends it.
func New(options Options) *Events {
	ctx, stop := context.WithCancel(context.Background())
	e := &Events{Options: options, queue: make(chan *corev1.Event, room), written: make(chan struct{}), stop: stop,
		told: map[string]bool{}}
	go e.write(ctx) // Close waits for it
	return e
}

// Tell puts an Event into the queue. What was told before is not told again.
func (e *Events) Tell(event engine.Event) {
	if event.Run == "" {
		return // a preview
	}
	switch event.Kind {
	case engine.Found:
		if event.Finding.Answer == runbook.AnswerUnknown {
			e.add(event, GuardUnknown, corev1.EventTypeWarning, event.Finding.Guard+": "+event.Finding.Reason)
		}
	case engine.StepBegan:
		if event.Attempt == 0 {
			return // it was seen done or under way: nothing was announced
		}
		if event.Irreversible {
			e.add(event, PointOfNoReturn, corev1.EventTypeNormal, "step "+event.Step+": nothing is rolled back from now on")
		}
		e.add(event, StepStarted, corev1.EventTypeNormal, fmt.Sprintf("step %s, attempt %d", event.Step, event.Attempt))
	case engine.RunEnded:
		verdict := event.Verdict
		switch verdict.Outcome {
		case runbook.NeedsAttention:
			e.add(event, NeedsAttention, corev1.EventTypeWarning, verdict.Reason+". "+verdict.Question)
		case runbook.Failed, runbook.Undecided:
			e.add(event, RunClosed, corev1.EventTypeWarning, string(verdict.Outcome)+": "+verdict.Reason)
		default:
			e.add(event, RunClosed, corev1.EventTypeNormal, string(verdict.Outcome)+": "+verdict.Reason)
		}
	default: // the rest is for who watches the run itself
	}
}

func (e *Events) add(of engine.Event, reason, kind, note string) {
	made := e.event(of, reason, kind, note)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.told[made.Name] {
		return
	}
	select {
	case e.queue <- made:
		e.told[made.Name] = true
	default:
		e.dropped++
	}
}

// event has a name that follows from what it says: who tells it again, in whichever process, finds it there.
func (e *Events) event(of engine.Event, reason, kind, note string) *corev1.Event {
	lease := e.Lease(of.Target.ID)
	note = telemetry.Text(fmt.Sprintf("%s of %s, run %s: %s", of.Runbook, of.Target.Name, of.Run, note), maxNote)
	sum := sha256.Sum256([]byte(reason + "\n" + note))
	at := metav1.NewTime(of.At)
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: lease + "." + hex.EncodeToString(sum[:8]), Namespace: e.Namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Name: lease,
			Namespace: e.Namespace},
		Reason: reason, Message: note, Type: kind, Count: 1, FirstTimestamp: at, LastTimestamp: at,
		Source: corev1.EventSource{Component: source}, ReportingController: source,
	}
}

func (e *Events) write(ctx context.Context) {
	defer close(e.written)
	var client kubernetes.Interface
	for event := range e.queue {
		if err := e.create(ctx, &client, event); err != nil {
			e.mu.Lock()
			e.failed = err
			e.mu.Unlock()
		}
	}
}

func (e *Events) create(ctx context.Context, client *kubernetes.Interface, event *corev1.Event) (err error) {
	ctx, cancel := clock.WithTimeout(ctx, e.Clock, patience)
	defer cancel()
	if *client == nil {
		if *client, err = e.Open(ctx); err != nil {
			return fmt.Errorf("reaching the cluster: %w", err)
		}
	}
	_, err = (*client).CoreV1().Events(e.Namespace).Create(ctx, event, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	err = kube.Classify(err)
	var refused *kube.ForbiddenError
	if errors.As(err, &refused) { // a role of its own gives the right
		return errors.New(refused.For(kube.Need{Role: kube.Observed, Namespace: e.Namespace}))
	}
	return err
}

// Close waits until all are written, for as long as ctx allows.
func (e *Events) Close(ctx context.Context) error {
	close(e.queue)
	select {
	case <-e.written:
	case <-ctx.Done():
	}
	e.stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	left := e.dropped + len(e.queue)
	switch {
	case e.failed != nil:
		return fmt.Errorf("kubernetes events: not all were written: %w", e.failed)
	case left > 0:
		return fmt.Errorf("kubernetes events: %d were not written", left)
	}
	return nil
}
