package removeoperator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"salve/runbook"
)

// unconverted is an operator that converted the widgets: one is stored in a version
// that nobody can convert any more to the one that is stored now. Who lists all kinds
// of objects can't read them, so that this is not run beside other tests.
func unconverted(t *testing.T) *operator {
	t.Helper()
	o := retired(t)
	o.widget("old", held(o.finalizer()))
	o.patchCRD(`{"spec":{"versions":[` + version("v1alpha1", true) + `,` + version("v1", false) + `],"conversion":{"strategy":"Webhook","webhook":` +
		`{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"` + o.namespace + `","name":"gone","path":"/"}}}}}}`)
	t.Cleanup(func() { o.patchCRD(`{"spec":{"conversion":{"strategy":"None","webhook":null}}}`) })
	newest := o.widgets
	newest.Version = "v1alpha1"
	o.eventually("the widgets can't be read", func(ctx context.Context) bool {
		_, err := o.admin.Dynamic.Resource(newest).List(ctx, metav1.ListOptions{})
		return err != nil && strings.Contains(err.Error(), "conversion webhook")
	})
	return o
}

func version(name string, storage bool) string {
	return fmt.Sprintf(`{"name":%q,"served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`, name, storage)
}

func (o *operator) patchCRD(patch string) {
	ctx, cancel := o.afterwards()
	defer cancel()
	// one that is gone is gone
	_, _ = o.admin.Dynamic.Resource(crds).Patch(ctx, "widgets."+o.group, types.MergePatchType,
		[]byte(patch), metav1.PatchOptions{})
}

// TestWhatTheOperatorConvertedIsRemoved: its objects could be neither read nor deleted
// while the API server asks it to convert them.
func TestWhatTheOperatorConvertedIsRemoved(t *testing.T) {
	o := unconverted(t)
	planned := o.plan()
	if said := o.story(); planned.Plan == nil || !strings.Contains(said, "not all can be read of widgets."+o.group) {
		t.Errorf("the plan does not say what it can't read:\n%s", said)
	}
	result := o.run()
	o.ends(result, runbook.Remediated)
	o.removed()
	o.bundleOf(result.Run)
}

// TestWhoConvertedConvertsAgain when nothing could be exported.
func TestWhoConvertedConvertsAgain(t *testing.T) {
	o := unconverted(t)
	o.inputs.Bundle = filepath.Join(t.TempDir(), "bundle.json.gz")
	o.must(os.WriteFile(o.inputs.Bundle, []byte("mine"), 0o600))
	o.ends(o.run(), runbook.Failed)
	crd, err := o.admin.Dynamic.Resource(crds).Get(t.Context(), "widgets."+o.group, metav1.GetOptions{})
	o.must(err)
	if strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy"); strategy != "Webhook" {
		t.Errorf("objects are converted by %q", strategy)
	}
}
