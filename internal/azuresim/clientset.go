package azuresim

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// newClientset is client-go's fake clientset with all its calls led to the World. The clientset's own lock is let go while
// the World works, so that calls run side by side and the test hook may make calls itself.
func newClientset(w *World) *fake.Clientset {
	clientset := fake.NewSimpleClientset()
	clientset.Resources = discoverable()
	tracker := clienttesting.ObjectReaction(w.kube)
	clientset.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		clientset.Unlock()
		defer clientset.Lock()
		object, err := w.serveKubernetes(action, func() (runtime.Object, error) { return w.kube.react(action, tracker) })
		return true, object, err
	})
	clientset.PrependWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		clientset.Unlock()
		defer clientset.Lock()
		var watching watch.Interface
		_, err := w.serveKubernetes(action, func() (runtime.Object, error) {
			asked, ok := action.(clienttesting.WatchActionImpl)
			if !ok {
				return nil, apierrors.NewBadRequest(fmt.Sprintf("not a watch: %T", action))
			}
			var err error
			watching, err = w.kube.Watch(asked.GetResource(), asked.GetNamespace(), asked.ListOptions)
			return nil, err
		})
		if err != nil {
			return true, nil, err
		}
		return true, watching, nil
	})
	return clientset
}

// react executes what is not a watch. Pods end gracefully; everything else is the tracker's work.
func (c *controlPlane) react(action clienttesting.Action, tracker clienttesting.ReactionFunc) (runtime.Object, error) {
	resource := action.GetResource()
	switch action := action.(type) {
	case clienttesting.CreateActionImpl:
		if resource == pods && action.GetSubresource() == "eviction" {
			return action.GetObject(), c.evict(action.GetNamespace(), action.GetObject())
		}
	case clienttesting.DeleteActionImpl:
		if resource == pods {
			return nil, c.deletePod(action.GetNamespace(), action.GetName(), action.GetDeleteOptions())
		}
	case clienttesting.ActionImpl: // discovery
		return nil, nil
	}
	_, object, err := tracker(action)
	if mutates(action.GetVerb()) && err == nil {
		c.settle()
	}
	return object, err
}

func mutates(verb string) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "delete-collection"}, verb)
}

// serveKubernetes is the way of every Kubernetes call: recorded, asked about, judged by the faults, executed.
func (w *World) serveKubernetes(action clienttesting.Action, execute func() (runtime.Object, error)) (runtime.Object, error) {
	call := w.record(Call{
		API: apiKubernetes, Verb: action.GetVerb(), Resource: describe(action), Mutating: mutates(action.GetVerb()),
	})
	fate := w.ask(call)
	if fate == DropBefore {
		return nil, w.kubernetesNetworkError(call, false)
	}
	w.lock()
	judged := w.model.trouble.judge(call)
	var object runtime.Object
	err := refusalOf(judged, call)
	if err == nil {
		object, err = execute()
	}
	w.intrudeAfter(call)
	w.finish(call, statusOf(call, err))
	w.unlock()
	w.wait(context.Background(), judged.hang) // the fake clientset lets no context through
	if fate == DropAfter || judged.lost {
		return nil, w.kubernetesNetworkError(call, true)
	}
	return object, err
}

// describe is Call.Resource: "nodes/name", "pods/eviction ns/name", "pods ns" for a list of a namespace.
func describe(action clienttesting.Action) string {
	text := action.GetResource().Resource
	if action.GetSubresource() != "" {
		text += "/" + action.GetSubresource()
	}
	name := ""
	switch action := action.(type) {
	case interface{ GetName() string }:
		name = action.GetName()
	case interface{ GetObject() runtime.Object }:
		if object, err := meta.Accessor(action.GetObject()); err == nil {
			name = object.GetName()
		}
	}
	if creation, ok := action.(clienttesting.CreateActionImpl); ok {
		if object, err := meta.Accessor(creation.GetObject()); err == nil {
			name = object.GetName()
		}
	}
	switch {
	case action.GetNamespace() == "" && name == "":
		return text
	case action.GetNamespace() == "":
		return text + "/" + name
	case name == "":
		return text + " " + action.GetNamespace()
	}
	return text + " " + action.GetNamespace() + "/" + name
}

// refusalOf is a fault's verdict as an API server's error.
func refusalOf(v verdict, call Call) error {
	kind, _, _ := strings.Cut(call.Resource, " ")
	group := resource{Resource: kind}.GroupResource()
	switch {
	case v.status == 0:
		return nil
	case v.status == http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests("too many requests, please try again later", int(v.retryAfter.Seconds()))
	case v.status == http.StatusForbidden:
		return apierrors.NewForbidden(group, "", fmt.Errorf("the user has no permission"))
	}
	return apierrors.NewGenericServerResponse(v.status, call.Verb, group, "", "the server is having trouble", 0, true)
}

func statusOf(call Call, err error) int {
	if err == nil {
		if call.Verb == "create" {
			return http.StatusCreated
		}
		return http.StatusOK
	}
	if status, ok := err.(apierrors.APIStatus); ok {
		return int(status.Status().Code)
	}
	return http.StatusInternalServerError
}

// kubernetesNetworkError is what client-go returns when there is no answer.
func (w *World) kubernetesNetworkError(call Call, executed bool) error {
	method := map[string]string{"list": "Get", "get": "Get", "watch": "Get", "create": "Post", "update": "Put", "patch": "Patch"}[call.Verb]
	if method == "" {
		method = "Delete"
	}
	path := "/" + strings.ReplaceAll(call.Resource, " ", "/")
	return &url.Error{Op: method, URL: w.kubernetesServer() + path, Err: networkError(executed)}
}

// discoverable is as much of discovery as tells a client that pods can be evicted.
func discoverable() []*metav1.APIResourceList {
	return []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "nodes", Kind: "Node"},
			{Name: "pods", Kind: "Pod", Namespaced: true},
			{Name: "pods/eviction", Kind: "Eviction", Namespaced: true, Group: "policy", Version: "v1"},
		}},
		{GroupVersion: "policy/v1", APIResources: []metav1.APIResource{{Name: "poddisruptionbudgets", Kind: "PodDisruptionBudget", Namespaced: true}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "daemonsets", Kind: "DaemonSet", Namespaced: true}, {Name: "replicasets", Kind: "ReplicaSet", Namespaced: true},
		}},
	}
}
