package chart_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"salve/internal/chart"
	"salve/internal/kubetest"
)

// plane is the real control plane, with the namespaces that the releases need.
type plane struct {
	*kubetest.ControlPlane
	client *dynamic.DynamicClient
}

// namespaces are salve, in which Pod Security admits nothing that is not locked up as far as it goes
// (https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted), and those of a Prow.
var namespaces = []string{
	`{"metadata": {"name": "salve", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`,
	`{"metadata": {"name": "prow"}}`, `{"metadata": {"name": "test-pods"}}`,
}

func newPlane(t *testing.T) plane {
	t.Helper()
	started := kubetest.Start(t)
	client, err := dynamic.NewForConfig(started.Config())
	if err != nil {
		t.Fatal(err)
	}
	p := plane{started, client}
	for _, namespace := range namespaces {
		object := decode(t, namespace)
		object.SetAPIVersion("v1")
		object.SetKind("Namespace")
		p.apply(t, object)
	}
	return p
}

func (p plane) of(object *unstructured.Unstructured) dynamic.ResourceInterface {
	plural, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	if namespace := object.GetNamespace(); namespace != "" {
		return p.client.Resource(plural).Namespace(namespace)
	}
	return p.client.Resource(plural)
}

func (p plane) apply(t *testing.T, object *unstructured.Unstructured, dryRun ...string) {
	t.Helper()
	force := true
	_, err := p.of(object).Patch(t.Context(), object.GetName(), types.ApplyPatchType, []byte(encode(t, object)),
		metav1.PatchOptions{
			FieldManager: "test", Force: &force, FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun,
		})
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", object.GetKind(), object.GetName(), err, encode(t, object))
	}
}

// dryRun asks whether an object would be admitted.
func (p plane) dryRun(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	p.apply(t, object, metav1.DryRunAll)
}

// install applies a release, and takes it away at the end.
func (p plane) install(t *testing.T, one chart.Release) {
	t.Helper()
	found, err := one.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range found {
		p.apply(t, object)
		if object.GetKind() == "Namespace" {
			continue
		}
		t.Cleanup(func() {
			now := metav1.DeletePropagationBackground
			err := p.of(object).Delete(context.Background(), object.GetName(), metav1.DeleteOptions{PropagationPolicy: &now})
			if err != nil {
				t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
			}
		})
	}
}

// admit asks whether a pod would be let into its namespace.
func (p plane) admit(t *testing.T, pod *unstructured.Unstructured) error {
	t.Helper()
	_, err := p.of(pod).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// account is what the workload of every release runs as.
const account = "system:serviceaccount:salve:salve"

// may asks whether the account may do something: "get secrets/name in namespace".
func (p plane) may(t *testing.T, what string) bool {
	t.Helper()
	words := strings.Fields(what)
	resource, name, _ := strings.Cut(words[1], "/")
	of := schema.ParseGroupResource(resource)
	asked := &authorizationv1.ResourceAttributes{Verb: words[0], Group: of.Group, Resource: of.Resource, Name: name}
	if len(words) == 4 {
		asked.Namespace = words[3]
	}
	answer, err := p.Client().AuthorizationV1().SubjectAccessReviews().Create(t.Context(),
		&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: account, Groups: []string{"system:serviceaccounts", "system:authenticated"}, ResourceAttributes: asked,
		}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.Allowed
}

func encode(t *testing.T, object any) string {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
