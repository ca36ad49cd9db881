package rescuepods_test

import (
	"context"
	"slices"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// rules are the rights that the runbook needs, by what they are about.
var rules = map[string]rbacv1.PolicyRule{
	"namespaces": {APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
	"pods":       {APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
	"deletion":   {APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"delete"}},
	"secrets":    {APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
	"others":     {APIGroups: []string{""}, Resources: []string{"configmaps", "serviceaccounts", "persistentvolumeclaims"}, Verbs: []string{"get"}},
	"jobs":       {APIGroups: []string{"prow.k8s.io"}, Resources: []string{"prowjobs"}, Verbs: []string{"list"}},
}

// grant gives a user all rights but some.
func (s *stage) grant(user string, but ...string) {
	s.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: s.rulesBut(but...)}
	_, err := s.client.RbacV1().ClusterRoles().Create(s.Context(), role, metav1.CreateOptions{})
	s.must(err)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	_, err = s.client.RbacV1().ClusterRoleBindings().Create(s.Context(), binding, metav1.CreateOptions{})
	s.must(err)
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
	time.Sleep(300 * time.Millisecond) // the authorizer follows by a watch
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
