package cleanup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"salve/internal/clock"
	"salve/internal/permit"
	"salve/kube"
)

// inMemory is as much of an API server as a clean-up asks, without a network, so that it runs on virtual time. It
// notes patches, and of those applies the ones that remove a finalizer.
type inMemory struct {
	// refuse refuses a request for good; nil refuses none.
	refuse func(*http.Request) bool
	// unserved is the path of a group and version that is not served any more.
	unserved string

	mu      sync.Mutex
	objects map[string]map[string]any // by their path
	asked   []string
	patches map[string]string // by their path
	watches []*io.PipeWriter
}

// served are the resources that there are, by the path of their group and version.
func served() map[string][]string {
	return map[string][]string{
		"/api/v1":                       {"ConfigMap", "Secret", "Pod", "Namespace", "Event"},
		"/apis/apps/v1":                 {"Deployment", "StatefulSet", "DaemonSet"},
		"/apis/batch/v1":                {"Job", "CronJob"},
		"/apis/coordination.k8s.io/v1":  {"Lease"},
		"/apis/apiextensions.k8s.io/v1": {"CustomResourceDefinition"},
		"/apis/admissionregistration.k8s.io/v1": {"ValidatingWebhookConfiguration",
			"MutatingWebhookConfiguration"},
		"/apis/apiregistration.k8s.io/v1":    {"APIService"},
		"/apis/rbac.authorization.k8s.io/v1": {"ClusterRole", "ClusterRoleBinding", "RoleBinding"},
		"/apis/example.io/v1":                {"Widget", "Gadget"},
	}
}

func clusterWide(kind string) bool {
	return slices.Contains([]string{"Namespace", "CustomResourceDefinition", "ValidatingWebhookConfiguration",
		"MutatingWebhookConfiguration", "APIService", "ClusterRole", "ClusterRoleBinding"}, kind)
}

// inCluster runs a test on virtual time, on what an operator of example.io has left in namespace op and elsewhere.
func inCluster(t *testing.T, test func(t *testing.T, ctx context.Context, m *inMemory, o *Operator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &inMemory{objects: map[string]map[string]any{}, patches: map[string]string{}}
		m.fill()
		config := &rest.Config{Host: "https://api.example", Transport: m, QPS: -1}
		config.ContentType = "application/json"
		cluster := &kube.Cluster{Clock: clock.Real{}}
		var err error
		if cluster.Client, err = kubernetes.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		if cluster.Dynamic, err = dynamic.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		if cluster.Metadata, err = metadata.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		granted := permit.Mint(permit.Terms{Expires: time.Now().Add(24 * time.Hour), Now: time.Now,
			Lease: func(context.Context) error { return nil }})
		o := &Operator{Cluster: cluster, Group: "example.io", Namespace: "op", Selectors: []string{"app=agent"}}
		test(t, permit.NewContext(t.Context(), granted), m, o)
	})
}

// put makes an object, with what of it is not metadata.
func (m *inMemory) put(version, kind, namespace, name string, rest map[string]any) map[string]any {
	about := map[string]any{"name": name, "uid": "uid-of-" + name, "resourceVersion": "7"}
	path := version + "/"
	if namespace != "" {
		about["namespace"] = namespace
		path += "namespaces/" + namespace + "/"
	}
	object := map[string]any{"metadata": about, "kind": kind,
		"apiVersion": strings.TrimPrefix(strings.TrimPrefix(version, "/apis/"), "/api/")}
	maps.Copy(object, rest)
	m.objects[path+plural(kind)+"/"+name] = object
	return about
}

func plural(kind string) string { return strings.ToLower(kind) + "s" }

