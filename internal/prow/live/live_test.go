package live_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"salve/internal/kubetest"
	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/live"
	"salve/kube"
)

// plane is a control plane with a pod namespace, in which plank may create pods.
type plane struct {
	*kubetest.ControlPlane
	t         *testing.T
	namespace string
}

const user = "system:serviceaccount:prow:prow-controller-manager"

func newPlane(t *testing.T) plane {
	t.Helper()
	p := plane{kubetest.Start(t), t, ""}
	p.namespace = p.Namespace(t)
	return p
}

// open reaches the cluster as a user of a kubeconfig.
func (p plane) open(kubeconfig string) *kube.Cluster {
	p.t.Helper()
	cluster, err := kube.Open(kubeconfig, "", clock.RealClock{})
	if err != nil {
		p.t.Fatal(err)
	}
	return cluster
}

func (p plane) context() context.Context {
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	p.t.Cleanup(cancel)
	return ctx
}

// allow lets a subject create pods in a namespace, or everywhere where it is empty.
func (p plane) allow(namespace string, subject rbacv1.Subject) {
	p.t.Helper()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"create"}}}
	ctx, rbac := p.context(), p.Client().RbacV1()
	meta := metav1.ObjectMeta{Name: "plank-" + p.namespace}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}
	var err error
	if namespace == "" {
		ref.Kind = "ClusterRole"
		_, err = rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
		if err == nil {
			_, err = rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref,
				Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
		}
		p.t.Cleanup(func() {
			_ = rbac.ClusterRoleBindings().Delete(context.Background(), meta.Name, metav1.DeleteOptions{})
			_ = rbac.ClusterRoles().Delete(context.Background(), meta.Name, metav1.DeleteOptions{})
		})
	} else {
		_, err = rbac.Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
		if err == nil {
			_, err = rbac.RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref,
				Subjects: []rbacv1.Subject{subject}}, metav1.CreateOptions{})
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// reviewed asks until the authorizer has seen what was granted.
func (p plane) reviewed(namespace string, holds func(*check.Live) bool) *check.Live {
	p.t.Helper()
	cluster, ctx := p.open(p.Kubeconfig()), p.context()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		got := live.Ask(ctx, cluster, live.Question{Cluster: "default", User: user, PodNamespace: namespace})
		if holds(got) {
			return got
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("%+v", got)
		case <-ticker.C:
		}
	}
}

func TestPlankThatMayMakePodsInItsNamespaceOnly(t *testing.T) {
	p := newPlane(t)
	p.allow(p.namespace, rbacv1.Subject{Kind: "ServiceAccount", Name: "prow-controller-manager", Namespace: "prow"})
	got := p.reviewed(p.namespace, func(l *check.Live) bool { return l.Reviews[p.namespace].Allowed })
	if got.Everywhere.Allowed || got.Everywhere.Failed != "" || got.Reviews["default"] != (check.Review{}) ||
		len(got.Reviews) < 4 || got.Failed != "" {
		t.Errorf("%+v", got)
	}
}

// TestRightsOfAGroupCount: nobody grants them to plank by name.
func TestRightsOfAGroupCount(t *testing.T) {
	p := newPlane(t)
	p.allow("", rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts:prow"})
	p.reviewed(p.namespace, func(l *check.Live) bool { return l.Everywhere.Allowed && len(l.Reviews) == 0 })
}

func TestObjectsAreThereOrNot(t *testing.T) {
	p := newPlane(t)
	meta := metav1.ObjectMeta{Name: "there"}
	ctx, core := p.context(), p.Client().CoreV1()
	if _, err := core.Secrets(p.namespace).Create(ctx, &corev1.Secret{ObjectMeta: meta},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := core.ConfigMaps(p.namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta},
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	objects := []check.Object{{Kind: config.Secret, Name: "there"}, {Kind: config.ConfigMap, Name: "there"},
		{Kind: config.ServiceAccount, Name: "there"}, {Kind: config.Secret, Name: "gone"}}
	question := live.Question{Cluster: "default", PodNamespace: p.namespace, Objects: objects}
	got := live.Ask(ctx, p.open(p.Kubeconfig()), question)
	for i, there := range []bool{true, true, false, false} {
		if got.Objects[objects[i]] != (check.Presence{There: there}) {
			t.Errorf("%s: %+v", objects[i], got.Objects[objects[i]])
		}
	}
	// Who may not look is told nothing, and that is not "missing".
	stranger := live.Ask(ctx, p.open(p.KubeconfigOf(t, "stranger")), live.Question{Cluster: "default", User: user,
		PodNamespace: p.namespace, Objects: objects})
	for _, object := range objects {
		if presence := stranger.Objects[object]; presence.There || !strings.Contains(presence.Failed, "forbidden") {
			t.Errorf("%s: %+v", object, presence)
		}
	}
	if stranger.Everywhere.Failed == "" || stranger.Reviews[p.namespace].Failed == "" {
		t.Errorf("%+v", stranger)
	}
}

// TestTheRolesInDeploySuffice: with them, and nothing else, each question has an answer.
func TestTheRolesInDeploySuffice(t *testing.T) {
	p := newPlane(t)
	kubectl := func(arguments ...string) {
		t.Helper()
		command := exec.CommandContext(p.context(), p.Program("kubectl"), append([]string{"--kubeconfig", p.Kubeconfig()},
			arguments...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", arguments, err, out)
		}
	}
	who := "checker-" + p.namespace
	kubectl("apply", "-f", "../../../deploy/prow-check-role.yaml")
	kubectl("create", "clusterrolebinding", who, "--clusterrole=salve-prow-check", "--user="+who)
	kubectl("-n", p.namespace, "create", "rolebinding", who, "--clusterrole=salve-prow-check-pods", "--user="+who)
	t.Cleanup(func() {
		_ = p.Client().RbacV1().ClusterRoleBindings().Delete(context.Background(), who, metav1.DeleteOptions{})
	})
	cluster := p.open(p.KubeconfigOf(t, who))
	objects := []check.Object{{Kind: config.Secret, Name: "gone"}, {Kind: config.ConfigMap, Name: "gone"},
		{Kind: config.ServiceAccount, Name: "gone"}}
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	ctx := p.context()
	for {
		got := live.Ask(ctx, cluster, live.Question{Cluster: "default", User: user, PodNamespace: p.namespace,
			Objects: objects})
		failed := got.Failed + got.Everywhere.Failed
		for _, review := range got.Reviews {
			failed += review.Failed
		}
		for _, presence := range got.Objects {
			failed += presence.Failed
		}
		if failed == "" && len(got.Reviews) > 3 && len(got.Objects) == len(objects) {
			break
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s\n%+v", failed, got)
		case <-ticker.C: // the authorizer learns of new rights by a watch
		}
	}
	used := p.Requests(t, who)
	want := []string{"create subjectaccessreviews.authorization.k8s.io", "get configmaps", "get secrets",
		"get serviceaccounts",
		"list namespaces"}
	if diff := cmp.Diff(want, used); diff != "" {
		t.Errorf("the roles allow more, or less, than is used: %s", diff)
	}
}
