package rescuepods_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"salve/engine"
	"salve/internal/chart"
	"salve/internal/permit"
	"salve/journal/configmap"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/rescuepods/stranded"
)

// rules are the rights that the runbook needs, by what they are about.
var rules = map[string]rbacv1.PolicyRule{
	"namespaces": {APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
	"pods":       {APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
	"deletion":   {APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"delete"}},
	"secrets":    {APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
	"others": {APIGroups: []string{""}, Resources: []string{"configmaps", "serviceaccounts", "persistentvolumeclaims"},
		Verbs: []string{"get"}},
	"jobs": {APIGroups: []string{"prow.k8s.io"}, Resources: []string{"prowjobs"}, Verbs: []string{"list"}},
}

// grant gives a user all rights but some.
func (s *stage) grant(user string, but ...string) {
	s.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: s.rulesBut(but...)}
	_, err := s.client.RbacV1().ClusterRoles().Create(s.Context(), role, metav1.CreateOptions{})
	s.must(err)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	_, err = s.client.RbacV1().ClusterRoleBindings().Create(s.Context(), binding, metav1.CreateOptions{})
	s.must(err)
	s.granted(user, but...)
	s.Cleanup(func() {
		_ = s.client.RbacV1().ClusterRoleBindings().Delete(context.Background(), user, metav1.DeleteOptions{})
		_ = s.client.RbacV1().ClusterRoles().Delete(context.Background(), user, metav1.DeleteOptions{})
	})
}

// cut takes rights of a user away, all others are given, and waits until it is so.
func (s *stage) cut(user string, but ...string) {
	s.Helper()
	role, err := s.client.RbacV1().ClusterRoles().Get(s.Context(), user, metav1.GetOptions{})
	s.must(err)
	role.Rules = s.rulesBut(but...)
	_, err = s.client.RbacV1().ClusterRoles().Update(s.Context(), role, metav1.UpdateOptions{})
	s.must(err)
	s.granted(user, but...)
}

// granted waits until a user has all rights but some: the authorizer follows by a
// watch.
func (s *stage) granted(user string, but ...string) {
	s.Helper()
	for name, rule := range rules {
		asked := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0],
			},
		}}
		s.eventually(name+" is granted or not", func() bool {
			answer, err := s.client.AuthorizationV1().SubjectAccessReviews().Create(s.Context(), asked, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed != slices.Contains(but, name)
		})
	}
}

func (s *stage) rulesBut(but ...string) (left []rbacv1.PolicyRule) {
	for name, rule := range rules {
		if !slices.Contains(but, name) {
			left = append(left, rule)
		}
	}
	return left
}

// unhold takes the finalizers of an astray pod away.
func (s *stage) unhold(pod string) {
	_, _ = s.client.CoreV1().Pods(s.astray).Patch(context.Background(), pod, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
}

// later does something in a while, before the test ends.
func (s *stage) later(after time.Duration, do func()) {
	done := make(chan struct{})
	s.Cleanup(func() { <-done })
	go func() {
		defer close(done)
		time.Sleep(after)
		do()
	}()
}

const (
	rolesFile   = "../../deploy/rescue-stranded-pods-role.yaml"
	exportsFile = "../../deploy/exports-role.yaml"
)

// TestTheRolesInDeployAreExactlyWhatIsUsed: a run with its journal in the cluster
// passes with them, and so does the alarm; and each right in them is used.
func TestTheRolesInDeployAreExactlyWhatIsUsed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.kubectl("apply", "-f", rolesFile)
	s.kubectl("apply", "-f", exportsFile)
	s.kubectl("create", "clusterrolebinding", "rescuer", "--clusterrole=salve-rescue-stranded-pods", "--user=rescuer")
	s.kubectl("-n", "salve-system", "create", "rolebinding", "rescuer", "--clusterrole=salve-journal", "--user=rescuer")
	s.kubectl("-n", "salve-system", "create", "rolebinding", "rescuer-key",
		"--role=salve-key-rescue-stranded-pods", "--user=rescuer")
	s.kubectl("-n", "salve-system-exports", "create", "rolebinding", "rescuer",
		"--clusterrole=salve-exports", "--user=rescuer")
	s.usesExactly("salve-system", "rescuer")
}

