package prowtest

import (
	"context"
	_ "embed" // for definition.yaml
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

//go:embed definition.yaml
var definition []byte

// Resource is the resource of ProwJobs.
func Resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}
}

// Define makes the kind ProwJob known to a control plane, and waits until its objects can be listed: a Prow that
// starts before ends. A kind that is known already is left as it is.
func Define(ctx context.Context, client dynamic.Interface) error {
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(definition, &crd.Object); err != nil {
		return fmt.Errorf("reading the definition of ProwJobs: %w", err)
	}
	definitions := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	if _, err := definitions.Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("defining ProwJobs: %w", err)
	}
	return Until(ctx, "ProwJobs are served", func(ctx context.Context) error {
		found, err := definitions.Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !established(found) {
			return fmt.Errorf("definition %s is not established", crd.GetName())
		}
		_, err = client.Resource(Resource()).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok && fields["type"] == "Established" {
			return fields["status"] == "True"
		}
	}
	return false
}

// lookEvery is the pause between two looks at what is waited for.
const lookEvery = 100 * time.Millisecond

// Until looks again and again until holds gives no error. When ctx ends first, the last one is in its own.
func Until(ctx context.Context, what string, holds func(context.Context) error) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		err := holds(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w (%w)", what, err, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}
