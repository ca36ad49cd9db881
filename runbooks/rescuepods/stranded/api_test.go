package stranded

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"salve/kube"
)

// api is as much of an API server as a search asks, without a network, so that it runs on virtual time.
type api struct {
	// answer answers a request in place of the API server; nil leaves it to it.
	answer func(*http.Request) *http.Response

	mu      sync.Mutex
	pods    []*corev1.Pod
	objects map[string]bool // as "home/secrets/name"
	jobs    []any           // nil: the kind is not served
	asked   []string
	watches []*watched
}

// watched is a watch that the API server was asked for.
type watched struct {
	ctx     context.Context
	since   string
	at      time.Time
	closed  atomic.Bool
	written *io.PipeWriter
	*io.PipeReader
}

func (w *watched) Close() error {
	w.closed.Store(true)
	return w.PipeReader.Close()
}

// send says what happened to an object.
func (w *watched) send(event string, object any) {
	raw, err := json.Marshal(map[string]any{"type": event, "object": object})
	if err != nil {
		panic(err)
	}
	_, _ = w.written.Write(append(raw, '\n')) // a watch that was given up is told in vain
}

// onAPI runs a test on virtual time: pods belong to namespace home, and some are in namespace away.
func onAPI(t *testing.T, test func(*testing.T, *api, *Search)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &api{objects: map[string]bool{}}
		config := &rest.Config{Host: "https://api.example", Transport: a, QPS: -1}
		config.ContentType = "application/json"
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		custom, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		cluster := &kube.Cluster{Client: client, Dynamic: custom, Clock: clock.RealClock{}}
		test(t, a, &Search{Cluster: cluster, Selector: "app=web", Expected: []string{"home"}})
	})
}

// pod makes one that waits. It needs the Secret that is named after it.
func (a *api) pod(namespace, name string) *corev1.Pod {
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID("uid-of-" + name), ResourceVersion: "1",
			Labels: map[string]string{"app": "web", "job": name}, CreationTimestamp: metav1.Now(),
		},
		Spec:   corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	pod.Spec.Volumes[0].Secret = &corev1.SecretVolumeSource{SecretName: name}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pods = append(a.pods, pod)
	return pod
}

// stranded makes a pod away whose Secret is at home.
func (a *api) stranded(name string) *corev1.Pod {
	a.objects["home/secrets/"+name] = true
	return a.pod("away", name)
}

func (a *api) gone(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pods = slices.DeleteFunc(a.pods, func(pod *corev1.Pod) bool { return pod.Name == name })
}

// requests counts those whose method and path begin so.
func (a *api) requests(prefix string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.asked {
		if strings.HasPrefix(one, prefix) {
			n++
		}
	}
	return n
}

func (a *api) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := context.Cause(request.Context()); err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.asked = append(a.asked, request.Method+" "+request.URL.Path)
	answer := a.answer
	a.mu.Unlock()
	if answer != nil {
		if response := answer(request); response != nil {
			return response, nil
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	path := strings.Split(strings.TrimPrefix(request.URL.Path, "/"), "/")
	namespace, name := "", ""
	if len(path) > 3 && path[2] == "namespaces" {
		namespace = path[3]
		path = slices.Delete(path, 2, 4)
	}
	if len(path) > 3 {
		name = path[3]
	}
	switch {
	case request.URL.Path == "/version":
		return said(http.StatusOK, map[string]string{}), nil
	case request.URL.Path == "/apis":
		return said(http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList"}}), nil
	case path[0] == "apis" && a.jobs != nil:
		return said(http.StatusOK, map[string]any{"kind": "JobList", "apiVersion": "example.com/v1", "items": a.jobs}), nil
	case len(path) == 2:
		return said(http.StatusOK, corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}), nil
	case path[2] != "pods" && a.objects[namespace+"/"+path[2]+"/"+name]:
		return said(http.StatusOK, map[string]string{}), nil
	case path[2] != "pods":
		return refusal(http.StatusNotFound, metav1.StatusReasonNotFound), nil
	case request.URL.Query().Get("watch") != "":
		return a.watch(request), nil
	case name == "":
		return a.list(namespace, request.URL.Query().Get("labelSelector")), nil
	}
	i := slices.IndexFunc(a.pods, func(pod *corev1.Pod) bool { return pod.Namespace == namespace && pod.Name == name })
	switch {
	case i < 0:
		return refusal(http.StatusNotFound, metav1.StatusReasonNotFound), nil
	case request.Method == http.MethodDelete:
		return a.delete(i, request), nil
	}
	return said(http.StatusOK, a.pods[i]), nil
}

func (a *api) list(namespace, selector string) *http.Response {
	selected, err := labels.Parse(selector)
	if err != nil {
		panic(err)
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	list.ResourceVersion = "100"
	for _, pod := range a.pods {
		if (namespace == "" || namespace == pod.Namespace) && selected.Matches(labels.Set(pod.Labels)) {
			list.Items = append(list.Items, *pod)
		}
	}
	return said(http.StatusOK, list)
}

func (a *api) watch(request *http.Request) *http.Response {
	reader, writer := io.Pipe()
	w := &watched{ctx: request.Context(), since: request.URL.Query().Get("resourceVersion"), at: time.Now(),
		written: writer, PipeReader: reader}
	context.AfterFunc(request.Context(), func() { _ = writer.CloseWithError(context.Cause(request.Context())) })
	a.watches = append(a.watches, w)
	response := said(http.StatusOK, nil)
	response.Body = w
	return response
}

func (a *api) delete(i int, request *http.Request) *http.Response {
	var options metav1.DeleteOptions
	raw, err := io.ReadAll(request.Body)
	if err == nil {
		err = json.Unmarshal(raw, &options)
	}
	if err != nil {
		panic(err)
	}
	is, want := a.pods[i], options.Preconditions
	if want == nil || want.UID == nil || *want.UID != is.UID || want.ResourceVersion == nil ||
		*want.ResourceVersion != is.ResourceVersion {
		return refusal(http.StatusConflict, metav1.StatusReasonConflict)
	}
	a.pods = slices.Delete(a.pods, i, i+1)
	return said(http.StatusOK, is)
}

func said(code int, object any) *http.Response {
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: code, Status: fmt.Sprint(code), Proto: "HTTP/2.0", ProtoMajor: 2,
		Body:   io.NopCloser(bytes.NewReader(raw)),
		Header: http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}},
	}
}

func refusal(code int32, reason metav1.StatusReason) *http.Response {
	return said(int(code), status(code, reason))
}

func status(code int32, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: string(reason),
	}
}

func denied() *http.Response { return refusal(http.StatusForbidden, metav1.StatusReasonForbidden) }

// deny refuses, for good, to read what is asked of a path that ends so.
func (a *api) deny(suffix string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = func(request *http.Request) *http.Response {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, suffix) {
			return denied()
		}
		return nil
	}
}

// pass lets virtual time go by, and waits until everything has come to rest: what the others wrote may be read then.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// opened are the watches so far.
func (a *api) opened() []*watched {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.watches)
}
