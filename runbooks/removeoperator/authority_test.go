package removeoperator_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"salve/kube"
	"salve/runbook"
	"salve/runbooks/removeoperator"
	"salve/runbooks/removeoperator/cleanup"
)

// forged is what a record says of a run's bundle, and the bundle itself.
type forged struct {
	note  cleanup.Bundle
	lines []string
}

// exportedAs is a line of a bundle.
func exportedAs(role, apiVersion, kind, namespace, name, more string) string {
	place := `"name":"` + name + `"`
	if namespace != "" {
		place += `,"namespace":"` + namespace + `"`
	}
	return `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":{` + place +
		`,"annotations":{"salve-exported-uid":"uid-of-` + name + `","salve-exported-as":"` + role + `"}}` + more + `}`
}

func definitionOf(name, group, plural, kind string) string {
	return exportedAs("definition", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name,
		`,"spec":{"group":"`+group+`","scope":"Namespaced","names":{"plural":"`+plural+`","kind":"`+kind+`"},"versions":[{"name":"v1","served":true,"storage":true}]}`)
}

// kept puts the bundle into the exports of a run, and into its notes counts, a size and a digest that fit.
func (f forged) kept(t *testing.T) memory {
	t.Helper()
	var content bytes.Buffer
	zipped := gzip.NewWriter(&content)
	if _, err := zipped.Write([]byte(strings.Join(f.lines, "\n") + "\n")); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content.Bytes())
	f.note.SHA256, f.note.Bytes = hex.EncodeToString(sum[:]), int64(content.Len())
	for _, line := range f.lines {
		switch {
		case strings.Contains(line, `"salve-exported-as":"definition"`):
			f.note.Definitions++
		case strings.Contains(line, `"salve-exported-as":"object"`):
			f.note.Objects++
		default:
			f.note.Others++
		}
	}
	run := newMemory()
	err := errors.Join(run.Note(t.Context(), "bundle", f.note), run.Export(t.Context(), "bundle-0", content.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestRecordIsMemoryNeverAuthority: whatever a record names that the run was not asked to touch, every deletion is
// refused, and an operator is told what it was.
func TestRecordIsMemoryNeverAuthority(t *testing.T) {
	own := forged{
		note: cleanup.Bundle{Namespace: "operator-system", NamespaceUID: "uid-of-operator-system"},
		lines: []string{
			definitionOf("widgets.example.io", "example.io", "widgets", "Widget"),
			exportedAs("namespace", "v1", "Namespace", "", "operator-system", ""),
			exportedAs("owned", "apps/v1", "Deployment", "operator-system", "operator", ""),
			exportedAs("hook", "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "operator", ""),
			exportedAs("content", "v1", "Secret", "operator-system", "certificate", ""),
			exportedAs("object", "example.io/v1", "Widget", "team", "first", ""),
		},
	}
	with := func(line string) func(*forged) { return func(f *forged) { f.lines = append(f.lines, line) } }
	for name, row := range map[string]struct {
		forge func(*forged)
		says  string // empty: it is the operator's
	}{
		"nothing is forged":            {forge: func(*forged) {}},
		"another namespace":            {forge: func(f *forged) { f.note.Namespace = "kube-system" }, says: `namespace "kube-system"`},
		"a namespace without identity": {forge: func(f *forged) { f.note.NamespaceUID = types.UID("") }, says: `namespace "operator-system" with UID ""`},
		"another file":                 {forge: func(f *forged) { f.note.File = "/etc/shadow" }, says: `file "/etc/shadow"`},
		"a CRD of another group": {forge: with(definitionOf("nodes.other.io", "other.io", "nodes", "Node")),
			says: "nodes.other.io"},
		"a CRD whose name hides its group": {forge: with(definitionOf("nodes.example.io", "other.io", "nodes", "Node")), says: `defines "nodes.other.io"`},
		"an object of another group": {forge: with(exportedAs("object", "apps/v1", "Deployment", "prod", "shop", "")),
			says: "Deployment.apps shop"},
		"an object without its CRD": {forge: with(exportedAs("object", "sub.example.io/v1", "Gadget", "", "wide", "")),
			says: "Gadget.sub.example.io wide"},
		"an object of no namespace": {forge: with(exportedAs("object", "example.io/v1", "Widget", "", "everywhere", "")),
			says: "everywhere"},
		"a Deployment as a hook": {forge: with(exportedAs("hook", "apps/v1", "Deployment", "prod", "shop", "")),
			says: "shop"},
		"a Secret as the operator's own": {forge: with(exportedAs("owned", "v1", "Secret", "prod", "keys", "")),
			says: "Secret keys"},
		"content of another namespace": {forge: with(exportedAs("content", "v1", "Secret", "prod", "keys", "")),
			says: "keys"},
		"another namespace in the bundle": {forge: with(exportedAs("namespace", "v1", "Namespace", "", "prod", "")),
			says: "namespaces prod"},
		"a role that nobody has": {forge: with(exportedAs("root", "apps/v1", "Deployment", "prod", "shop", "")),
			says: "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			f := own
			f.lines = append([]string{}, own.lines...)
			row.forge(&f)
			in := removeoperator.Defaults()
			in.Group, in.Namespace = "example.io", "operator-system"
			book, err := removeoperator.New(removeoperator.World{
				Cluster: &kube.Cluster{Clock: clock.RealClock{}}, ClusterID: "test",
			}, in)
			if err != nil {
				t.Fatal(err)
			}
			run, asked := f.kept(t), 0
			for _, step := range book.Steps {
				if !step.Irreversible {
					continue
				}
				asked++
				finding := bundleKept(t, step).Evaluate(t.Context(), run)
				switch {
				case row.says == "" && finding.Answer != runbook.AnswerHolds:
					t.Errorf("%s: %s: %s", step.Name, finding.Answer, finding.Reason)
				case row.says != "" && (finding.Passes() || !strings.Contains(finding.Reason, row.says)):
					t.Errorf("%s: %s: %s, want something about %s", step.Name, finding.Answer, finding.Reason, row.says)
				case row.says != "" && finding.Answer == runbook.AnswerDoesNotHold && finding.Outcome != runbook.NeedsAttention:
					t.Errorf("%s ends %s", step.Name, finding.Outcome)
				}
			}
			if asked < 7 {
				t.Errorf("%d steps delete something", asked)
			}
		})
	}
}

// bundleKept is the condition of a step.
func bundleKept(t *testing.T, step runbook.Step) runbook.Guard {
	t.Helper()
	for _, condition := range step.Preconditions {
		if condition.Name == "bundle-kept" {
			return condition
		}
	}
	t.Fatalf("step %s removes without asking for the bundle", step.Name)
	return runbook.Guard{}
}

// TestBundleFileIsThatOfTheInputs: a run with a file reads no other, and no export.
func TestBundleFileIsThatOfTheInputs(t *testing.T) {
	o := &cleanup.Operator{Group: "example.io", Namespace: "operator-system", Bundle: "/backups/leftovers.json.gz"}
	for _, file := range []string{"", "/etc/shadow", "leftovers.json.gz"} {
		_, err := o.ReadBackup(t.Context(), forged{note: cleanup.Bundle{File: file}}.kept(t))
		if err == nil || !strings.Contains(err.Error(), "was not asked to touch") {
			t.Errorf("file %q: %v", file, err)
		}
	}
}

// TestDamagedBundleIsNotBelieved, whatever is damaged.
func TestDamagedBundleIsNotBelieved(t *testing.T) {
	o := &cleanup.Operator{Group: "example.io", Namespace: "operator-system"}
	line := definitionOf("widgets.example.io", "example.io", "widgets", "Widget")
	for name, damage := range map[string]func(memory){
		"another digest": func(run memory) {
			run.notes["bundle"] = bytes.Replace(run.notes["bundle"], []byte(`"sha256":"`), []byte(`"sha256":"0`), 1)
		},
		"another count": func(run memory) {
			run.notes["bundle"] = bytes.Replace(run.notes["bundle"], []byte(`"definitions":1`), []byte(`"definitions":2`), 1)
		},
		"cut short": func(run memory) {
			run.exports["bundle-0"] = run.exports["bundle-0"][:len(run.exports["bundle-0"])/2]
		},
		"lost": func(run memory) { delete(run.exports, "bundle-0") },
		"another size": func(run memory) {
			run.notes["bundle"] = bytes.Replace(run.notes["bundle"], []byte(`"bytes":`), []byte(`"bytes":1`), 1)
		},
		"more than a run exports": func(run memory) {
			run.notes["bundle"] = bytes.Replace(run.notes["bundle"], []byte(`"bytes":`), []byte(`"bytes":9999999`), 1)
		},
	} {
		run := forged{lines: []string{line}}.kept(t)
		if _, err := o.ReadBackup(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		damage(run)
		if _, err := o.ReadBackup(t.Context(), run); err == nil {
			t.Errorf("%s: it was believed", name)
		}
	}
}
