package kube_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/permit"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"salve/kube"
	"salve/runbook"
)

func TestABudgetThatAllowsNothingIsNamedAndHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	s := onNodes(t, 2)
	var others []string
	for i := range 40 {
		others = append(others, fmt.Sprintf("other-%02d", i))
	}
	s.pods(0, "web", "web-0", "web-1")
	s.pods(1, "web", "web-2")
	s.pods(0, "other", others[:20]...)
	s.pods(1, "other", others[20:]...)
	s.budget("web", 3, 0)
	var reports []runbook.Progress
	drained, err := s.drain(kube.DrainOptions{Deadline: 10 * time.Second, Parallel: 2,
		Progress: func(p runbook.Progress) { reports = append(reports, p) }})
	s.must(err)
	if !slices.Equal(drained.Evicted, s.named(others...)) {
		t.Errorf("evicted %v", drained.Evicted)
	}
	var left []kube.RemainingPod
	for i, node := range []int{0, 0, 1} {
		left = append(left, kube.RemainingPod{Pod: s.named(fmt.Sprintf("web-%d", i))[0], Node: s.names[node],
			Blocker: "PodDisruptionBudget web"})
	}
	if difference := cmp.Diff(left, drained.Remaining); difference != "" {
		t.Errorf("left (-want +got):\n%s", difference)
	}
	last := reports[len(reports)-1]
	want := runbook.Progress{Text: "40 of 43 pods gone", Details: []string{
		s.names[0] + ": 2 pods left, 2 blocked by PodDisruptionBudget web in " + s.namespace,
		s.names[1] + ": 1 pod left, 1 blocked by PodDisruptionBudget web in " + s.namespace,
	}}
	if difference := cmp.Diff(want, last); difference != "" {
		t.Errorf("the last progress (-want +got):\n%s", difference)
	}
	if len(reports) > 43 {
		t.Errorf("%d reports of progress in ten seconds", len(reports))
	}
}

func TestABudgetThatAllowsOneAtATimeIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, allow := range map[string]bool{"with the right to read budgets": true,
		"with the rights that we ask for": false} {
		t.Run(name, func(t *testing.T) {
			s := onNodes(t, 4)
			s.must(s.cluster.Cordon(permit.NewContext(s.Context(), granted("spare")), nodes(t, s.cluster, s.selector)[2:]...))
			s.deployment("web", 6)
			s.budget("web", 5, 1)
			for _, node := range nodes(t, s.cluster, s.selector)[2:] {
				s.must(s.cluster.Uncordon(permit.NewContext(s.Context(), granted("spare")), "spare", node))
			}
			if !allow {
				s.cluster = connected(t, s.asUser())
			}
			old := nodes(t, s.cluster, s.selector)[:2]
			s.must(s.cluster.Cordon(permit.NewContext(s.Context(), granted("run-1")), old...))
			drained, err := s.cluster.Drain(permit.NewContext(s.Context(), granted("run-1")), old,
				kube.DrainOptions{Deadline: patience})
			s.must(err)
			if len(drained.Evicted) != 6 || !drained.Complete() {
				t.Errorf("%+v", drained)
			}
		})
	}
}

// asUser gives a kubeconfig of a user who has the rights of our ClusterRole.
func (s *site) asUser() string {
	raw, err := os.ReadFile("../deploy/cluster-role.yaml")
	s.must(err)
	var role rbacv1.ClusterRole
	s.must(yaml.UnmarshalStrict(raw, &role))
	role.Name = s.namespace
	_, err = s.client.RbacV1().ClusterRoles().Create(s.Context(), &role, metav1.CreateOptions{})
	s.must(err)
	_, err = s.client.RbacV1().ClusterRoleBindings().Create(s.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: s.namespace}},
	}, metav1.CreateOptions{})
	s.must(err)
	return s.plane.KubeconfigOf(s.TB, s.namespace)
}

// TestAPodUnderTwoBudgetsIsSaidSo: the Eviction API refuses such a pod with the
// HTTP code of success.
func TestAPodUnderTwoBudgetsIsSaidSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rightsWeAskFor bool
		blocker        string
	}{
		"with the right to read budgets":  {false, "more than one PodDisruptionBudget: one, two"},
		"with the rights that we ask for": {true, "more than one PodDisruptionBudget"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onNodes(t, 1)
			s.pods(0, "web", "web-0")
			s.pods(0, "other", "other-0")
			s.budget("one", 0, 1)
			s.budget("two", 0, 1)
			if c.rightsWeAskFor {
				s.cluster = connected(t, s.asUser())
			}
			drained, err := s.drain(kube.DrainOptions{Deadline: 12 * time.Second})
			s.must(err)
			if !slices.Equal(drained.Evicted, s.named("other-0")) || len(drained.Remaining) != 1 ||
				!strings.Contains(drained.Remaining[0].Blocker, c.blocker) {
				t.Errorf("%+v", drained)
			}
		})
	}
}
