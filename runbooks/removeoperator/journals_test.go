package removeoperator_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/engine"
	"salve/journal"
	"salve/journal/configmap"
	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// TestJournalOfSalveIsNeverRemoved: whatever of a journal a namespace holds, the run changes nothing.
func TestJournalOfSalveIsNeverRemoved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keep func(*operator, *configmap.Journal)
		says string
	}{
		"a record": {says: "configmaps KEPT/run-run-1-1", keep: func(o *operator, kept *configmap.Journal) {
			o.must(kept.Create(o.Context(), "run-1"))
		}},
		"a key": {says: "secrets KEPT/journal-key-lamp", keep: func(o *operator, kept *configmap.Journal) {
			_, err := kept.MakeKey(o.Context(), "lamp")
			o.must(err)
		}},
		"a key that was made by hand": {says: "secrets KEPT/journal-key-lamp", keep: func(o *operator, _ *configmap.Journal) {
			o.secret(o.inputs.Namespace, "journal-key-lamp", nil)
		}},
		"an export": {says: "secrets KEPT/export-", keep: func(o *operator, kept *configmap.Journal) {
			o.inputs.Namespace = configmap.Namespaces(o.namespace)[1]
			o.must(kept.PutExport(o.Context(), "run-1", "objects", []byte("{}")))
		}},
		"an export without Salve's label": {says: "secrets KEPT/copy", keep: func(o *operator, _ *configmap.Journal) {
			o.secret(o.inputs.Namespace, "copy", map[string]string{"salve-run": "run-1"})
		}},
		"a lease": {says: "leases.coordination.k8s.io KEPT/", keep: func(o *operator, kept *configmap.Journal) {
			lease, err := kept.Lock(o.Context(), journal.Claim{Target: "lamp/1", Holder: journal.Holder{Run: "run-1"}})
			o.must(err)
			o.must(lease.Release(o.Context()))
		}},
		"nothing yet": {says: "namespaces KEPT", keep: func(o *operator, _ *configmap.Journal) {
			_, err := o.admin.Client.CoreV1().Namespaces().Patch(o.Context(), o.namespace, "application/merge-patch+json",
				[]byte(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"salve"}}}`), metav1.PatchOptions{})
			o.must(err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			kept, err := configmap.New(configmap.Options{Client: o.admin.Client, Clock: o.admin.Clock, Namespace: o.namespace})
			o.must(err)
			test.keep(o, kept)
			o.inputs.Bundle = filepath.Join(t.TempDir(), "bundle")
			o.widget("plain")
			result, err := o.engine().Run(t.Context(), o.book(), engine.Options{
				Overrides: map[string]string{"namespace-expendable": "nobody reads them"},
			})
			if err == nil {
				o.ends(result, runbook.NeedsAttention)
			}
			namespace, readErr := o.admin.Client.CoreV1().Namespaces().Get(t.Context(), o.inputs.Namespace, metav1.GetOptions{})
			if readErr != nil || namespace.DeletionTimestamp != nil || !o.there(o.widgets, o.team, "plain") {
				t.Fatalf("something was deleted: %v\n%s", readErr, o.story())
			}
			result, err = o.engine().Check(t.Context(), o.book(), engine.Options{})
			o.must(err)
			says := strings.ReplaceAll(test.says, "KEPT", o.inputs.Namespace)
			if result.Outcome != runbook.NeedsAttention || !strings.Contains(result.Reason, says) {
				t.Errorf("the check ended %s: %s; want %q", result.Outcome, result.Reason, says)
			}
		})
	}
}

// TestOrdinaryObjectsAreNoJournal: neither who manages them nor a name that resembles a key's makes them one.
func TestOrdinaryObjectsAreNoJournal(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.configMap(o.namespace, "journal-key-of-another-kind")
	o.secret(o.namespace, "journal", map[string]string{"app.kubernetes.io/managed-by": "Helm"})
	result, err := o.engine().Check(t.Context(), o.book(), engine.Options{})
	o.must(err)
	if finding := findingOf(result, "namespace-expendable"); finding.Answer != runbook.AnswerHolds {
		t.Errorf("namespace-expendable %s: %s", finding.Answer, finding.Reason)
	}
}

// TestJournalThatMayNotBeListedIsUnknown: who may not list one of what a journal consists of can't tell whether the
// namespace holds one.
func TestJournalThatMayNotBeListedIsUnknown(t *testing.T) {
	t.Parallel()
	for _, hidden := range []string{"configmaps", "secrets", "leases"} {
		t.Run(hidden, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			o.widget("plain")
			o.as("no-"+hidden, func(role *rbacv1.ClusterRole) {
				for i := range role.Rules {
					rule := &role.Rules[i]
					if slices.Equal(rule.APIGroups, []string{"*"}) {
						rule.Resources = []string{
							"configmaps", "secrets", "leases", "namespaces", "pods", "customresourcedefinitions", "widgets",
							"apiservices", "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "deployments", "statefulsets",
							"daemonsets", "jobs", "cronjobs", "clusterroles", "clusterrolebindings", "rolebindings",
						}
					}
					if rule.Resources = without(rule.Resources, hidden); len(rule.Resources) == 0 {
						rule.Resources = []string{"nothing"}
					}
				}
			})
			result, err := o.engine().Check(t.Context(), o.book(), engine.Options{})
			o.must(err)
			o.ends(result, runbook.Undecided)
			if !strings.Contains(result.Reason, "listing "+hidden) || !strings.Contains(result.Reason, "forbidden") {
				t.Errorf("the reason is %s", result.Reason)
			}
			if finding := findingOf(result, "namespace-expendable"); finding.Answer == runbook.AnswerHolds {
				t.Errorf("namespace-expendable holds: %s", finding.Reason)
			}
		})
	}
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(each string) bool { return each == one })
}

// TestDefaultJournalsAreThoseOfTheJournal: they are written down twice, as a runbook knows no journal.
func TestDefaultJournalsAreThoseOfTheJournal(t *testing.T) {
	if got, want := cleanup.JournalNamespaces(), configmap.Namespaces(""); !slices.Equal(got, want) {
		t.Errorf("namespaces %q, want %q", got, want)
	}
}

func findingOf(result engine.Result, guard string) runbook.Finding {
	for _, finding := range result.Findings {
		if finding.Guard == guard {
			return finding
		}
	}
	return runbook.Finding{Reason: "it was not asked"}
}

func (o *operator) secret(namespace, name string, labels map[string]string) {
	o.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	_, err := o.admin.Client.CoreV1().Secrets(namespace).Create(o.Context(), secret, metav1.CreateOptions{})
	o.must(err)
}
