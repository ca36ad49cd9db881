package cleanup

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/internal/apierr"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// TestWhatGoesWithTheNamespaceIsExported, but for what is made again by itself.
func TestWhatGoesWithTheNamespaceIsExported(t *testing.T) {
	own := map[string]any{"kind": "ReplicaSet", "name": "r", "uid": "1", "apiVersion": "apps/v1", "controller": true}
	for rule, row := range map[string]struct {
		kind, name string
		metadata   map[string]any
		want       bool
	}{
		"an ordinary one":            {kind: "ConfigMap", name: "a", want: true},
		"one that a controller made": {kind: "Pod", name: "a", metadata: map[string]any{"ownerReferences": []any{own}}},
		"one of a controller, with our finalizer": {kind: "Pod", name: "a", want: true, metadata: map[string]any{
			"ownerReferences": []any{own}, "finalizers": []any{"example.io/f"}}},
		"every namespace's account":  {kind: "ServiceAccount", name: "default"},
		"another account":            {kind: "ServiceAccount", name: "a", want: true},
		"every namespace's root CA":  {kind: "ConfigMap", name: "kube-root-ca.crt"},
		"another kind of that name":  {kind: "Secret", name: "kube-root-ca.crt", want: true},
		"another kind named default": {kind: "ConfigMap", name: "default", want: true},
	} {
		found := &unstructured.Unstructured{Object: map[string]any{"metadata": row.metadata}}
		if row.metadata == nil {
			found.Object = map[string]any{}
		}
		found.SetName(row.name)
		o := &Operator{Group: "example.io", Namespace: "op"}
		if got := o.exportable(namespaced("", "things", row.kind), found); got != row.want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

// TestNamesThatAreNobodysAreRefused.
func TestNamesThatAreNobodysAreRefused(t *testing.T) {
	for name, err := range map[string]error{
		"missing group": CheckGroup(""), "missing namespace": CheckNamespace(""),
		"Salve keeps the journals": CheckNamespace("salve-system"), "requires no label": CheckSelectors([]string{"a!=b"}),
		"must consist": CheckFinalizers([]string{"a b"}),
	} {
		if err == nil || !strings.Contains(err.Error(), "missing") && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServedAndNotListedIsAConflict, once the API server had its time.
func TestServedAndNotListedIsAConflict(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		delete(m.objects, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io")
		began := time.Now()
		_, err := o.ReadState(ctx)
		if apierr.ClassOf(err) != apierr.Transient || time.Since(began) < discoveryLag || len(m.asked) > 5000 {
			t.Errorf("%v after %v, %d requests", err, time.Since(began), len(m.asked))
		}
		ended, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(1100*time.Millisecond, func() { cancel(errEnded) })
		if _, err := o.confirmedDefinitions(ended, nil); !errors.Is(err, errEnded) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// TestBundleThatIsNotTheRunsIsNotBelieved: what the record says of it is compared with what it is.
func TestBundleThatIsNotTheRunsIsNotBelieved(t *testing.T) {
	for rule, edit := range map[string]func(*Bundle){
		"another digest":    func(b *Bundle) { b.SHA256 = strings.Repeat("0", 64) },
		"more CRDs":         func(b *Bundle) { b.Definitions++ },
		"more objects":      func(b *Bundle) { b.Objects++ },
		"more of others":    func(b *Bundle) { b.Others++ },
		"a file":            func(b *Bundle) { b.File = "/etc/passwd" },
		"another namespace": func(b *Bundle) { b.Namespace = "team" },
		"fewer bytes":       func(b *Bundle) { b.Bytes-- },
	} {
		inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
			w := &world{t: t, ctx: ctx, m: m, o: o, run: &runbooktest.Run{}}
			exported(w)
			edit(&w.kept)
			w.must(w.run.Note(ctx, bundleNote, w.kept))
			if _, err := o.ReadBackup(ctx, w.run); err == nil {
				t.Errorf("%s: it was believed", rule)
			}
			if seen := o.ObserveBackup(ctx, w.run); seen.Err == nil {
				t.Errorf("%s: the export is %+v", rule, seen)
			}
		})
	}
	o, run := &Operator{}, &runbooktest.Run{}
	if _, err := o.ReadBackup(t.Context(), run); apierr.ClassOf(err) != apierr.Missing {
		t.Errorf("no bundle: %v", err)
	}
	if seen := o.ObserveBackup(t.Context(), run); seen.State != runbook.StateNotStarted {
		t.Errorf("no bundle: %+v", seen)
	}
}

// TestWhatIsNotServedAnyMoreHasNothing: a resource that goes between the discovery and the listing leaves nothing to be
// exported, where discovery says so too; while it is still discovered, that is an error.
func TestWhatIsNotServedAnyMoreHasNothing(t *testing.T) {
	at := slices.IndexFunc(readings(), func(a act) bool { return a.name == "what is not in the bundle" })
	readings()[at].doing(t, &runbooktest.Run{}, func(w *world) {
		w.m.refuse = func(request *http.Request) bool {
			if strings.HasPrefix(request.URL.Path, "/apis/batch/v1/namespaces/op/") {
				w.m.unserved = "/apis/batch/v1"
			}
			return false
		}
	}, func(w *world, err error) {
		w.must(err)
		if w.m.unserved == "" {
			t.Error("no job was asked for")
		}
	})
}

// TestDefinitionsAreOfANamedGroup: without a group each definition of the cluster would be one of them.
func TestDefinitionsAreOfANamedGroup(t *testing.T) {
	inCluster(t, func(t *testing.T, ctx context.Context, m *inMemory, o *Operator) {
		o.Group = ""
		if found, err := o.Definitions(ctx); apierr.ClassOf(err) != apierr.Terminal || len(m.requests()) > 0 {
			t.Errorf("%v, %v after %q", found, err, m.requests())
		}
	})
}
