package removeoperator_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
	"salve/runbooks/removeoperator/cleanup"
)

// TestABundleIsRestoredByKubectl, out of the journal and out of a file: every object
// is there again as it was.
func TestABundleIsRestoredByKubectl(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"from the journal": "", "from a file": "bundle.json.gz"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			if file != "" {
				o.inputs.Bundle = filepath.Join(t.TempDir(), file)
			}
			parent := o.gadget("parent")
			o.widget("child", ownedBy(parent), func(object *unstructured.Unstructured) {
				object.SetLabels(map[string]string{"tier": "one"})
				object.Object["spec"] = map[string]any{
					"kind": "CustomResourceDefinition", "text": "a <&> b\n\u2028",
					"big": strings.Repeat("x", 2000), "list": []any{int64(1), "two", 3.5},
				}
			})
			o.widget("stuck", held(o.finalizer()))
			want := o.specs()
			result := o.run()
			o.ends(result, runbook.Remediated)
			o.removed()
			o.restore(o.bundleOf(result.Run))
			if got := o.specs(); got != want {
				t.Errorf("restored:\n%s\nwas:\n%s", got, want)
			}
			restored, err := o.admin.Dynamic.Resource(o.widgets).Namespace(o.team).Get(t.Context(), "child", metav1.GetOptions{})
			o.must(err)
			if len(restored.GetOwnerReferences()) > 0 ||
				!strings.Contains(restored.GetAnnotations()["salve-exported-owners"], string(parent.GetUID())) {
				t.Errorf("owners %v, annotations %v", restored.GetOwnerReferences(), restored.GetAnnotations())
			}
		})
	}
}

// specs are all objects by what matters of them.
func (o *operator) specs() string {
	o.Helper()
	var all []any
	for _, resource := range []string{"widgets", "gadgets"} {
		served := o.widgets
		if resource == "gadgets" {
			served = o.gadgets
		}
		list, err := o.admin.Dynamic.Resource(served).List(o.Context(), metav1.ListOptions{})
		o.must(err)
		for _, item := range list.Items {
			all = append(all, []any{
				item.GetKind(), item.GetNamespace(), item.GetName(), item.GetLabels(), item.GetFinalizers(), item.Object["spec"],
			})
		}
	}
	raw, err := json.Marshal(all)
	o.must(err)
	return string(raw)
}

// bundleOf reads the bundle of a run from where it is kept.
func (o *operator) bundleOf(run string) []byte {
	o.Helper()
	if o.inputs.Bundle != "" {
		raw, err := os.ReadFile(o.inputs.Bundle)
		o.must(err)
		return raw
	}
	record, err := journal.Load(o.Context(), o.journal, run)
	o.must(err)
	content, err := record.ReadExport(o.Context(), "bundle-0")
	o.must(err)
	return content
}

// restore does what the documentation says: the CRDs first.
func (o *operator) restore(content []byte) {
	o.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	o.must(err)
	raw, err := io.ReadAll(unzipped)
	o.must(err)
	var definitions, objects []string
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, `{"apiVersion":"apiextensions.k8s.io/`) {
			definitions = append(definitions, line)
		} else {
			objects = append(objects, line)
		}
	}
	if len(definitions) != 2 {
		o.Fatalf("%d definitions in the bundle", len(definitions))
	}
	kubectl := func(input string, arguments ...string) {
		command := exec.CommandContext(o.Context(), o.plane.Program("kubectl"),
			append([]string{"--kubeconfig", o.plane.Kubeconfig()}, arguments...)...)
		command.Stdin = strings.NewReader(input)
		if said, err := command.CombinedOutput(); err != nil {
			o.Fatalf("kubectl %s: %v: %s", strings.Join(arguments, " "), err, said)
		}
	}
	kubectl(strings.Join(definitions, ""), "apply", "-f", "-")
	kubectl(strings.Join(definitions, ""), "wait", "--for=condition=Established", "--timeout=60s", "-f", "-")
	o.eventually("the restored CRDs are served", func(ctx context.Context) bool {
		_, widgets := o.admin.Dynamic.Resource(o.widgets).List(ctx, metav1.ListOptions{})
		_, gadgets := o.admin.Dynamic.Resource(o.gadgets).List(ctx, metav1.ListOptions{})
		return widgets == nil && gadgets == nil
	})
	kubectl(strings.Join(objects, ""), "apply", "-f", "-")
}

// big makes objects that no gzip makes small.
func (o *operator) big(n, size int) {
	o.Helper()
	for i := range n {
		noise := make([]byte, size)
		_, _ = rand.Read(noise)
		o.widget("big-"+string(rune('a'+i)), func(object *unstructured.Unstructured) {
			object.Object["spec"] = map[string]any{"noise": base64.StdEncoding.EncodeToString(noise)}
		})
	}
}

