package azuresim_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"salve/internal/azuresim"
)

var nodesResource = corev1.SchemeGroupVersion.WithResource("nodes")

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"key": "old"},
	}
}

// TestClientsOverSockets: client-go's own clients, in both encodings, can't tell the embedded cluster from a real one.
func TestClientsOverSockets(t *testing.T) {
	world, err := azuresim.New(builtIn(t, "healthy"), azuresim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer world.Close()
	server := httptest.NewServer(world.KubernetesHandler())
	defer server.Close()
	for _, encoding := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		t.Run(encoding, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			config := &rest.Config{
				Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: encoding, AcceptContentTypes: encoding},
			}
			client := kubernetes.NewForConfigOrDie(config)
			list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
			if err != nil || len(list.Items) == 0 {
				t.Fatalf("%d nodes, %v", len(list.Items), err)
			}
			watching, err := client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
			if err != nil {
				t.Fatal(err)
			}
			defer watching.Stop()
			name := list.Items[0].Name
			patch := []byte(`{"metadata":{"annotations":{"by":"` + encoding + `"}}}`)
			_, err = client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			event := <-watching.ResultChan()
			if node, ok := event.Object.(*corev1.Node); event.Type != watch.Modified || !ok ||
				node.Annotations["by"] != encoding {
				t.Errorf("the watch shows %s of %v", event.Type, event.Object)
			}
			unknown, err := dynamic.NewForConfigOrDie(config).Resource(nodesResource).Get(ctx, name, metav1.GetOptions{})
			if err != nil || unknown.GetKind() != "Node" {
				t.Errorf("dynamic: %v, %v", unknown, err)
			}
			heads, err := metadata.NewForConfigOrDie(config).Resource(nodesResource).List(ctx, metav1.ListOptions{Limit: 2})
			if err != nil || len(heads.Items) != 2 || heads.Continue == "" || heads.Items[0].Labels["agentpool"] == "" {
				t.Errorf("metadata: %+v, %v", heads, err)
			}
			served, err := client.Discovery().ServerPreferredResourcesWithContext(ctx)
			if err != nil || len(served) < 4 {
				t.Errorf("discovery: %d groups, %v", len(served), err)
			}
		})
	}
}

