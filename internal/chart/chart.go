package chart

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Release is a release of the chart.
type Release struct {
	// Folder is where the chart lies.
	Folder          string
	Name, Namespace string
	Values          map[string]any
}

// Objects are those that the release consists of, in the order in which they can be applied. The values are checked
// against the chart's schema.
func (r Release) Objects() ([]*unstructured.Unstructured, error) {
	loaded, err := loader.LoadDir(r.Folder)
	if err != nil {
		return nil, fmt.Errorf("loading chart %s: %w", r.Folder, err)
	}
	options := common.ReleaseOptions{Name: r.Name, Namespace: r.Namespace, Revision: 1, IsInstall: true}
	values, err := util.ToRenderValues(loaded, r.Values, options, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("values of release %s: %w", r.Name, err)
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		return nil, fmt.Errorf("rendering release %s: %w", r.Name, err)
	}
	var objects []*unstructured.Unstructured
	for name, content := range files {
		if path.Ext(name) != ".yaml" {
			continue // notes
		}
		found, err := decode(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, found...)
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.GetKind(), b.GetKind()),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return objects, nil
}

func decode(content string) (objects []*unstructured.Unstructured, err error) {
	for documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(content), 4096); ; {
		object := &unstructured.Unstructured{}
		switch err := documents.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// rank orders what others need before those others.
func rank(object *unstructured.Unstructured) int {
	order := []string{"Namespace", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"}
	if i := slices.Index(order, object.GetKind()); i >= 0 {
		return i
	}
	return len(order)
}
