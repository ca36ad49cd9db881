package stalewebhook_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"example.com/fleet/stalewebhook"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// webhook is a configuration on a real control plane.
type webhook struct {
	*testing.T
	client          kubernetes.Interface
	namespace, name string
}

// stale makes a configuration whose service doesn't exist. It asks about ConfigMaps of
// a namespace of the test's own, so that no other test is kept from writing.
func stale(t *testing.T, edit ...func(*admission.ValidatingWebhookConfiguration)) *webhook {
	t.Helper()
	client, err := kubernetes.NewForConfig(runbooktest.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &webhook{T: t, client: client, namespace: runbooktest.Namespace(t)}
	w.name = w.namespace + ".example.com"
	none, path := admission.SideEffectClassNone, "/validate"
	configuration := &admission.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: w.name},
		Webhooks: []admission.ValidatingWebhook{{
			Name: "policy.example.com", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admission.WebhookClientConfig{
				Service: &admission.ServiceReference{Namespace: w.namespace, Name: "policy", Path: &path},
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
			Rules: []admission.RuleWithOperations{{
				Operations: []admission.OperationType{admission.Create},
				Rule:       admission.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	for _, change := range edit {
		change(configuration)
	}
	configurations := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := configurations.Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := configurations.Delete(context.Background(), w.name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	return w
}

func (w *webhook) there() bool {
	w.Helper()
	_, err := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(w.Context(), w.name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		w.Fatal(err)
	}
	return err == nil
}

// book makes the runbook with clients of its own.
func (w *webhook) book(wrap func(http.RoundTripper) http.RoundTripper) runbook.Runbook {
	w.Helper()
	config := rest.CopyConfig(runbooktest.Cluster(w.T))
	if wrap != nil {
		config.Wrap(wrap)
	}
	cluster, err := kube.ForConfig(config, clock.RealClock{})
	if err != nil {
		w.Fatal(err)
	}
	book, err := stalewebhook.New(cluster, "test", stalewebhook.Inputs{Configuration: w.name})
	if err != nil {
		w.Fatal(err)
	}
	return book
}

// TestCrashAnywhere kills the run at every write of its journal and every call to the
// cluster. The next one goes on; the configuration is gone, and was deleted once.
func TestCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		w := stale(t)
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook { return w.book(process.Transport) },
			Verify: func() {
				if w.there() {
					t.Error("the configuration is there")
				}
			},
		}
	})
}

// TestConfigurationStays while one of its webhooks can be answered, or refuses nothing.
func TestConfigurationStays(t *testing.T) {
	ignore, url := admission.Ignore, "https://policy.example.com/validate"
	for _, row := range []struct {
		name, says string
		edit       func(*admission.ValidatingWebhookConfiguration)
		service    bool
	}{
		{name: "its service is there", says: "has service", service: true},
		{name: "it is called by URL", says: "called by URL", edit: func(c *admission.ValidatingWebhookConfiguration) {
			c.Webhooks[0].ClientConfig = admission.WebhookClientConfig{URL: &url}
		}},
		{name: "it fails open", says: "fail open", edit: func(c *admission.ValidatingWebhookConfiguration) {
			c.Webhooks[0].FailurePolicy = &ignore
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.edit == nil {
				row.edit = func(*admission.ValidatingWebhookConfiguration) {}
			}
			w := stale(t, row.edit)
			if row.service {
				w.makeService()
			}
			// What was recorded earlier does not help: the guards are asked again.
			given := runbooktest.Given{Notes: map[string]any{"configuration": map[string]string{"uid": "1", "resourceVersion": "1"}}}
			result := runbooktest.Apply(t, w.book(nil), "delete", given)
			if result.Outcome != runbook.NothingToDo || !strings.Contains(result.Reason, row.says) || !w.there() {
				t.Errorf("%s: %s; the configuration is there: %v", result.Outcome, result.Reason, w.there())
			}
		})
	}
}

// TestChangedConfigurationStays: one that was changed, or made anew, since it was recorded.
func TestChangedConfigurationStays(t *testing.T) {
	w := stale(t)
	given := runbooktest.Given{Notes: map[string]any{"configuration": map[string]string{"uid": "another", "resourceVersion": "1"}}}
	result := runbooktest.Apply(t, w.book(nil), "delete", given)
	if result.Outcome != runbook.Failed || !strings.Contains(result.Reason, "as-recorded") || !w.there() {
		t.Errorf("%s: %s; the configuration is there: %v", result.Outcome, result.Reason, w.there())
	}
}

// TestDeletionRequiresAPermit: the code of the step alone is refused at the wire.
func TestDeletionRequiresAPermit(t *testing.T) {
	w := stale(t)
	run := &runbooktest.Run{}
	recorded := map[string]string{"uid": "any", "resourceVersion": "1"}
	if err := run.Note(t.Context(), "configuration", recorded); err != nil {
		t.Fatal(err)
	}
	err := w.book(nil).Steps[1].Apply(t.Context(), run)
	if err == nil || !strings.Contains(err.Error(), "no permit") || !w.there() {
		t.Errorf("deleted without a permit: %v", err)
	}
}

func (w *webhook) makeService() {
	w.Helper()
	_, err := w.client.CoreV1().Services(w.namespace).Create(w.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}
