package instance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
	"salve/internal/prow/prowtest"
	"salve/kube"
)

// api answers requests by their path. What it does not know is no path of an API server.
type api map[string]any

func (a api) RoundTrip(request *http.Request) (*http.Response, error) {
	object, known := a[request.URL.Path]
	code, kind, raw := http.StatusOK, "application/json", []byte("404 page not found")
	if status, refused := object.(metav1.Status); refused {
		code = int(status.Code)
	}
	if known {
		var err error
		if raw, err = json.Marshal(object); err != nil {
			return nil, err
		}
	} else {
		code, kind = http.StatusNotFound, "text/plain"
	}
	return &http.Response{
		StatusCode: code, Proto: "HTTP/2.0", ProtoMajor: 2, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(bytes.NewReader(raw)), Request: request,
	}, nil
}

func refusal(code int32, reason metav1.StatusReason, about *metav1.StatusDetails) metav1.Status {
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Details: about}
}

const jobsPath = "/apis/prow.k8s.io/v1/namespaces/prow/prowjobs/"

// newAPI has a stray of job a, and the jobs of these names.
func newAPI(jobs ...string) api {
	var items []any
	for _, name := range jobs {
		job := prowtest.APresubmit(name)
		items = append(items, job.Object("prow", "test-pods").Object)
	}
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "u", Annotations: map[string]string{
			"prow.k8s.io/job": "pull-infra-a"}, Labels: map[string]string{"created-by-prow": "true", "prow.k8s.io/id": "a"}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	return api{
		"/api/v1/pods": corev1.PodList{TypeMeta: typed("PodList"), Items: []corev1.Pod{pod}},
		"/apis/prow.k8s.io/v1/prowjobs": map[string]any{
			"apiVersion": "prow.k8s.io/v1", "kind": "ProwJobList", "items": items,
		},
		jobsPath + "a": refusal(http.StatusNotFound, metav1.StatusReasonNotFound,
			&metav1.StatusDetails{Group: "prow.k8s.io", Kind: "prowjobs", Name: "a"}),
		"/api": metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{TypeMeta: typed("APIGroupList"), Groups: []metav1.APIGroup{
			{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "apps/v1", Version: "v1"}}},
		}},
	}
}

func typed(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: kind} }

func (a api) instance(t *testing.T) *Instance {
	t.Helper()
	config := &rest.Config{Host: "https://api.example", Transport: a, QPS: -1}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	custom, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	only, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &Instance{
		Cluster:       &kube.Cluster{Client: client, Dynamic: custom, Metadata: only, Clock: clock.RealClock{}},
		Configuration: Configuration{Namespaces: rules.Namespaces},
	}
}

// earlier is that the stray's job was seen.
var earlier = map[types.UID]string{"u": "a"}

// TestStateOfAnInstance: its jobs, its pods, and which of the jobs that were seen are gone by their own 404.
func TestStateOfAnInstance(t *testing.T) {
	for rule, row := range map[string]struct {
		api     api
		earlier map[types.UID]string
		leave   string
	}{
		"the job is there":               {newAPI("a"), nil, "G4"},
		"the job is there, and was seen": {newAPI("a"), earlier, "G4"},
		"the job is gone, and was seen":  {newAPI("b"), earlier, ""},
		"the job was never seen":         {newAPI("b"), nil, "G3: no ProwJob"},
	} {
		state, err := row.api.instance(t).State(t.Context(), row.earlier)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if verdict := state.Strays(rules)["u"]; !strings.HasPrefix(verdict.Leave, row.leave) ||
			(row.leave == "") != (verdict.Leave == "") {
			t.Errorf("%s: %+v", rule, verdict)
		}
	}
}

// TestStateThatCanNotBeTold is an error with its class.
func TestStateThatCanNotBeTold(t *testing.T) {
	denied := refusal(http.StatusForbidden, metav1.StatusReasonForbidden, nil)
	for rule, row := range map[string]struct {
		edit  func(api)
		class apierr.Class
		says  string
	}{
		"the context is that of a cluster without a Prow": {func(a api) { delete(a, "/apis/prow.k8s.io/v1/prowjobs") },
			apierr.Terminal, "it is not that of a Prow instance. hint: --kubeconfig FILE --context NAME"},
		"ProwJobs are denied": {func(a api) {
			a["/apis/prow.k8s.io/v1/prowjobs"], a[strings.TrimSuffix(jobsPath, "/")] = denied, denied
		}, apierr.Denied, "ProwJobs"},
		"pods are denied": {func(a api) { a["/api/v1/pods"] = denied }, apierr.Denied, "pods"},
		"a job that is asked for is denied": {func(a api) { a[jobsPath+"a"] = denied }, apierr.Denied,
			"ProwJobs that were seen earlier"},
		"a job that the list lacks is there": {func(a api) {
			a[jobsPath+"a"] = metav1.PartialObjectMetadata{
				TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "a", UID: "of-the-job"},
			}
		}, apierr.Transient, "ProwJob a is there, and the list does not hold it"},
	} {
		a := newAPI("b")
		row.edit(a)
		_, err := a.instance(t).State(t.Context(), earlier)
		if err == nil || apierr.ClassOf(err) != row.class || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %s: %v", rule, apierr.ClassOf(err), err)
		}
	}
}
