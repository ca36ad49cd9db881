package cleanup

import (
	"strings"
	"testing"
	"testing/synctest"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"salve/internal/clock"
	"salve/kube"
)

// TestGroupsAndNamespacesOfOthersAreRefused: many operators have theirs below such a group, and Kubernetes has its own
// in such a namespace.
func TestGroupsAndNamespacesOfOthersAreRefused(t *testing.T) {
	for group, own := range map[string]bool{
		"k8s.io": false, "x-k8s.io": false, "kubernetes.io": false, "io": false, "": false, "Example.io": false,
		"example.io": true, "cluster.x-k8s.io": true, "operator.example.io": true,
	} {
		if err := CheckGroup(group); (err == nil) != own {
			t.Errorf("group %q: %v", group, err)
		}
	}
	for namespace, own := range map[string]bool{
		"default": false, "kube-system": false, "kube-public": false, "kube-node-lease": false, "": false, "A": false,
		"operator-system": true, "kubeflow": true,
	} {
		if err := CheckNamespace(namespace); (err == nil) != own {
			t.Errorf("namespace %q: %v", namespace, err)
		}
	}
}

func TestGroupIsAWholeDomain(t *testing.T) {
	for name, in := range map[string]bool{
		"example.io": true, "sub.example.io": true, "notexample.io": false, "example.io.other.io": false, "": false,
		"io": false,
	} {
		if got := inGroup(name, "example.io"); got != in {
			t.Errorf("%q in the group: %v", name, got)
		}
	}
	if inGroup("", "") || inGroup("example.io.", "") {
		t.Error("a group without a name has others in it")
	}
}

// TestRightsWithoutContentAreNobodys: a role that others are aggregated into has no rules of its own for a moment, and
// a binding without subjects may wait for some.
func TestRightsWithoutContentAreNobodys(t *testing.T) {
	own := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "op", Name: "a"}
	for name, row := range map[string]struct {
		subjects []rbacv1.Subject
		own      bool
	}{
		"none":         {nil, false},
		"its account":  {[]rbacv1.Subject{own}, true},
		"its accounts": {[]rbacv1.Subject{{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:op"}}, true},
		"all accounts": {[]rbacv1.Subject{{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts"}}, false},
		"accounts of a longer name": {
			[]rbacv1.Subject{{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:op-2"}}, false},
		"a user of its account's name": {[]rbacv1.Subject{{Kind: rbacv1.UserKind, Namespace: "op", Name: "a"}}, false},
		"its account and another's":    {[]rbacv1.Subject{own, {Kind: rbacv1.ServiceAccountKind, Namespace: "b"}}, false},
	} {
		if got := subjectsOf(row.subjects, "op"); got != row.own {
			t.Errorf("subjects: %s: own %v", name, got)
		}
	}
	for name, row := range map[string]struct {
		rules []rbacv1.PolicyRule
		own   bool
	}{
		"none":        {nil, false},
		"its group":   {[]rbacv1.PolicyRule{{APIGroups: []string{"example.io"}}}, true},
		"every group": {[]rbacv1.PolicyRule{{APIGroups: []string{"*"}}}, false},
		"another too": {[]rbacv1.PolicyRule{{APIGroups: []string{"example.io"}}, {APIGroups: []string{""}}}, false},
		"paths":       {[]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}}}, false},
		"its group, paths": {
			[]rbacv1.PolicyRule{{APIGroups: []string{"example.io"}}, {NonResourceURLs: []string{"/"}}}, false},
		"a rule of nothing": {[]rbacv1.PolicyRule{{Verbs: []string{"get"}}}, false},
	} {
		if got := about(row.rules, "example.io"); got != row.own {
			t.Errorf("rules: %s: own %v", name, got)
		}
	}
}

// TestWebhooksElsewhereStay: an address may resemble one of the namespace's services.
func TestWebhooksElsewhereStay(t *testing.T) {
	for address, into := range map[string]bool{
		"https://hook.op.svc":               true,
		"https://hook.op.svc.cluster.local": true,
		"https://hook.op.example.com":       false,
		"https://op.svc.example.com":        false,
		"https://hook.b.svc/op.svc":         false,
		"https://hook.op":                   false,
		"":                                  false,
		"://hook.op.svc":                    false,
	} {
		if got := pointsInto(map[string]any{"clientConfig": map[string]any{"url": address}}, "op"); got != into {
			t.Errorf("%q points into the namespace: %v", address, got)
		}
	}
}

// TestDefinitionThatCantBeSeenIsAnError: what it defines is never taken for none.
func TestDefinitionThatCantBeSeenIsAnError(t *testing.T) {
	crd := func(name, group string, served bool) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name},
			"spec": map[string]any{"group": group, "names": map[string]any{"plural": "widgets", "kind": "Widget"},
				"versions": []any{map[string]any{"name": "v1", "served": served, "storage": true}}},
		}}
	}
	for name, row := range map[string]struct {
		raw  *unstructured.Unstructured
		says string
	}{
		"ordinary":          {crd("widgets.example.io", "example.io", true), ""},
		"serves no version": {crd("widgets.example.io", "example.io", false), "serves no version"},
		"of another group":  {crd("widgets.example.io", "apps", true), "defines \"widgets.apps\""},
	} {
		_, err := definitionOf(row.raw)
		if (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWatchThatFailsShowsNotThatNothingIsThere: a CRD takes its objects along, listed or not.
func TestWatchThatFailsShowsNotThatNothingIsThere(t *testing.T) {
	widgets := kube.Resource{Kind: "Widget", GroupVersionResource: schema.GroupVersionResource{
		Group: "example.io", Version: "v1", Resource: "widgets"}}
	expired := &metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired}
	one := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1"}}
	for name, row := range map[string]struct {
		events []watch.Event
		closed bool
		none   bool
	}{
		"silence":   {none: true},
		"an object": {events: []watch.Event{{Type: watch.Added, Object: one}}},
		"it goes": {events: []watch.Event{{Type: watch.Added, Object: one}, {Type: watch.Deleted, Object: one}},
			none: true},
		"an error":     {events: []watch.Event{{Type: watch.Error, Object: expired}}},
		"an early end": {closed: true},
		"of two, one goes": {events: []watch.Event{{Type: watch.Added, Object: one}, {Type: watch.Added, Object: one},
			{Type: watch.Deleted, Object: one}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewSimpleMetadataClient(runtime.NewScheme())
				watcher := watch.NewFakeWithChanSize(len(row.events), false)
				client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
					for _, event := range row.events {
						watcher.Action(event.Type, event.Object)
					}
					if row.closed {
						watcher.Stop()
					}
					return true, watcher, nil
				})
				o := &Operator{Cluster: &kube.Cluster{Metadata: client, Clock: clock.Real{}}}
				if err := o.ConfirmNone(t.Context(), []Definition{{Defines: widgets}}); (err == nil) != row.none {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
