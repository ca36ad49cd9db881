package removeoperator_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"salve/runbook"
)

// hooks makes webhooks for deletions of the group's objects, which nobody answers.
// One configuration has a webhook of somebody else too.
func (o *operator) hooks() {
	o.Helper()
	fail, none, path := admissionv1.Fail, admissionv1.SideEffectClassNone, "/"
	webhook := func(name string, to admissionv1.WebhookClientConfig) admissionv1.ValidatingWebhook {
		return admissionv1.ValidatingWebhook{
			Name: name, ClientConfig: to, FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Delete},
				Rule: admissionv1.Rule{
					APIGroups: []string{o.group}, APIVersions: []string{"*"}, Resources: []string{"widgets"},
				},
			}},
		}
	}
	service := func(namespace string) admissionv1.WebhookClientConfig {
		return admissionv1.WebhookClientConfig{
			Service: &admissionv1.ServiceReference{Namespace: namespace, Name: "webhook", Path: &path},
		}
	}
	address := "https://webhook." + o.namespace + ".svc:443/"
	elsewhere := webhook("c.elsewhere.example", service(o.team))
	elsewhere.Rules[0].APIGroups = []string{"elsewhere.example"}
	configurations := o.admin.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	for name, webhooks := range map[string][]admissionv1.ValidatingWebhook{
		o.namespace + "-own": {webhook("a."+o.group, service(o.namespace)),
			webhook("b."+o.group, admissionv1.WebhookClientConfig{URL: &address})},
		o.namespace + "-mixed": {webhook("a."+o.group, service(o.namespace)),
			elsewhere, webhook("b."+o.group, service(o.namespace))},
	} {
		_, err := configurations.Create(o.Context(), &admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: webhooks,
		}, metav1.CreateOptions{})
		o.must(err)
		o.Cleanup(func() {
			ctx, cancel := o.afterwards()
			defer cancel()
			_ = configurations.Delete(ctx, name, metav1.DeleteOptions{}) // one that is gone is gone
		})
	}
}

// rights makes what an operator has of RBAC, and beside it what looks like that and
// is somebody else's.
func (o *operator) rights() {
	o.Helper()
	rbac := o.admin.Client.RbacV1()
	own := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: o.namespace, Name: "operator"}
	other := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "somebody"}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}
	for name, subjects := range map[string][]rbacv1.Subject{"own": {own}, "shared": {own, other}} {
		_, err := rbac.ClusterRoleBindings().Create(o.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: o.namespace + "-" + name}, Subjects: subjects, RoleRef: role,
		}, metav1.CreateOptions{})
		o.must(err)
		_, err = rbac.RoleBindings(o.team).Create(o.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects, RoleRef: role,
		}, metav1.CreateOptions{})
		o.must(err)
	}
	for name, groups := range map[string][]string{"own": {o.group, "sub." + o.group}, "shared": {o.group, "apps"}} {
		_, err := rbac.ClusterRoles().Create(o.Context(), &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{
				Name: o.namespace + "-" + name, Labels: map[string]string{"role": o.namespace + "-" + name},
			},
			Rules: []rbacv1.PolicyRule{{APIGroups: groups, Resources: []string{"*"}, Verbs: []string{"get"}}},
		}, metav1.CreateOptions{})
		o.must(err)
	}
	o.Cleanup(func() {
		ctx, cancel := o.afterwards()
		defer cancel()
		for _, name := range []string{"own", "shared"} { // those that are gone are gone
			_ = rbac.ClusterRoleBindings().Delete(ctx, o.namespace+"-"+name, metav1.DeleteOptions{})
			_ = rbac.ClusterRoles().Delete(ctx, o.namespace+"-"+name, metav1.DeleteOptions{})
		}
	})
}

// TestWhatIsSomebodyElsesStays: of webhooks and of rights.
func TestWhatIsSomebodyElsesStays(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.rights()
	o.hooks()
	o.widget("plain")
	o.ends(o.run(), runbook.Remediated)
	configurations := o.admin.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := configurations.Get(t.Context(), o.namespace+"-own", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the operator's webhooks: %v", err)
	}
	mixed, err := configurations.Get(t.Context(), o.namespace+"-mixed", metav1.GetOptions{})
	if err != nil || len(mixed.Webhooks) != 1 || mixed.Webhooks[0].Name != "c.elsewhere.example" {
		t.Errorf("of the mixed configuration is left: %+v, %v", mixed.Webhooks, err)
	}
	rbac := o.admin.Client.RbacV1()
	for name, want := range map[string]bool{"own": false, "shared": true} {
		_, role := rbac.ClusterRoles().Get(t.Context(), o.namespace+"-"+name, metav1.GetOptions{})
		_, wide := rbac.ClusterRoleBindings().Get(t.Context(), o.namespace+"-"+name, metav1.GetOptions{})
		_, narrow := rbac.RoleBindings(o.team).Get(t.Context(), name, metav1.GetOptions{})
		for kind, err := range map[string]error{"ClusterRole": role, "ClusterRoleBinding": wide, "RoleBinding": narrow} {
			if got := err == nil; got != want {
				t.Errorf("%s %s: there is %v, want %v", name, kind, got, want)
			}
		}
	}
}

// TestTheClustersOwnRightsStay, even when a selector selects them.
func TestTheClustersOwnRightsStay(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.rights()
	o.inputs.Selectors = []string{"kubernetes.io/bootstrapping=rbac-defaults", "role=" + o.namespace + "-shared"}
	inputs := string(o.plan().Plan.Steps[len(o.book().Steps)-3].Inputs)
	if strings.Contains(inputs, "cluster-admin") || !strings.Contains(inputs, o.namespace+"-shared") {
		t.Errorf("it would delete %s", inputs)
	}
}

// TestADeadAPIServiceBlindsNobody: discovery fails for the group that it serves, until
// it is removed; a run that can't see another one's group does nothing. It is not
// run beside other tests, because it would blind them too.
func TestADeadAPIServiceBlindsNobody(t *testing.T) {
	o := retired(t)
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	name := "v1.metrics." + o.group
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": "metrics." + o.group, "version": "v1", "insecureSkipTLSVerify": true, "groupPriorityMinimum": int64(1000),
			"versionPriority": int64(10), "service": map[string]any{"namespace": o.namespace, "name": "metrics"},
		},
	}}
	_, err := o.admin.Dynamic.Resource(services).Create(t.Context(), service, metav1.CreateOptions{})
	o.must(err)
	t.Cleanup(func() {
		ctx, cancel := o.afterwards()
		defer cancel()
		_ = o.admin.Dynamic.Resource(services).Delete(ctx, name, metav1.DeleteOptions{}) // one that is gone is gone
	})
	o.widget("plain")
	o.ends(o.run(), runbook.Remediated)
	o.removed()
	_, err = o.admin.Dynamic.Resource(services).Get(t.Context(), name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the APIService: %v", err)
	}
	if !strings.Contains(o.story(), "1 hook into the namespace") {
		t.Errorf("it was not told:\n%s", o.story())
	}
}