func (m *inMemory) fill() {
	into := map[string]any{"clientConfig": map[string]any{"service": map[string]any{"namespace": "op", "name": "s"}}}
	elsewhere := map[string]any{"clientConfig": map[string]any{"url": "https://hook.example"}}
	crd := func(kind string, conversion map[string]any) map[string]any {
		spec := map[string]any{"group": "example.io", "scope": "Namespaced",
			"names":    map[string]any{"plural": plural(kind), "kind": kind},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true}}}
		if conversion != nil {
			spec["conversion"] = conversion
		}
		return m.put("/apis/apiextensions.k8s.io/v1", "CustomResourceDefinition", "", plural(kind)+".example.io",
			map[string]any{"spec": spec})
	}
	crd("Widget", map[string]any{"strategy": "Webhook", "webhook": into})
	held := func(about map[string]any) {
		about["deletionTimestamp"], about["finalizers"] = "2026-11-22T12:00:00Z", []any{"example.io/f"}
	}
	held(crd("Gadget", nil))
	m.put("/apis/example.io/v1", "Widget", "team", "a", nil)
	held(m.put("/apis/example.io/v1", "Widget", "team", "b", nil))
	owner := func(version, kind, name string) map[string]any {
		return map[string]any{"apiVersion": version, "kind": kind, "name": name, "uid": "uid-of-" + name}
	}
	m.put("/api/v1", "ConfigMap", "team", "child", nil)["ownerReferences"] = []any{
		owner("example.io/v1", "Widget", "a"), owner("v1", "Secret", "gone")}
	m.put("/apis/admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "whole",
		map[string]any{"webhooks": []any{into}})
	m.put("/apis/admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "part",
		map[string]any{"webhooks": []any{elsewhere, into, into}})
	m.put("/apis/apiregistration.k8s.io/v1", "APIService", "", "v1.stats.example.io", map[string]any{
		"spec": map[string]any{
			"group": "stats.example.io", "service": map[string]any{"namespace": "op", "name": "s"}},
	})
	m.put("/api/v1", "Namespace", "", "op", nil)
	m.put("/api/v1", "ConfigMap", "op", "config", nil)
	m.put("/apis/batch/v1", "CronJob", "op", "nightly", nil)
	m.put("/apis/coordination.k8s.io/v1", "Lease", "op", "leader", map[string]any{"spec": map[string]any{
		"holderIdentity": "me", "leaseDurationSeconds": 15}})
	workload := func(replicas int) map[string]any {
		return map[string]any{"spec": map[string]any{"replicas": replicas,
			"selector": map[string]any{"matchLabels": map[string]any{"part": "op"}}}}
	}
	m.put("/apis/apps/v1", "Deployment", "op", "manager", workload(0))
	m.put("/apis/apps/v1", "StatefulSet", "op", "store", workload(0))
	m.put("/apis/apps/v1", "Deployment", "team", "agent", workload(0))["labels"] = map[string]any{"app": "agent"}
	m.put("/apis/rbac.authorization.k8s.io/v1", "ClusterRole", "", "role", map[string]any{"rules": []any{
		map[string]any{"apiGroups": []any{"example.io"}, "verbs": []any{"*"}}}})
	subjects := map[string]any{"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": "op", "name": "s"}}}
	m.put("/apis/rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "binding", subjects)
	m.put("/apis/rbac.authorization.k8s.io/v1", "RoleBinding", "team", "right", subjects)
}

// requests are the different ones so far, each with its method, and whether it is for metadata alone.
func (m *inMemory) requests() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.asked)
	slices.Sort(all)
	return slices.Compact(all)
}

func (m *inMemory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = nil
}

func named(request *http.Request) string {
	what := "whole"
	switch {
	case request.URL.Query().Get("watch") != "":
		what = "watch"
	case metadataOnly(request):
		what = "metadata"
	}
	return request.Method + " " + what + " " + request.URL.Path
}

