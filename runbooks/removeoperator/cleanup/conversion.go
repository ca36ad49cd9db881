package cleanup

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/backoff"
	"salve/kube"
	"salve/runbook"
)

// noConversion makes the API server give objects as they are stored, under the
// version that is asked for.
func noConversion() map[string]any { return map[string]any{"strategy": "None"} }

// conversionsNote keeps the conversions that definitions had before a run dropped
// them, by UID.
const conversionsNote = "conversions"

// conversionOf is how the API server converts a definition's objects; nil unless a
// service of the namespace does it. When nobody answers there, objects that are
// stored in another version can neither be read nor deleted.
func conversionOf(raw *unstructured.Unstructured, namespace string) map[string]any {
	conversion, _, _ := unstructured.NestedMap(raw.Object, "spec", "conversion")
	webhook, _, _ := unstructured.NestedMap(conversion, "webhook")
	if !pointsInto(webhook, namespace) {
		return nil
	}
	return conversion
}

// DropConversions makes the API server stop calling the operator for the objects of
// definitions, and notes in a run how they were converted.
func (o *Operator) DropConversions(ctx context.Context, run runbook.Run, of []Definition) error {
	had := map[types.UID]map[string]any{}
	if _, err := run.Recall(conversionsNote, &had); err != nil {
		return err
	}
	for _, definition := range of {
		if definition.conversion != nil {
			had[definition.UID] = definition.conversion
		}
	}
	if err := run.Note(ctx, conversionsNote, had); err != nil {
		return err
	}
	dropped := 0
	for _, definition := range of {
		if definition.conversion == nil {
			continue
		}
		if err := o.convert(ctx, definition, noConversion()); err != nil {
			return partly(dropped, "changed", err)
		}
		dropped++
	}
	return nil
}

// ConvertedAgain observes how many definitions still lack a conversion that a run has
// dropped.
func (o *Operator) ConvertedAgain(ctx context.Context, run runbook.Run) runbook.Observation {
	dropped, _, err := o.droppedBy(ctx, run)
	if err != nil {
		return runbook.NotObserved(err)
	}
	return Part{All: len(dropped)}.Observation()
}

// ConvertAgain gives definitions the conversions back that a run has dropped.
func (o *Operator) ConvertAgain(ctx context.Context, run runbook.Run) error {
	dropped, had, err := o.droppedBy(ctx, run)
	if err != nil {
		return err
	}
	for _, definition := range dropped {
		if err := o.convert(ctx, definition, had[definition.UID]); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operator) droppedBy(
	ctx context.Context, run runbook.Run,
) (dropped []Definition, had map[types.UID]map[string]any, _ error) {
	if _, err := run.Recall(conversionsNote, &had); err != nil || len(had) == 0 {
		return nil, nil, err
	}
	for uid, how := range had {
		webhook, _, _ := unstructured.NestedMap(how, "webhook")
		if how["strategy"] != "Webhook" || !pointsInto(webhook, o.Namespace) {
			what := fmt.Sprintf("a conversion of CRD %q outside of namespace %s", uid, o.Namespace)
			return nil, nil, &ForeignError{what, "the run's record"}
		}
	}
	all, err := o.Definitions(ctx)
	for _, definition := range all {
		if _, ours := had[definition.UID]; ours && definition.conversion == nil {
			dropped = append(dropped, definition)
		}
	}
	return dropped, had, err
}

// convert changes how the objects of the very definition are converted, if it still
// is as it was read. One that is gone is no error.
func (o *Operator) convert(ctx context.Context, definition Definition, how map[string]any) error {
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": definition.UID},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": definition.version},
		{"op": "replace", "path": "/spec/conversion", "value": how},
	})
	if err != nil {
		return err
	}
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	err = kube.Classify(backoff.Once(ctx, o.Clock, func(ctx context.Context) error {
		_, err := o.Metadata.Resource(definitions.GroupVersionResource).
			Patch(ctx, definition.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "salve"})
		return err
	}))
	if err == nil || kube.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("changing the conversion of %s: %w", definition.Object, err)
}
