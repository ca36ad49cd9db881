package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"salve/pace"
	"salve/runbook"
)

var (
	validatingHooks = hookResource("validatingwebhookconfigurations", "ValidatingWebhookConfiguration")
	mutatingHooks   = hookResource("mutatingwebhookconfigurations", "MutatingWebhookConfiguration")
	apiServices     = Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}, Kind: "APIService",
	}
)

func hookResource(plural, kind string) Resource {
	return Resource{GroupVersionResource: schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: plural}, Kind: kind}
}

// Hook is an object by which the API server calls into a namespace: a webhook
// configuration, or an APIService. When nobody answers there, it holds up what has
// nothing to do with it.
type Hook struct {
	Object
	// Serves is the API group of an APIService.
	Serves string
	// webhooks are the places of those that point into the namespace, where others
	// of the same configuration don't; all go otherwise.
	webhooks []int
	version  string
}

// String names the hook, and how much of it is meant.
func (h Hook) String() string {
	if len(h.webhooks) > 0 {
		return fmt.Sprintf("%s of %s", count(len(h.webhooks), "webhook"), h.Object)
	}
	return h.Object.String()
}

// Hooks lists what points into a namespace.
func (c *Cluster) Hooks(ctx context.Context, namespace string) ([]Hook, error) {
	var all []Hook
	for _, resource := range []Resource{validatingHooks, mutatingHooks, apiServices} {
		list := func(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
			return c.Dynamic.Resource(resource.GroupVersionResource).List(ctx, options)
		}
		err := eachPage(ctx, c, "listing "+resource.String(), metav1.ListOptions{Limit: wholePage}, list, func(page *unstructured.UnstructuredList) error {
			for i := range page.Items {
				if hook, into := hookOf(resource, &page.Items[i], namespace); into {
					all = append(all, hook)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// hookOf is false for an object that does not point into the namespace.
func hookOf(resource Resource, found *unstructured.Unstructured, namespace string) (Hook, bool) {
	hook := Hook{Object: objectOf(resource, found), version: found.GetResourceVersion()}
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

// RemoveHook deletes a hook, or takes those webhooks out of a configuration that
// point into the namespace.
func (c *Cluster) RemoveHook(ctx context.Context, permit runbook.Permit, hook Hook) error {
	if len(hook.webhooks) == 0 {
		return c.Delete(ctx, permit, hook.Object)
	}
	// The version that was read is written back: the API server refuses the patch,
	// as a conflict, when the configuration has another one by now.
	changes := []map[string]any{{"op": "replace", "path": "/metadata/resourceVersion", "value": hook.version}}
	for _, at := range slices.Backward(hook.webhooks) {
		changes = append(changes, map[string]any{"op": "remove", "path": fmt.Sprintf("/webhooks/%d", at)})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	if err := permit.Authorize(ctx); err != nil {
		return err
	}
	err = classify(pace.Once(ctx, c.Clock, func(ctx context.Context) error {
		_, err := c.Metadata.Resource(hook.Resource.GroupVersionResource).Patch(ctx, hook.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "salve"})
		return err
	}))
	if err == nil || IsMissing(err) {
		return nil
	}
	return fmt.Errorf("removing %s: %w", hook, err)
}