func TestPreconditionsOfEveryVerb(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		ctx, maps := t.Context(), a.world.Kubernetes().CoreV1().ConfigMaps("default")
		made, err := maps.Create(ctx, configMap("one"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fresh := made.DeepCopy()
		fresh.Data["key"] = "new"
		if fresh, err = maps.Update(ctx, fresh, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		stale, other := made.ResourceVersion, types.UID("other")
		another := fresh.DeepCopy()
		another.UID = other
		for name, call := range map[string]func() error{
			"create again": func() error { _, err := maps.Create(ctx, configMap("one"), metav1.CreateOptions{}); return err },
			"update stale": func() error { _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); return err },
			"update other": func() error { _, err := maps.Update(ctx, another, metav1.UpdateOptions{}); return err },
			"patch stale": func() error {
				patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q}}`, stale)
				_, err := maps.Patch(ctx, "one", types.MergePatchType, patch, metav1.PatchOptions{})
				return err
			},
			"delete stale": func() error {
				return maps.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &stale}})
			},
			"delete other": func() error {
				return maps.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
			},
		} {
			if err := call(); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				t.Errorf("%s: got %v, want a conflict", name, err)
			}
		}
		kept, err := maps.Get(ctx, "one", metav1.GetOptions{})
		if err != nil || kept.ResourceVersion != fresh.ResourceVersion || kept.Data["key"] != "new" {
			t.Errorf("a refused change was made: %+v, %v", kept, err)
		}
		err = maps.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(made.UID))})
		if err != nil {
			t.Error(err)
		}
		if _, err := maps.Get(ctx, "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("got %v, want not found", err)
		}
	})
}

func TestRefusalsOfTheAPIServer(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		ctx, client := t.Context(), a.world.Kubernetes()
		elsewhere := configMap("one")
		elsewhere.Namespace = "missing"
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default"}}
		if _, err := client.CoordinationV1().Leases("default").Create(ctx, lease, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		refusals := map[string]struct {
			is   func(error) bool
			call func() error
		}{
			"namespace missing": {apierrors.IsNotFound, func() error {
				_, err := client.CoreV1().ConfigMaps("missing").Create(ctx, elsewhere, metav1.CreateOptions{})
				return err
			}},
			"lease without version": {apierrors.IsInvalid, func() error {
				_, err := client.CoordinationV1().Leases("default").Update(ctx, lease, metav1.UpdateOptions{})
				return err
			}},
			"kind not served": {apierrors.IsNotFound, func() error {
				_, err := client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
				return err
			}},
			"dry run": {apierrors.IsBadRequest, func() error {
				_, err := client.CoreV1().ConfigMaps("default").
					Create(ctx, configMap("dry"), metav1.CreateOptions{DryRun: []string{"All"}})
				return err
			}},
			"strategic merge patch": {apierrors.IsUnsupportedMediaType, func() error {
				_, err := client.CoreV1().ConfigMaps("default").Patch(ctx, "x", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
				return err
			}},
			"field that can't be selected": {apierrors.IsBadRequest, func() error {
				_, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.hostNetwork=true"})
				return err
			}},
			"revision of nobody": {apierrors.IsBadRequest, func() error {
				_, err := client.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{ResourceVersion: "x"})
				return err
			}},
		}
		for name, refusal := range refusals {
			if err := refusal.call(); !refusal.is(err) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

// TestPagesShowOneRevision: what changes between two pages is not in the second.
func TestPagesShowOneRevision(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		ctx, maps := t.Context(), a.world.Kubernetes().CoreV1().ConfigMaps("default")
		for _, name := range []string{"a", "b", "c"} {
			if _, err := maps.Create(ctx, configMap(name), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		first, err := maps.List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil || len(first.Items) != 1 {
			t.Fatalf("%+v, %v", first, err)
		}
		if err := maps.Delete(ctx, "c", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Create(ctx, configMap("d"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		rest, err := maps.List(ctx, metav1.ListOptions{Continue: first.Continue})
		if err != nil || len(rest.Items) != 2 || rest.Items[1].Name != "c" || rest.ResourceVersion != first.ResourceVersion {
			t.Errorf("the second page is %+v, %v; want b and c of revision %s", rest, err, first.ResourceVersion)
		}
		if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
		if left, err := maps.List(ctx, metav1.ListOptions{}); err != nil || len(left.Items) != 0 {
			t.Errorf("left %+v, %v", left, err)
		}
	})
}

// TestAccessReviewsKnowOfDenials and change nothing.
func TestAccessReviewsKnowOfDenials(t *testing.T) {
	scenario := parsed(t, "faults:\n  - deny: {match: {api: kubernetes, method: delete, path: \"nodes*\"}}\n")
	inWorld(t, scenario, func(t *testing.T, a *azure) {
		for verb, want := range map[string]bool{"delete": false, "list": true} {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Resource: "nodes"},
			}}
			got, err := a.world.Kubernetes().AuthorizationV1().SelfSubjectAccessReviews().
				Create(t.Context(), review, metav1.CreateOptions{})
			if err != nil || got.Status.Allowed != want {
				t.Errorf("%s: %+v, %v", verb, got.Status, err)
			}
		}
		if call := a.world.Calls()[0]; call.Mutating {
			t.Errorf("a review is recorded as a change: %+v", call)
		}
	})
}

func TestWatchOfAForgottenRevisionExpires(t *testing.T) {
	inWorld(t, builtIn(t, "healthy"), func(t *testing.T, a *azure) {
		ctx, client := t.Context(), dynamic.NewForConfigOrDie(a.world.KubernetesConfig()).
			Resource(corev1.SchemeGroupVersion.WithResource("configmaps"))
		object := &unstructured.Unstructured{
			Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "one"}},
		}
		made, err := client.Namespace("default").Create(ctx, object, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5000 {
			patch := fmt.Appendf(nil, `{"data":{"n":"%d"}}`, i)
			_, err := client.Namespace("default").Patch(ctx, "one", types.MergePatchType, patch, metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err = client.Watch(ctx, metav1.ListOptions{ResourceVersion: made.GetResourceVersion()})
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			t.Errorf("got %v, want expired", err)
		}
	})
}
