package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"salve/internal/permit"
)

// api is as much of an API server as a drain sees, without a network, so that it runs
// on virtual time. An eviction that it accepts deletes the pod at once.
type api struct {
	mu      sync.Mutex
	version int
	pods    []*corev1.Pod
	budgets []policyv1.PodDisruptionBudget
	watches map[*io.PipeWriter]string // by the node
	deleted []deletion
	// evictions are those that arrived.
	evictions []arrived
	inFlight  int
	mostAtOne int
	// answer answers a request in place of the API server; nil leaves it to it. It is
	// called without the lock.
	answer func(request *http.Request, pod string) *http.Response
}

type deletion struct {
	version  int
	selector string
	event    []byte
}

type arrived struct {
	pod string
	uid types.UID
	at  time.Duration // since the test began
}

// onAPI runs a test on virtual time. Pods are named after their app, as in web-0, and
// have it as their label.
func onAPI(t *testing.T, pods []string, test func(*testing.T, *api, *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &api{version: 1, watches: map[*io.PipeWriter]string{}}
		for _, name := range pods {
			app, _, _ := strings.Cut(name, "-")
			a.pods = append(a.pods, &corev1.Pod{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID("uid-of-" + name),
					Labels: map[string]string{"app": app}},
				Spec: corev1.PodSpec{NodeName: "node-1"},
			})
		}
		config := &rest.Config{Host: "https://api.example", Transport: a.since(time.Now())}
		c, err := ForConfig(config, clock.RealClock{})
		if err != nil {
			t.Fatal(err)
		}
		test(t, a, c)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func (a *api) since(start time.Time) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if err := context.Cause(request.Context()); err != nil {
			return nil, err
		}
		return a.serve(request, time.Since(start)), nil
	})
}

func (a *api) serve(request *http.Request, now time.Duration) *http.Response {
	segments := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	pod := ""
	if len(segments) > 5 {
		pod = segments[5]
	}
	if segments[len(segments)-1] == "eviction" {
		a.enter(request, pod, now)
		defer a.leave()
	}
	if a.answer != nil {
		if response := a.answer(request, pod); response != nil {
			return response
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	query := request.URL.Query()
	switch {
	case request.Method == http.MethodPost:
		return a.evict(pod)
	case strings.HasSuffix(request.URL.Path, "/poddisruptionbudgets"):
		return said(http.StatusOK, policyv1.PodDisruptionBudgetList{
			TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudgetList"}, Items: a.budgets,
		})
	case query.Get("watch") != "":
		return a.watch(query.Get("fieldSelector"), query.Get("resourceVersion"))
	case pod != "":
		if i := a.index(pod); i >= 0 {
			return said(http.StatusOK, a.pods[i])
		}
		return notFound("pods", pod)
	}
	return a.list(query.Get("fieldSelector"))
}

func (a *api) enter(request *http.Request, pod string, now time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	raw, err := io.ReadAll(request.Body)
	if err != nil {
		panic(err)
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		panic(err)
	}
	one := arrived{pod: pod, at: now}
	if options := object.(*policyv1.Eviction).DeleteOptions; options != nil && options.Preconditions != nil &&
		options.Preconditions.UID != nil {
		one.uid = *options.Preconditions.UID
	}
	a.evictions = append(a.evictions, one)
	a.inFlight++
	a.mostAtOne = max(a.mostAtOne, a.inFlight)
}

func (a *api) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight--
}

func (a *api) index(pod string) int {
	return slices.IndexFunc(a.pods, func(one *corev1.Pod) bool { return one.Name == pod })
}

func (a *api) evict(pod string) *http.Response {
	i := a.index(pod)
	if i < 0 {
		return notFound("pods", pod)
	}
	gone := a.pods[i]
	a.pods = slices.Delete(a.pods, i, i+1)
	a.version++
	gone.ResourceVersion = strconv.Itoa(a.version)
	raw, err := json.Marshal(map[string]any{"type": "DELETED", "object": gone})
	if err != nil {
		panic(err)
	}
	one := deletion{a.version, "spec.nodeName=" + gone.Spec.NodeName, append(raw, '\n')}
	a.deleted = append(a.deleted, one)
	for w, selector := range a.watches {
		one.sendTo(w, selector)
	}
	return said(http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status: metav1.StatusSuccess})
}

func (d deletion) sendTo(w *io.PipeWriter, selector string) {
	if d.selector == selector {
		go func() { _, _ = w.Write(d.event) }() // a watch that ended is told in vain
	}
}

// watch sends what was deleted since a version, and then what will be.
func (a *api) watch(selector, since string) *http.Response {
	reader, writer := io.Pipe()
	a.watches[writer] = selector
	version, err := strconv.Atoi(since)
	if err != nil {
		panic(err)
	}
	for _, one := range a.deleted {
		if one.version > version {
			one.sendTo(writer, selector)
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: reader}
}

func (a *api) list(selector string) *http.Response {
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	list.ResourceVersion = strconv.Itoa(a.version)
	for _, pod := range a.pods {
		if selector == "spec.nodeName="+pod.Spec.NodeName {
			list.Items = append(list.Items, *pod)
		}
	}
	return said(http.StatusOK, list)
}

// arrivals are the evictions that arrived of an app; of all for an empty name.
func (a *api) arrivals(app string) []arrived {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.evictions), func(one arrived) bool { return !strings.HasPrefix(one.pod, app) })
}

func said(code int, object any) *http.Response {
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return plain(code, "application/json", string(raw))
}

func plain(code int, contentType, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewBufferString(body)),
	}
}

func refusal(code int32, reason metav1.StatusReason, details *metav1.StatusDetails) *http.Response {
	response := said(int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: string(reason), Details: details,
	})
	if details != nil && details.RetryAfterSeconds > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(int(details.RetryAfterSeconds)))
	}
	return response
}

func notFound(resource, name string) *http.Response {
	return refusal(http.StatusNotFound, metav1.StatusReasonNotFound, &metav1.StatusDetails{Kind: resource, Name: name})
}

// blocked is the answer of a PodDisruptionBudget that allows nothing now.
func blocked(budget string, retryAfter int32) *http.Response {
	return refusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, &metav1.StatusDetails{
		RetryAfterSeconds: retryAfter,
		Causes: []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " +
			budget + " needs 2 healthy pods and has 2 currently"}},
	})
}

// under gives a context that carries a permit of run-1.
func under(ctx context.Context, change func(*permit.Terms)) context.Context {
	terms := permit.Terms{
		Run: "run-1", Step: "drain", Epoch: 1, Expires: time.Now().Add(24 * time.Hour), Now: time.Now,
		Lease: func(context.Context) error { return nil },
	}
	if change != nil {
		change(&terms)
	}
	return permit.NewContext(ctx, permit.Mint(terms))
}
