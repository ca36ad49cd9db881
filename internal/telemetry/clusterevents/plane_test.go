package clusterevents_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"salve/internal/kubetest"
	"salve/internal/permit"
	"salve/internal/telemetry/clusterevents"
	"salve/internal/telemetry/telemetrytest"
	"salve/journal/configmap"
	"salve/kube"
)

// TestTheRoleInDeployIsEnough: the API server takes the Events from who has the rights of deploy/events-role.yaml
// alone.
func TestTheRoleInDeployIsEnough(t *testing.T) {
	const user = "events-writer"
	plane := kubetest.Start(t)
	namespace := plane.Namespace(t)
	grant(t, plane.Client(), namespace, user)
	cluster, err := kube.Open(plane.KubeconfigOf(t, user), "", clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // two processes, which tell the same
		events := clusterevents.New(clusterevents.Options{
			Namespace: namespace, Lease: configmap.LeaseName, Clock: clock.RealClock{},
			Open: func(context.Context) (kubernetes.Interface, error) {
				return kube.EventClient(cluster, permit.ForEvents(namespace))
			},
		})
		telemetrytest.Run{Watch: events.Tell, Name: "run-1"}.Execute(t)
		if err := events.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list, err := plane.Client().CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Lease,involvedObject.name=" + configmap.LeaseName("valve/7")})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Normal PointOfNoReturn", "Normal RunClosed", "Normal StepStarted", "Normal StepStarted"}
	if got := reasons(list.Items); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// grant gives a user the role in deploy, and waits until the API server knows it.
func grant(t *testing.T, client kubernetes.Interface, namespace, user string) {
	t.Helper()
	raw, err := os.ReadFile("../../../deploy/events-role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.Role
	if err := yaml.UnmarshalStrict(raw, &role); err != nil {
		t.Fatal(err)
	}
	if role.Namespace = namespace; len(role.Rules) != 1 || !slices.Equal(role.Rules[0].Verbs, []string{"create"}) {
		t.Errorf("the role gives %v", role.Rules)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	if _, err := client.RbacV1().Roles(namespace).Create(t.Context(), &role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitRight(t, client, namespace, user)
}

// awaitRight waits until the authorizer, which follows by a watch, knows of the role.
func awaitRight(t *testing.T, client kubernetes.Interface, namespace, user string) {
	t.Helper()
	asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "create", Resource: "events"},
	}}
	for {
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), asked, metav1.CreateOptions{})
		switch {
		case err != nil:
			t.Fatal(err)
		case review.Status.Allowed:
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("the role is not known")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
