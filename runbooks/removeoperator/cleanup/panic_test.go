package cleanup

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/fake"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/permit"
	"salve/kube"
	"salve/runbook"
)

func expectPanic(t *testing.T, err error) {
	t.Helper()
	var panicked *apierr.PanicError
	if !errors.As(err, &panicked) || panicked.Stack == "" || !apierr.MayHaveHappened(err) {
		t.Errorf("got %v, want a panic with its stack", err)
	}
}

// TestPanicWhileDeletingIsAnError: the permit asks the lease, and progress is told to the engine.
func TestPanicWhileDeletingIsAnError(t *testing.T) {
	granted := permit.Mint(permit.Terms{Expires: time.Now().Add(time.Hour), Now: time.Now,
		Lease: func(context.Context) error { panic("of the lease") }})
	o := &Operator{Cluster: &kube.Cluster{Clock: clock.Real{}}}
	one := kube.Object{Resource: configMaps, Namespace: "team", Name: "a", UID: "1"}
	expectPanic(t, o.deleteEach(permit.NewContext(t.Context(), granted), 1, func(visit func(kube.Object) error) error {
		return visit(one)
	}, nil))
}

func TestPanicWhileAwaitingIsAnError(t *testing.T) {
	widgets := kube.Resource{Kind: "Widget", Namespaced: true, GroupVersionResource: schema.GroupVersionResource{
		Group: "example.io", Version: "v1", Resource: "widgets"}}
	client := fake.NewSimpleMetadataClient(fake.NewTestScheme())
	o := &Operator{Cluster: &kube.Cluster{Clock: clock.Real{}, Metadata: client}}
	report := func(runbook.Progress) { panic("of progress") }
	expectPanic(t, o.AwaitGone(t.Context(), []Definition{{Defines: widgets}}, report))
}
