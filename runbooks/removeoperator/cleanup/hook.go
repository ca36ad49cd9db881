package cleanup

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/backoff"
	"salve/kube"
	"salve/runbook"
)

// Hook is an object by which the API server calls into a namespace: a webhook
// configuration, or an APIService. When nobody answers there, it holds up what has
// nothing to do with it.
type Hook struct {
	kube.Object
	// Serves is the API group of an APIService.
	Serves string
	// webhooks are the places of those that point into the namespace, where others
	// of the same configuration don't; all go otherwise.
	webhooks []int
	version  string
}

// String names the hook, and how much of it is deleted.
func (h Hook) String() string {
	if len(h.webhooks) > 0 {
		return fmt.Sprintf("%s of %s", count(len(h.webhooks), "webhook"), h.Object)
	}
	return h.Object.String()
}

// hooks lists what points into the operator's namespace. Beside it are the API groups of all APIServices that point
// anywhere.
func (o *Operator) hooks(ctx context.Context) (all []Hook, aggregated map[string]bool, _ error) {
	aggregated = map[string]bool{}
	for _, resource := range []kube.Resource{validatingHooks, mutatingHooks, apiServices} {
		list := func(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
			return o.Dynamic.Resource(resource.GroupVersionResource).List(ctx, options)
		}
		err := kube.ListPages(ctx, o.Cluster, "listing "+resource.String(), metav1.ListOptions{Limit: wholePage}, list,
			func(page *unstructured.UnstructuredList) error {
				for i := range page.Items {
					found := &page.Items[i]
					if hook, into := hookOf(resource, found, o.Namespace); into {
						all = append(all, hook)
					}
					if _, service, _ := unstructured.NestedMap(found.Object, "spec", "service"); resource == apiServices && service {
						group, _, _ := unstructured.NestedString(found.Object, "spec", "group")
						aggregated[group] = true
					}
				}
				return nil
			})
		if err != nil {
			return nil, nil, err
		}
	}
	return all, aggregated, nil
}

// hookOf is false for an object that does not point into the namespace.
func hookOf(resource kube.Resource, found *unstructured.Unstructured, namespace string) (Hook, bool) {
	hook := Hook{Object: kube.ObjectOf(resource, found), version: found.GetResourceVersion()}
	if resource == apiServices {
		target, _, _ := unstructured.NestedString(found.Object, "spec", "service", "namespace")
		hook.Serves, _, _ = unstructured.NestedString(found.Object, "spec", "group")
		return hook, target == namespace
	}
	webhooks, _, _ := unstructured.NestedSlice(found.Object, "webhooks")
	for i, webhook := range webhooks {
		if fields, is := webhook.(map[string]any); is && pointsInto(fields, namespace) {
			hook.webhooks = append(hook.webhooks, i)
		}
	}
	into := len(hook.webhooks) > 0
	if len(hook.webhooks) == len(webhooks) {
		hook.webhooks = nil
	}
	return hook, into
}

// pointsInto tells whether a webhook calls a service of the namespace, by its name
// or by its address inside the cluster.
func pointsInto(webhook map[string]any, namespace string) bool {
	if target, named, _ := unstructured.NestedString(webhook, "clientConfig", "service", "namespace"); named {
		return target == namespace
	}
	address, _, _ := unstructured.NestedString(webhook, "clientConfig", "url")
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	labels := strings.Split(parsed.Hostname(), ".")
	return len(labels) > 2 && labels[1] == namespace && labels[2] == "svc"
}

// RemoveHooks removes what points into the operator's namespace and was exported.
func (o *Operator) RemoveHooks(ctx context.Context, run runbook.Run, now *Reading) error {
	exported, err := o.exported(ctx, run, notObject)
	if err != nil {
		return err
	}
	removed := 0
	for _, hook := range now.Hooks {
		if !exported[hook.UID] {
			continue
		}
		if err := o.removeHook(ctx, hook); err != nil {
			return partly(removed, "removed", err)
		}
		removed++
	}
	return nil
}

// removeHook deletes a hook, or takes those webhooks out of a configuration that
// point into the namespace.
func (o *Operator) removeHook(ctx context.Context, hook Hook) error {
	if len(hook.webhooks) == 0 {
		return o.deleteAsRead(ctx, hook.Object, hook.version)
	}
	// The version that was read is written back: the API server refuses the patch,
	// as a conflict, when the configuration has another one by now.
	changes := []map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": hook.UID},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": hook.version},
	}
	for _, at := range slices.Backward(hook.webhooks) {
		changes = append(changes, map[string]any{"op": "remove", "path": fmt.Sprintf("/webhooks/%d", at)})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	if err := runbook.PermitFrom(ctx).Authorize(ctx); err != nil {
		return err
	}
	err = kube.Classify(backoff.Once(ctx, o.Clock, func(ctx context.Context) error {
		_, err := o.Metadata.Resource(hook.Resource.GroupVersionResource).
			Patch(ctx, hook.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "salve"})
		return err
	}))
	if err == nil || kube.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("removing %s: %w", hook, err)
}
