package clusterevents_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/telemetry/clusterevents"
	"salve/internal/telemetry/telemetrytest"
)

// told executes runs and gives the Events of the cluster.
func told(t *testing.T, client kubernetes.Interface, runs ...telemetrytest.Run) []corev1.Event {
	t.Helper()
	for _, run := range runs {
		events := clusterevents.New(clusterevents.Options{
			Open:      func(context.Context) (kubernetes.Interface, error) { return client, nil },
			Namespace: "salve-system",
			Lease:     func(target string) string { return "target-of-" + strings.ReplaceAll(target, "/", "-") },
			Clock:     clock.RealClock{},
		})
		run.Watch = events.Tell
		run.Execute(t)
		if err := events.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list, err := client.CoreV1().Events(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// reasons of Events with how often each was told.
func reasons(events []corev1.Event) (all []string) {
	for _, event := range events {
		all = append(all, event.Type+" "+event.Reason)
	}
	slices.Sort(all)
	return all
}

func TestEachKindOfRunHasItsEvents(t *testing.T) {
	for name, row := range map[string]struct {
		run  telemetrytest.Run
		want []string
	}{
		"one that goes well": {telemetrytest.Run{}, []string{
			"Normal PointOfNoReturn", "Normal RunClosed", "Normal StepStarted", "Normal StepStarted"}},
		"one that can't see": {telemetrytest.Run{Blind: true}, []string{"Warning GuardUnknown", "Warning RunClosed"}},
		"one that fails":     {telemetrytest.Run{Breaks: "close"}, []string{"Normal StepStarted", "Warning RunClosed"}},
		"one that asks": {telemetrytest.Run{Asks: "drain"}, []string{
			"Normal PointOfNoReturn", "Normal StepStarted", "Normal StepStarted", "Warning NeedsAttention"}},
	} {
		t.Run(name, func(t *testing.T) {
			events := told(t, fake.NewClientset(), row.run)
			if got := reasons(events); !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
			for _, event := range events {
				about := event.InvolvedObject
				if about.Kind != "Lease" || about.Name != "target-of-valve-7" || about.Namespace != "salve-system" ||
					event.Namespace != "salve-system" || event.Source.Component != "salve" || event.Count != 1 {
					t.Errorf("%+v", event)
				}
				if strings.Contains(event.Message, telemetrytest.Secret) {
					t.Errorf("a secret is told: %s", event.Message)
				}
			}
		})
	}
}

func TestAnEventIsToldOnce(t *testing.T) {
	client := fake.NewClientset()
	run := telemetrytest.Run{Name: "run-1"}
	once := len(told(t, client, run))
	if twice := len(told(t, client, run)); twice != once {
		t.Errorf("%d Events at first, and %d when another process told the same", once, twice)
	}
	if other := len(told(t, client, telemetrytest.Run{Name: "run-2"})); other != 2*once {
		t.Errorf("%d Events after another run", other)
	}
}

func TestPreviewsTellNothing(t *testing.T) {
	client := fake.NewClientset()
	blind := telemetrytest.Run{Blind: true}
	events := clusterevents.New(clusterevents.Options{Namespace: "salve-system", Clock: clock.RealClock{},
		Open:  func(context.Context) (kubernetes.Interface, error) { return client, nil },
		Lease: func(string) string { return "l" }})
	blind.Watch = func(event engine.Event) {
		event.Run = ""
		events.Tell(event)
	}
	blind.Execute(t)
	if err := events.Close(t.Context()); err != nil || len(told(t, client)) != 0 {
		t.Errorf("%v, %v", err, told(t, client))
	}
}

func TestAClusterThatIsAwayHoldsNothingUp(t *testing.T) {
	events := clusterevents.New(clusterevents.Options{
		Open:      func(context.Context) (kubernetes.Interface, error) { return nil, errors.New("connection refused") },
		Namespace: "salve-system", Lease: func(string) string { return "l" }, Clock: clock.RealClock{},
	})
	result := telemetrytest.Run{Watch: events.Tell}.Execute(t)
	if result.Outcome != "remediated" {
		t.Errorf("the run is %s", result.Outcome)
	}
	if err := events.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("closing says %v", err)
	}
}

// TestWhoMayNotCreateEventsIsToldOfTheirRole, which is not that of the runbook.
func TestWhoMayNotCreateEventsIsToldOfTheirRole(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("events"), "", errors.New(
			`User "bo" cannot create resource "events" in API group "" in the namespace "kept"`))
	})
	events := clusterevents.New(clusterevents.Options{
		Open:      func(context.Context) (kubernetes.Interface, error) { return client, nil },
		Namespace: "kept", Lease: func(string) string { return "l" }, Clock: clock.RealClock{},
	})
	if result := (telemetrytest.Run{Watch: events.Tell}).Execute(t); result.Outcome != "remediated" {
		t.Errorf("the run is %s", result.Outcome)
	}
	want := "deploy/events-role.yaml has the Role, and kubectl -n kept create rolebinding salve-events "
	if err := events.Close(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("closing says %v, want %q", err, want)
	}
}

func TestEventsThatPileUpAreDroppedAndCounted(t *testing.T) {
	ctx, release := context.WithCancel(t.Context())
	events := clusterevents.New(clusterevents.Options{
		Open: func(context.Context) (kubernetes.Interface, error) {
			<-ctx.Done()
			return fake.NewClientset(), nil
		},
		Namespace: "salve-system", Lease: func(string) string { return "l" }, Clock: clock.RealClock{},
	})
	for i := range 1000 {
		events.Tell(engine.Event{Kind: engine.StepBegan, Run: "r", Step: fmt.Sprintf("s-%d", i), Attempt: 1})
	}
	release()
	if err := events.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "were not written") {
		t.Errorf("closing says %v", err)
	}
}

// TestAnEventThatIsNotTakenIsGivenUp after its time, so that those behind it get their turn.
func TestAnEventThatIsNotTakenIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		events := clusterevents.New(clusterevents.Options{
			Open: func(ctx context.Context) (kubernetes.Interface, error) {
				asked++
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			Namespace: "salve-system", Lease: func(string) string { return "l" }, Clock: clock.RealClock{},
		})
		began := time.Now()
		for _, step := range []string{"close", "drain"} {
			events.Tell(engine.Event{Kind: engine.StepBegan, Run: "r", Step: step, Attempt: 1})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := events.Close(ctx)
		if took := time.Since(began); took > time.Minute || asked != 2 || err == nil {
			t.Errorf("after %s and %d requests: %v", took, asked, err)
		}
	})
}