func metadataOnly(request *http.Request) bool {
	return strings.Contains(request.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// firstWatch is where what happens to the first watch is written.
func (m *inMemory) firstWatch() *io.PipeWriter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.watches[0]
}

func (m *inMemory) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := context.Cause(request.Context()); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, named(request))
	if m.refuse != nil && m.refuse(request) {
		return status(http.StatusForbidden, metav1.StatusReasonForbidden, nil), nil
	}
	path := request.URL.Path
	if m.unserved != "" && strings.HasPrefix(path, m.unserved) {
		response := answer(http.StatusNotFound, nil)
		response.Header.Set("Content-Type", "text/plain")
		response.Body = io.NopCloser(strings.NewReader("404 page not found"))
		return response, nil
	}
	if request.URL.Query().Get("watch") != "" {
		reader, writer := io.Pipe()
		m.watches = append(m.watches, writer)
		context.AfterFunc(request.Context(), func() { _ = writer.CloseWithError(context.Cause(request.Context())) })
		response := answer(http.StatusOK, nil)
		response.Body = reader
		return response, nil
	}
	if found := m.discovery(path); found != nil {
		return answer(http.StatusOK, found), nil
	}
	if kind, version := listed(path); kind != "" {
		return m.list(request, version, kind), nil
	}
	object := m.objects[strings.TrimSuffix(path, "/scale")]
	switch {
	case object == nil:
		at := strings.Split(path, "/")
		return status(http.StatusNotFound, metav1.StatusReasonNotFound,
			&metav1.StatusDetails{Name: at[len(at)-1], Kind: at[len(at)-2]}), nil
	case request.Method == http.MethodPatch:
		raw, err := io.ReadAll(request.Body)
		m.patches[path] = string(raw)
		if bytes.Contains(raw, []byte("/metadata/finalizers/0")) {
			delete(object["metadata"].(map[string]any), "finalizers")
		}
		return answer(http.StatusOK, asAsked(request, object)), err
	case request.Method == http.MethodDelete:
		delete(m.objects, path)
	}
	return answer(http.StatusOK, asAsked(request, object)), nil
}

func asAsked(request *http.Request, object map[string]any) map[string]any {
	if !metadataOnly(request) {
		return object
	}
	return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]}
}

func (m *inMemory) discovery(path string) any {
	if path == "/api" {
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	}
	if path == "/apis" {
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for version := range served() {
			if at, is := strings.CutPrefix(version, "/apis/"); is && version != m.unserved {
				only := metav1.GroupVersionForDiscovery{GroupVersion: at, Version: "v1"}
				list.Groups = append(list.Groups, metav1.APIGroup{Name: strings.TrimSuffix(at, "/v1"),
					Versions: []metav1.GroupVersionForDiscovery{only}, PreferredVersion: only})
			}
		}
		return list
	}
	kinds, is := served()[path]
	if !is {
		return nil
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: strings.TrimPrefix(strings.TrimPrefix(path, "/apis/"), "/api/")}
	for _, kind := range kinds {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: plural(kind), Kind: kind,
			Namespaced: !clusterWide(kind), Verbs: metav1.Verbs{"get", "list", "watch", "delete", "patch"}})
	}
	return list
}

// listed tells the kind of a path that is a list's.
func listed(path string) (kind, version string) {
	for version, kinds := range served() {
		for _, kind := range kinds {
			if strings.HasPrefix(path, version+"/") && strings.HasSuffix(path, "/"+plural(kind)) {
				return kind, version
			}
		}
	}
	return "", ""
}

func (m *inMemory) list(request *http.Request, version, kind string) *http.Response {
	selected, err := labels.Parse(request.URL.Query().Get("labelSelector"))
	if err != nil {
		panic(err)
	}
	namespace := strings.TrimSuffix(strings.TrimPrefix(request.URL.Path, version), plural(kind))
	items := []any{}
	for _, path := range slices.Sorted(maps.Keys(m.objects)) {
		object := m.objects[path]
		about := object["metadata"].(map[string]any)
		its := labels.Set{}
		if some, is := about["labels"].(map[string]any); is {
			for name, value := range some {
				its[name] = fmt.Sprint(value)
			}
		}
		folder := path[:strings.LastIndex(path, "/")]
		if strings.HasPrefix(path, version+namespace) && strings.HasSuffix(folder, "/"+plural(kind)) &&
			selected.Matches(its) {
			items = append(items, asAsked(request, object))
		}
	}
	list := map[string]any{"kind": kind + "List", "metadata": map[string]any{"resourceVersion": "9"}, "items": items,
		"apiVersion": strings.TrimPrefix(strings.TrimPrefix(version, "/apis/"), "/api/")}
	if metadataOnly(request) {
		list["kind"], list["apiVersion"] = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	return answer(http.StatusOK, list)
}

func status(code int32, reason metav1.StatusReason, details *metav1.StatusDetails) *http.Response {
	return answer(int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: string(reason), Details: details,
	})
}

func answer(code int, object any) *http.Response {
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: code, Status: fmt.Sprint(code), Proto: "HTTP/2.0", ProtoMajor: 2,
		Body: io.NopCloser(bytes.NewReader(raw)), Header: http.Header{"Content-Type": {"application/json"}},
	}
}
