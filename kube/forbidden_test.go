package kube

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/internal/apierr"
)

func TestForbiddenNamesIdentityActionScopeAndRole(t *testing.T) {
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	for said, want := range map[string][]string{
		`User "ana@example.com" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "salve-system"`: {
			"forbidden: ana@example.com cannot list leases.coordination.k8s.io in namespace salve-system",
			"hint: kubectl auth can-i list leases.coordination.k8s.io -n salve-system --as ana@example.com;",
			"--clusterrole salve --user ana@example.com grants it", "deploy/cluster-role.yaml",
		},
		`User "system:serviceaccount:ci:runner" cannot get resource "nodes" in API group "" at the cluster scope`: {
			"forbidden: system:serviceaccount:ci:runner cannot get nodes in the whole cluster",
			"--serviceaccount ci:runner grants it",
		},
		`User "x; rm -rf ~" cannot get resource "nodes" in API group "" at the cluster scope`: {"leases.coordination.k8s.io"},
	} {
		err := Classify(apierrors.NewForbidden(leases, "", errors.New(said)))
		if apierr.ClassOf(err) != apierr.Denied || !apierrors.IsForbidden(err) {
			t.Errorf("class %s of %v", apierr.ClassOf(err), err)
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %q", part, err)
			}
		}
		if _, hint, _ := strings.Cut(err.Error(), "hint:"); strings.Contains(hint, "rm -rf") {
			t.Errorf("a command holds what the server said: %q", hint)
		}
	}
}

// TestForbiddenNamesTheRoleOfWhoAsks: an approver and a reader need other roles than a runner, in the journal's
// namespace.
func TestForbiddenNamesTheRoleOfWhoAsks(t *testing.T) {
	said := `User "bo" cannot create resource "certificatesigningrequests" in API group "certificates.k8s.io" at the cluster scope`
	var forbidden *ForbiddenError
	if !errors.As(Classify(apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(said))), &forbidden) {
		t.Fatal("not forbidden")
	}
	for need, want := range map[Need]string{
		{}: "kubectl create clusterrolebinding salve --clusterrole salve --user bo",
		{Role: Approver, Namespace: "kept"}: "kubectl -n kept create rolebinding salve-approver-bo " +
			"--clusterrole=salve-approver --user bo; kubectl create clusterrolebinding salve-approver-requests-bo ",
		{Role: Observed, Namespace: "kept"}: "deploy/events-role.yaml has the Role, and kubectl -n kept create rolebinding " +
			"salve-events --role=salve-events --user bo grants it",
		{Role: Reader, Namespace: "kept"}: "kubectl -n kept create rolebinding salve-reader-bo --clusterrole=salve-reader",
	} {
		if text := forbidden.For(need); !strings.Contains(text, want) {
			t.Errorf("%+v: %q is not in %q", need, want, text)
		}
	}
}

// TestUnauthorizedIsNotForbidden: nobody knows who asks, so that no role would help.
func TestUnauthorizedIsNotForbidden(t *testing.T) {
	err := Classify(apierrors.NewUnauthorized("provide credentials"))
	if apierr.ClassOf(err) != apierr.Denied || !strings.HasPrefix(err.Error(), "unauthorized: ") ||
		strings.Contains(err.Error(), "role") || strings.Contains(err.Error(), "forbidden") {
		t.Errorf("got %v", err)
	}
}