// TestRecordNeverHoldsTheBundle, whatever it is kept in, however large it is.
func TestRecordNeverHoldsTheBundle(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"in the exports": "", "in a file": "bundle.json.gz"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := retired(t)
			if file != "" {
				o.inputs.Bundle = filepath.Join(t.TempDir(), file)
			}
			o.big(6, 256<<10)
			o.widget("password", func(object *unstructured.Unstructured) {
				object.Object["spec"] = map[string]any{"login": "hunter2"}
			})
			result := o.run()
			o.ends(result, runbook.Remediated)
			if content := o.bundleOf(result.Run); len(content) < 1<<20 || !o.contents(content)["widget "+o.team+"/password"] {
				t.Errorf("a bundle of %d bytes", len(content))
			}
			record, err := journal.Load(t.Context(), o.journal, result.Run)
			o.must(err)
			for _, entry := range record.Entries {
				if len(entry.Data) > 64<<10 || bytes.Contains(entry.Data, []byte("hunter2")) {
					t.Errorf("an entry of %d bytes in the record: %.100s", len(entry.Data), entry.Data)
				}
			}
		})
	}
}

// TestStoppedOperatorIsStartedAgain when its objects can't be exported.
func TestStoppedOperatorIsStartedAgain(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.deployment(1)
	o.inputs.StopOperator = true
	o.widget("plain")
	o.inputs.Bundle = filepath.Join(t.TempDir(), "bundle.json.gz")
	o.must(os.WriteFile(o.inputs.Bundle, []byte("mine"), 0o600))
	o.ends(o.run(), runbook.Failed)
	if !o.there(o.widgets, o.team, "plain") {
		t.Error("an object was deleted that was not exported")
	}
	started, err := o.admin.Client.AppsV1().Deployments(o.namespace).Get(t.Context(), "operator", metav1.GetOptions{})
	if err != nil || *started.Spec.Replicas != 1 {
		t.Errorf("the operator was not started again: %v\n%s", err, o.story())
	}
}

// TestABundleOverwritesNothing: a file that is there is somebody's.
func TestABundleOverwritesNothing(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.widget("plain")
	o.inputs.Bundle = filepath.Join(t.TempDir(), "bundle.json.gz")
	o.must(os.WriteFile(o.inputs.Bundle, []byte("mine"), 0o600))
	result := o.run()
	o.ends(result, runbook.Failed)
	if kept, err := os.ReadFile(o.inputs.Bundle); err != nil || string(kept) != "mine" ||
		!strings.Contains(result.Reason, "conflict: file") {
		t.Errorf("%q, %v: %s", kept, err, result.Reason)
	}
}

// TestWithoutItsBundleARunDeletesNothing: the file is damaged between the export and
// the first deletion.
func TestWithoutItsBundleARunDeletesNothing(t *testing.T) {
	t.Parallel()
	o := retired(t)
	o.big(3, 256<<10)
	o.inputs.Bundle = filepath.Join(t.TempDir(), "bundle.json.gz")
	o.when(engine.StepEnded, "export", func() {
		raw, err := os.ReadFile(o.inputs.Bundle)
		o.must(err)
		o.must(os.WriteFile(o.inputs.Bundle, raw[:len(raw)/2], 0o600))
	})
	o.ends(o.run(), runbook.Undecided)
	if !o.there(o.widgets, o.team, "big-a") {
		t.Error("an object was deleted that can't be restored")
	}
}

// TestAnExportIsBegunAnewWhenItsListGrewTooOld, and holds each object once.
func TestAnExportIsBegunAnewWhenItsListGrewTooOld(t *testing.T) {
	t.Parallel()
	o := retired(t)
	for i := range 130 { // more than a page
		o.widget("w-" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
	}
	hands := &expiring{path: o.widgets.Group}
	o.cluster = o.through(hands.pass)
	retired := &cleanup.Operator{Cluster: o.cluster, Group: o.group, Namespace: o.namespace}
	left, err := retired.ReadState(t.Context())
	o.must(err)
	kept := newMemory()
	o.must(retired.Backup(t.Context(), kept, left))
	bundle, err := retired.ReadBackup(t.Context(), kept)
	o.must(err)
	seen := map[string]int{}
	o.must(bundle.Each(func(entry cleanup.Entry) error { seen[entry.String()]++; return nil }))
	if hands.refused.Load() == 0 || bundle.Objects != 130 || len(seen) < 131 {
		t.Errorf("refused %d times, %d objects, %d different", hands.refused.Load(), bundle.Objects, len(seen))
	}
}
