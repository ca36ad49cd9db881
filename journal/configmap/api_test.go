package configmap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// object is one as the API server keeps it.
type object struct {
	Kind       string         `json:"kind,omitempty"`
	APIVersion string         `json:"apiVersion,omitempty"`
	Metadata   metadata       `json:"metadata"`
	Data       map[string]any `json:"data,omitempty"`
	Immutable  bool           `json:"immutable,omitempty"`
	Spec       map[string]any `json:"spec,omitempty"`
}

type metadata struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace,omitempty"`
	UID             string            `json:"uid,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

// api is an API server in memory. It keeps what the journal relies on: resource
// versions, UIDs, objects that are immutable, namespaces that have to be there, pages
// of lists. The tests against the real one show that it does.
type api struct {
	mu      sync.Mutex
	objects map[string]object // by path
	version int
}

func newAPI(namespaces ...string) *api {
	a := &api{objects: map[string]object{}}
	for _, name := range namespaces {
		a.store("/api/v1/namespaces/"+name, object{Metadata: metadata{Name: name, UID: "uid-of-" + name}})
	}
	return a
}

// fate is what becomes of a request.
type fate int

const (
	served    fate = iota
	unsent         // it never reaches the server
	unheard        // it is executed, and its answer is lost
	busy           // 503
	throttled      // 429, to be sent again after 3 s
	forbidden      // 403
)

var fates = map[fate]string{
	served: "served", unsent: "unsent", unheard: "unheard", busy: "busy", throttled: "throttled", forbidden: "forbidden",
}

func (f fate) String() string { return fates[f] }

// wire is one process's way to the API server.
type wire struct {
	*api
	// meets decides on a request; nil means that all are served.
	meets func(request *http.Request) fate
	// sent are the requests of this process.
	sent []string
}

func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, request.Method+" "+request.URL.Path)
	meets := served
	if w.meets != nil {
		meets = w.meets(request)
	}
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	header, status, answer := http.Header{"Content-Type": {"application/json"}}, 0, any(nil)
	switch meets {
	case unsent:
		return nil, io.ErrUnexpectedEOF
	case busy:
		status, answer = failure(apierrors.NewServiceUnavailable("busy"))
	case throttled:
		status, answer = failure(apierrors.NewTooManyRequests("slower", 3))
		header.Set("Retry-After", "3")
	case forbidden:
		status, answer = failure(apierrors.NewForbidden(schema.GroupResource{}, "x", errors.New("no rights")))
	default:
		status, answer = w.serve(request, body)
	}
	if meets == unheard {
		return nil, io.ErrUnexpectedEOF
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Header: header, Request: request,
		Body: io.NopCloser(bytes.NewReader(raw)), ContentLength: int64(len(raw)),
	}, nil
}

func failure(err *apierrors.StatusError) (int, any) {
	status := err.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	return int(status.Code), status
}

// place is where an object is, or those of a kind in a namespace.
type place struct {
	collection, namespace, name string
	resource                    schema.GroupResource
}

func placeOf(path string) place {
	base, rest, _ := strings.Cut(strings.TrimSuffix(path, "/"), "/namespaces")
	namespace, rest, inside := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	if !inside { // a namespace, or all of them
		return place{base + "/namespaces", "", namespace, schema.GroupResource{Resource: "namespaces"}}
	}
	kind, name, _ := strings.Cut(rest, "/")
	return place{base + "/namespaces/" + namespace + "/" + kind, namespace, name, schema.GroupResource{Resource: kind}}
}

func (p place) path() string { return p.collection + "/" + p.name }

func (a *api) serve(request *http.Request, body []byte) (int, any) {
	at := placeOf(request.URL.Path)
	var sent object
	if request.Method == http.MethodPost || request.Method == http.MethodPut {
		if err := json.Unmarshal(body, &sent); err != nil {
			return failure(apierrors.NewBadRequest(err.Error()))
		}
	}
	switch {
	case request.Method == http.MethodPost:
		return a.create(at, sent)
	case at.name == "" && request.Method == http.MethodGet:
		return a.list(at, request)
	case at.name == "" && request.Method == http.MethodDelete:
		for _, path := range a.selected(at, request) {
			delete(a.objects, path)
		}
		return http.StatusOK, object{}
	}
	kept, found := a.objects[at.path()]
	if !found {
		return failure(apierrors.NewNotFound(at.resource, at.name))
	}
	switch request.Method {
	case http.MethodDelete:
		delete(a.objects, at.path())
		return http.StatusOK, kept
	case http.MethodPut:
		return a.update(at, kept, sent)
	case http.MethodPatch:
		return a.patch(at, kept, body)
	}
	return http.StatusOK, kept
}

func (a *api) create(at place, sent object) (int, any) {
	at.name = sent.Metadata.Name
	if at.namespace != "" {
		if _, found := a.objects["/api/v1/namespaces/"+at.namespace]; !found {
			return failure(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, at.namespace))
		}
	}
	if _, found := a.objects[at.path()]; found {
		return failure(apierrors.NewAlreadyExists(at.resource, at.name))
	}
	return http.StatusCreated, a.store(at.path(), sent)
}

// store keeps an object under the next version.
func (a *api) store(path string, next object) object {
	a.version++
	if next.Metadata.UID == "" {
		next.Metadata.UID = fmt.Sprint("uid-", a.version)
	}
	next.Metadata.ResourceVersion = strconv.Itoa(a.version)
	a.objects[path] = next
	return next
}

func (a *api) update(at place, kept, sent object) (int, any) {
	switch {
	case sent.Metadata.ResourceVersion != "" && sent.Metadata.ResourceVersion != kept.Metadata.ResourceVersion:
		return failure(apierrors.NewConflict(at.resource, at.name, errors.New("the object has been modified")))
	case sent.Metadata.UID != "" && sent.Metadata.UID != kept.Metadata.UID:
		return failure(apierrors.NewConflict(at.resource, at.name, errors.New("another UID")))
	case kept.Immutable && (!sent.Immutable || fmt.Sprint(sent.Data) != fmt.Sprint(kept.Data)):
		return failure(apierrors.NewInvalid(schema.GroupKind{Kind: at.resource.Resource}, at.name, nil))
	}
	sent.Metadata.UID = kept.Metadata.UID
	return http.StatusOK, a.store(at.path(), sent)
}

// patch is a merge of JSON objects.
func (a *api) patch(at place, kept object, patch []byte) (int, any) {
	raw, err := json.Marshal(kept)
	var whole, change map[string]any
	err = errors.Join(err, json.Unmarshal(raw, &whole), json.Unmarshal(patch, &change))
	merge(whole, change)
	raw, encoding := json.Marshal(whole)
	var next object
	if err := errors.Join(err, encoding, json.Unmarshal(raw, &next)); err != nil {
		return failure(apierrors.NewBadRequest(err.Error()))
	}
	return a.update(at, kept, next)
}

func merge(into, change map[string]any) {
	for name, value := range change {
		below, isObject := value.(map[string]any)
		kept, wasObject := into[name].(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case isObject && wasObject:
			merge(kept, below)
		default:
			into[name] = value
		}
	}
}

// selected are the paths of the objects of a collection that a request is about.
func (a *api) selected(at place, request *http.Request) []string {
	selector, err := labels.Parse(request.URL.Query().Get("labelSelector"))
	if err != nil {
		selector = labels.Nothing()
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a.objects)), func(path string) bool {
		return !strings.HasPrefix(path, at.collection+"/") || placeOf(path).collection != at.collection ||
			!selector.Matches(labels.Set(a.objects[path].Metadata.Labels))
	})
}

// list gives a page; a page's continuation is the path that it goes on with.
func (a *api) list(at place, request *http.Request) (int, any) {
	paths, more := a.selected(at, request), ""
	if from := request.URL.Query().Get("continue"); from != "" {
		paths = slices.DeleteFunc(paths, func(path string) bool { return path < from })
	}
	if limit, err := strconv.Atoi(request.URL.Query().Get("limit")); err == nil && limit > 0 && len(paths) > limit {
		paths, more = paths[:limit], paths[limit]
	}
	items := []object{}
	for _, path := range paths {
		items = append(items, a.objects[path])
	}
	return http.StatusOK, map[string]any{"metadata": map[string]any{"continue": more, "resourceVersion": "1"},
		"items": items}
}

// InMemory gives processes that share an API server in memory; through sees a process's
// requests.
func InMemory(t *testing.T) func(lease time.Duration, through func(http.RoundTripper) http.RoundTripper) *Journal {
	t.Helper()
	a := newAPI("journal", "journal-exports")
	return func(lease time.Duration, through func(http.RoundTripper) http.RoundTripper) *Journal {
		t.Helper()
		var way http.RoundTripper = &wire{api: a}
		if through != nil {
			way = through(way)
		}
		return journalThrough(t, way, lease)
	}
}

// journal is a journal on the API server, on the clock of the test's bubble.
func (w *wire) journal(t *testing.T, lease time.Duration) *Journal {
	t.Helper()
	return journalThrough(t, w, lease)
}

func journalThrough(t *testing.T, way http.RoundTripper, lease time.Duration) *Journal {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: "http://api", Transport: way, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	j, err := New(Options{Client: client, Clock: clock.RealClock{}, Namespace: "journal", Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	j.sizes = sizes{part: 1 << 10, chunk: 1 << 10} // so that tests need not write much
	return j
}
