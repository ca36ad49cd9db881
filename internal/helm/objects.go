package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"salve/kube"
)

// Objects are those of a manifest, by kind, namespace and name.
func Objects(manifest string) (map[string]*unstructured.Unstructured, error) {
	objects := map[string]*unstructured.Unstructured{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), 4096)
	for {
		var content map[string]any
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, errors.New("a manifest is no YAML") // Its own words may show the manifest.
		}
		if len(content) > 0 {
			object := &unstructured.Unstructured{Object: content}
			objects[called(object)] = object
		}
	}
}

func called(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + " " + object.GetName()
	}
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// NotReady names what a manifest has and the cluster has not, or not ready, with the reason; none where all is ready.
func (c *Client) NotReady(ctx context.Context, manifest string) (lacking []string, count int, err error) {
	err = c.Cluster.Read(ctx, "reading what the release has made", func(ctx context.Context) error {
		config, err := c.configuration(ctx)
		if err != nil {
			return err
		}
		lacking = nil
		list, err := config.KubeClient.Build(bytes.NewBufferString(manifest), false)
		if err != nil {
			return err
		}
		count = len(list)
		for _, info := range list {
			name := fmt.Sprintf("%s %s", info.Mapping.GroupVersionKind.Kind, info.Name)
			err := kube.Classify(info.Get())
			if kube.IsNotFound(err) {
				lacking = append(lacking, name+" is not there")
				continue
			}
			if err != nil {
				return err
			}
			if why := unready(info.Object); why != "" {
				lacking = append(lacking, name+" "+why)
			}
		}
		return nil
	})
	return lacking, count, err
}

// unready says why an object is not ready, by the rules that Helm waits by; empty when it is.
func unready(object any) string {
	there, ok := object.(*unstructured.Unstructured)
	if !ok {
		return ""
	}
	result, err := status.Compute(there)
	switch {
	case err != nil:
		return "has no status that can be read"
	case result.Status != status.CurrentStatus:
		return fmt.Sprintf("is %s: %s", result.Status, result.Message)
	}
	return ""
}
