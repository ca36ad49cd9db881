package removeoperator_test

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/engine"
	"salve/runbook"
)

// ends checks how a run ended, and shows its story when it did not end so.
func (o *operator) ends(result engine.Result, want runbook.Outcome) {
	o.Helper()
	if result.Outcome != want {
		o.Fatalf("ended %s, want %s: %s\n%s", result.Outcome, want, result.Reason, o.story())
	}
}

// removed checks, with the test's own eyes, that nothing is left.
func (o *operator) removed() {
	o.Helper()
	for _, served := range []schema.GroupVersionResource{o.widgets, o.gadgets} {
		name := served.Resource + "." + served.Group
		if _, err := o.admin.Dynamic.Resource(crds).Get(o.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			o.Errorf("CRD %s is there: %v", name, err)
		}
	}
	_, err := o.admin.Client.CoreV1().Namespaces().Get(o.Context(), o.namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		o.Errorf("namespace %s is there: %v", o.namespace, err)
	}
}

// there tells whether an object is there, and not being deleted.
func (o *operator) there(resource schema.GroupVersionResource, namespace, name string) bool {
	o.Helper()
	found, err := o.admin.Dynamic.Resource(resource).Namespace(namespace).Get(o.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		o.Fatal(err)
	}
	return err == nil && found.GetDeletionTimestamp() == nil
}

func (o *operator) eventually(what string, holds func(context.Context) bool) {
	o.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !holds(ctx) {
		select {
		case <-ctx.Done():
			o.Fatalf("never seen: %s", what)
		case <-ticker.C:
		}
	}
}

// story tells what happened in the newest run, without what differs from one time
// to the next.
func (o *operator) story() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var text string
	for _, event := range o.told {
		switch {
		case event.Finding != nil:
			text += fmt.Sprintf("  %s: %s %s: %s\n", event.Step, event.Finding.Guard, event.Finding.Answer, event.Finding.Reason)
		case event.Result != nil:
			text += fmt.Sprintf("%s %s attempt %d: %s %s\n", event.Kind, event.Step, event.Attempt,
				event.Result.Result, event.Result.Reason)
		case event.Verdict != nil:
			text += fmt.Sprintf("%s: %s: %s\n", event.Kind, event.Verdict.Outcome, event.Verdict.Reason)
		case event.Kind == engine.StepMoved:
		default:
			text += fmt.Sprintf("%s %s %s\n", event.Kind, event.Step, event.Text)
		}
	}
	return text
}