// TestTheChartGivesExactlyWhatIsUsed: the same as the service account of a Job that the Helm chart makes.
func TestTheChartGivesExactlyWhatIsUsed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	objects, err := chart.Release{
		Folder: "../../deploy/helm/salve", Name: "rescue", Namespace: "default", Values: map[string]any{
			"runbook": "rescue-stranded-pods", "image": map[string]any{"repository": "registry.invalid/salve"},
			"journal": map[string]any{"namespace": "chart-journal"},
			"args":    []any{"--selector=app=web", "--expected-namespace=web"},
		},
	}.Objects()
	s.must(err)
	for _, object := range objects {
		if object.GetKind() == "Job" {
			continue // the test does its work
		}
		path := filepath.Join(t.TempDir(), "object.json")
		raw, err := object.MarshalJSON()
		s.must(err)
		s.must(os.WriteFile(path, raw, 0o600))
		s.kubectl("apply", "-f", path)
	}
	s.usesExactly("chart-journal", "system:serviceaccount:default:rescue")
}

// usesExactly runs the runbook and the alarm as a user, with a journal in the cluster, and compares what was asked for
// with the roles in deploy/.
func (s *stage) usesExactly(namespace, user string) {
	s.Helper()
	s.controller()
	s.stranded("a", "b")
	s.kubectl("-n", namespace, "create", "secret", "generic", "journal-key-rescue-stranded-pods",
		"--from-literal=key="+strings.Repeat("5a", 32))
	s.granted(user)
	for _, kind := range []string{stranded.ConfigMap, stranded.ServiceAccount, stranded.Claim} {
		s.object(s.home, kind, "at-home")
	}
	at := corev1.LocalObjectReference{Name: "at-home"}
	s.pod(s.astray, "lacks-all", func(pod *corev1.Pod) {
		withToken("at-home")(pod)
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "c", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "at-home"},
		}})
		container(corev1.Container{
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: at}}},
		})(pod)
	})
	s.as(s.plane.KubeconfigOf(s, user))
	client, err := kube.JournalClient(s.world.Cluster, permit.ForJournal(configmap.Namespaces(namespace)...))
	s.must(err)
	kept, err := configmap.New(configmap.Options{Client: client, Clock: s.world.Cluster.Clock, Namespace: namespace})
	s.must(err)
	s.journal = kept
	_, err = kept.OpenRuns(s.Context()) // as the command line does for --role
	s.must(err)
	s.world.ClusterID, err = s.world.Cluster.ID(s.Context())
	s.must(err)
	s.seen = func(event engine.Event) {
		if event.Kind == engine.StepBegan && event.Step == "delete-rest" {
			s.starts(s.astray, "b") // a pod that changed is read again
		}
	}
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, "b")
	s.pod(s.astray, "c", nil)
	var stranded *stranded.Error
	if err := s.watch().end(); !errors.As(err, &stranded) {
		s.Errorf("the watch ended with %v", err)
	}

	used, given := s.plane.Requests(s, user),
		append(rightsIn(s, rolesFile, ""), rightsIn(s, exportsFile, "salve-exports")...)
	for _, right := range used {
		if !slices.Contains(given, right) {
			s.Errorf("%q was asked for and is not in %s or %s", right, rolesFile, exportsFile)
		}
	}
	for _, right := range given {
		if !slices.Contains(used, right) {
			s.Errorf("%q is in %s or %s and was not used", right, rolesFile, exportsFile)
		}
	}
}

func (s *stage) kubectl(arguments ...string) {
	s.Helper()
	command := exec.Command(s.plane.Program("kubectl"),
		append([]string{"--kubeconfig", s.plane.Kubeconfig()}, arguments...)...)
	if said, err := command.CombinedOutput(); err != nil {
		s.Fatalf("kubectl %s: %v: %s", strings.Join(arguments, " "), err, said)
	}
}

// rightsIn are those of a role in a file, or of all of them, as "verb resource.group".
func rightsIn(t testing.TB, file, only string) (rights []string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096); ; {
		var role rbacv1.ClusterRole
		if err := documents.Decode(&role); errors.Is(err, io.EOF) {
			return rights
		} else if err != nil {
			t.Fatal(err)
		}
		if only != "" && role.Name != only {
			continue
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				if rule.APIGroups[0] != "" {
					resource += "." + rule.APIGroups[0]
				}
				for _, verb := range rule.Verbs {
					rights = append(rights, verb+" "+resource)
				}
			}
		}
	}
}
