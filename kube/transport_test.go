package kube

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"salve/internal/apierr"
	"salve/internal/permit"
)

// wire is an API server that answers everything with success and keeps what it saw.
type wire struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
	ids  []string // the Audit-ID of each request
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		w.mu.Lock()
		w.seen = append(w.seen, request.Method+" "+request.URL.Path)
		w.ids = append(w.ids, request.Header.Get("Audit-ID"))
		w.mu.Unlock()
		response.Header().Set("Content-Type", "application/json")
		_, _ = response.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *wire) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

func (w *wire) cluster(t *testing.T) *Cluster {
	t.Helper()
	c, err := ForConfig(&rest.Config{Host: w.URL}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	widgets = schema.GroupVersionResource{Group: "example.io", Version: "v1", Resource: "widgets"}
	mark    = []byte(`{"metadata":{"labels":{"a":"b"}}}`)
)

// changes are ways to change something by the clients of a cluster.
func changes(c *Cluster) map[string]func(context.Context) error {
	pods, maps := c.Client.CoreV1().Pods("team"), c.Client.CoreV1().ConfigMaps("team")
	return map[string]func(context.Context) error{
		"POST /api/v1/namespaces/team/configmaps": func(ctx context.Context) error {
			_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
			return err
		},
		"DELETE /api/v1/namespaces/team/pods": func(ctx context.Context) error {
			return pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		},
		"POST /api/v1/namespaces/team/pods/a/eviction": func(ctx context.Context) error {
			return pods.EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a"}})
		},
		"PATCH /api/v1/nodes/a": func(ctx context.Context) error {
			_, err := c.Client.CoreV1().Nodes().Patch(ctx, "a", types.MergePatchType, mark, metav1.PatchOptions{})
			return err
		},
		"PUT /apis/example.io/v1/namespaces/team/widgets/a": func(ctx context.Context) error {
			object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.io/v1", "kind": "Widget",
				"metadata": map[string]any{"name": "a"}}}
			_, err := c.Dynamic.Resource(widgets).Namespace("team").Update(ctx, object, metav1.UpdateOptions{})
			return err
		},
		"DELETE /apis/example.io/v1/widgets": func(ctx context.Context) error {
			return c.Dynamic.Resource(widgets).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		},
		"DELETE /apis/example.io/v1/namespaces/team/widgets/a": func(ctx context.Context) error {
			return c.Metadata.Resource(widgets).Namespace("team").Delete(ctx, "a", metav1.DeleteOptions{})
		},
		"GET /api/v1/namespaces/team/pods/a/exec": func(ctx context.Context) error {
			return c.Client.CoreV1().RESTClient().Get().Namespace("team").Resource("pods").Name("a").SubResource("exec").Param(
				"command", "halt").Do(ctx).Error()
		},
		"GET /api/v1/namespaces/team/services/http:a:/proxy/reset": func(ctx context.Context) error {
			return c.Client.CoreV1().Services("team").ProxyGet("http", "a", "", "reset", nil).(*rest.Request).Do(ctx).Error()
		},
	}
}

func terms() permit.Terms {
	return permit.Terms{
		Run: "run-1", Step: "drain", Expires: time.Unix(2000, 0), Now: func() time.Time { return time.Unix(1000, 0) },
		Lease: func(context.Context) error { return nil },
	}
}

func TestChangeWithoutALivePermitDoesNotLeave(t *testing.T) {
	t.Parallel()
	expired, lost := terms(), terms()
	expired.Now = func() time.Time { return expired.Expires }
	lost.Lease = func(context.Context) error { return apierr.New(apierr.Conflict, "lease lost") }
	background := context.Background() // of a goroutine that was started without the step's context
	for name, ctx := range map[string]context.Context{
		"no permit":      background,
		"the zero one":   permit.NewContext(background, permit.Permit{}),
		"an expired one": permit.NewContext(background, permit.Mint(expired)),
		"a lost lease":   permit.NewContext(background, permit.Mint(lost)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			for request, change := range changes(w.cluster(t)) {
				refused := make(chan error)
				go func() { refused <- change(ctx) }()
				if err := <-refused; err == nil || apierr.ClassOf(Classify(err)) != apierr.Conflict {
					t.Errorf("%s: %v", request, err)
				}
			}
			if seen := w.requests(); len(seen) > 0 {
				t.Errorf("the server saw %v", seen)
			}
		})
	}
}

func TestChangeUnderAPermitCarriesItsID(t *testing.T) {
	t.Parallel()
	live := permit.Mint(terms())
	for request := range changes(newWire(t).cluster(t)) {
		w := newWire(t)
		_ = changes(w.cluster(t))[request](permit.NewContext(t.Context(), live)) // some can't decode a Status
		if seen := w.requests(); !slices.Equal(seen, []string{request}) {
			t.Errorf("the server saw %v, want %s", seen, request)
			continue
		}
		if reads := strings.HasPrefix(request, "GET"); !reads && w.ids[0] != live.ID() {
			t.Errorf("%s came with the ID %q", request, w.ids[0])
		}
	}
}

func TestExemptRequestsAreTheseAndNoOthers(t *testing.T) {
	t.Parallel()
	const none = ""
	for _, c := range []struct{ method, path, exemption string }{
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "access review"},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "access review"},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "access review"},
		{"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "access review"},
		{"POST", "/apis/authentication.k8s.io/v1/tokenreviews", "access review"},
		{"DELETE", "/apis/authentication.k8s.io/v1/tokenreviews", none},
		{"POST", "/apis/authorization.example.io/v1/selfsubjectaccessreviews", none},
		{"POST", "/api/v1/namespaces/team/serviceaccounts/default/token", none},

		{"POST", "/api/v1/namespaces/team/pods?dryRun=All", "dry run"},
		{"PATCH", "/api/v1/nodes/a?dryRun=All&fieldManager=salve", "dry run"},
		{"PUT", "/apis/apps/v1/namespaces/team/deployments/a/scale?dryRun=All", "dry run"},
		{"PATCH", "/apis/policy/v1/namespaces/team/poddisruptionbudgets/a/status?dryRun=All", "dry run"},
		{"POST", "/apis/networking.k8s.io/v1/namespaces/team/ingresses?dryRun=All", "dry run"},
		{"POST", "/api/v1/namespaces/team/pods", none},
		{"POST", "/api/v1/namespaces/team/pods?dryRun=", none},
		{"POST", "/api/v1/namespaces/team/pods?dryRun=All&dryRun=None", none},
		{"DELETE", "/api/v1/namespaces/team/pods/a?dryRun=All", none},
		{"POST", "/api/v1/namespaces/team/pods/a/exec?dryRun=All&command=halt", none},
		{"POST", "/api/v1/namespaces/team/pods/a/binding?dryRun=All", none},
		{"POST", "/api/v1/namespaces/team/services/a/proxy/reset?dryRun=All", none},
		{"POST", "/apis/example.io/v1/widgets?dryRun=All", none},
		{"POST", "/apis/examplek8s.io/v1/widgets?dryRun=All", none},
		{"POST", "/metrics?dryRun=All", none},
		{"POST", "/api/v1/namespaces/team/../../nodes?dryRun=All", none},

		{"POST", "/api/v1/namespaces/salve-system/configmaps", "journal record"},
		{"PATCH", "/api/v1/namespaces/salve-system/configmaps/run-1", "journal record"},
		{"DELETE", "/api/v1/namespaces/salve-system/configmaps/run-1", "journal record"},
		{"PUT", "/api/v1/namespaces/salve-system/secrets/key", "journal secret"},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/salve-system/leases/target", "lease"},
		{"DELETE", "/api/v1/namespaces/salve-system/secrets?labelSelector=salve-run%3Drun-1", "journal export"},
		{"DELETE", "/api/v1/namespaces/salve-system/secrets?labelSelector=salve-run", none},
		{"DELETE", "/api/v1/namespaces/salve-system/secrets?labelSelector=salve-run%21%3Drun-1", none},
		{"DELETE", "/api/v1/namespaces/salve-system/secrets?labelSelector=", none},
		{"DELETE", "/api/v1/namespaces/salve-system/secrets", none},
		{"DELETE", "/api/v1/namespaces/kube-system/secrets?labelSelector=salve-run%3Drun-1", none},
		{"DELETE", "/api/v1/namespaces/salve-system/configmaps", none},
		{"DELETE", "/api/v1/namespaces/salve-system", none},
		{"POST", "/api/v1/namespaces/kube-system/configmaps", none},
		{"PUT", "/api/v1/namespaces/salve-system-2/secrets/key", none},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/scheduler", none},
		{"POST", "/api/v1/namespaces/salve-system/pods", none},
		{"DELETE", "/api/v1/namespaces/salve-system/configmaps/../pods/a", none},
		{"DELETE", "/api/v1/namespaces/salve-system/configmaps/a%2F..%2F..%2Fpods%2Fa", none},
		{"POST", "/api/v1/namespaces", none}, // without a body
	} {
		for _, prefix := range []string{"", "/k8s/clusters/c-1"} {
			request := httptest.NewRequest(c.method, "https://api.example"+prefix+c.path, http.NoBody)
			ofJournal := strings.HasPrefix(c.exemption, "journal") || c.exemption == "lease"
			name, exempt := exemptions(prefix, exemptForAll())(request)
			if want := c.exemption; ofJournal && exempt || !ofJournal && name != want {
				t.Errorf("%s %s: exempt as %q, want %q", c.method, c.path, name, want)
			}
			if name, _ := exemptions(prefix,
				slices.Concat(exemptForAll(), exemptForJournal("salve-system")))(request); name != c.exemption {
				t.Errorf("%s %s by the journal's client: exempt as %q, want %q", c.method, c.path, name, c.exemption)
			}
		}
		outside := httptest.NewRequest(c.method, "https://api.example"+c.path, http.NoBody)
		if name, _ := exemptions("/k8s/clusters/c-1",
			slices.Concat(exemptForAll(), exemptForJournal("salve-system")))(outside); name != none {
			t.Errorf("%s %s is not below the server's path and exempt as %q", c.method, c.path, name)
		}
	}
}

func TestJournalClientWritesItsOwnNamespaceAlone(t *testing.T) {
	t.Parallel()
	create := map[string]func(context.Context, kubernetes.Interface, string) error{
		"configmaps": func(ctx context.Context, c kubernetes.Interface, namespace string) error {
			_, err := c.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{}, metav1.CreateOptions{})
			return err
		},
		"secrets": func(ctx context.Context, c kubernetes.Interface, namespace string) error {
			_, err := c.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{}, metav1.CreateOptions{})
			return err
		},
		"leases": func(ctx context.Context, c kubernetes.Interface, namespace string) error {
			_, err := c.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{}, metav1.CreateOptions{})
			return err
		},
		"namespaces": func(ctx context.Context, c kubernetes.Interface, namespace string) error {
			_, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
				metav1.CreateOptions{})
			return err
		},
	}
	w := newWire(t)
	journal, err := JournalClient(w.cluster(t), permit.ForJournal("salve-system"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, create := range create {
		before := len(w.requests())
		if err := create(t.Context(), journal, "kube-system"); apierr.ClassOf(Classify(err)) != apierr.Conflict ||
			err == nil {
			t.Errorf("%s of another namespace: %v", kind, err)
		}
		if err := create(t.Context(), w.cluster(t).Client,
			"salve-system"); apierr.ClassOf(Classify(err)) != apierr.Conflict || err == nil {
			t.Errorf("%s by the cluster's own client: %v", kind, err)
		}
		if seen := w.requests()[before:]; len(seen) > 0 {
			t.Errorf("the server saw %v", seen)
		}
		_ = create(t.Context(), journal, "salve-system") // the answer is a Status
		if seen := w.requests()[before:]; len(seen) != 1 || !strings.HasSuffix(seen[0], kind) {
			t.Errorf("%s of the journal's namespace: the server saw %v", kind, seen)
		}
	}
	if _, err := JournalClient(w.cluster(t), permit.JournalAccess{}); err == nil {
		t.Error("a journal client without a namespace")
	}
}

// TestEventClientCreatesEventsOfItsNamespaceAlone: nothing else may be written by it, and Events by nobody else.
func TestEventClientCreatesEventsOfItsNamespaceAlone(t *testing.T) {
	t.Parallel()
	w := newWire(t)
	events, err := EventClient(w.cluster(t), permit.ForEvents("prow"))
	if err != nil {
		t.Fatal(err)
	}
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	create := func(c kubernetes.Interface, namespace string) error {
		_, err := c.CoreV1().Events(namespace).Create(t.Context(), event, metav1.CreateOptions{})
		return err
	}
	refused := map[string]error{
		"in another namespace":        create(events, "kube-system"),
		"by the cluster's own client": create(w.cluster(t).Client, "prow"),
		"an Event that is deleted":    events.CoreV1().Events("prow").Delete(t.Context(), "a", metav1.DeleteOptions{}),
		"all of them": events.CoreV1().Events("prow").DeleteCollection(t.Context(), metav1.DeleteOptions{},
			metav1.ListOptions{}),
	}
	_, refused["an Event that is changed"] = events.CoreV1().Events("prow").Update(t.Context(), event,
		metav1.UpdateOptions{})
	_, refused["something else"] = events.CoreV1().Pods("prow").Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{})
	refused["an eviction"] = events.CoreV1().Pods("prow").EvictV1(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "events"}})
	for what, err := range refused {
		if err == nil || apierr.ClassOf(Classify(err)) != apierr.Conflict {
			t.Errorf("%s: %v", what, err)
		}
	}
	if seen := w.requests(); len(seen) > 0 {
		t.Errorf("the server saw %v", seen)
	}
	_ = create(events, "prow") // the answer is a Status
	if seen := w.requests(); !slices.Equal(seen, []string{"POST /api/v1/namespaces/prow/events"}) {
		t.Errorf("the server saw %v", seen)
	}
	if _, err := EventClient(w.cluster(t), permit.EventAccess{}); err == nil {
		t.Error("a client for Events without a namespace")
	}
}

func TestRedirectToAnotherServerIsNotFollowed(t *testing.T) {
	t.Parallel()
	other := newWire(t)
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/api/v1/nodes", http.StatusTemporaryRedirect))
	t.Cleanup(server.Close)
	c, err := ForConfig(&rest.Config{Host: server.URL, BearerToken: "secret"}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err == nil || !strings.Contains(err.Error(), "unexpected server") {
		t.Errorf("got %v", err)
	}
	if seen := other.requests(); len(seen) > 0 {
		t.Errorf("the other server saw %v", seen)
	}
}

func TestClusterIsVerifiedByTLS(t *testing.T) {
	t.Parallel()
	for name, cluster := range map[string]string{
		"no TLS":           "{server: 'http://api.example'}",
		"unverified TLS":   "{server: 'https://api.example', insecure-skip-tls-verify: true}",
		"no scheme at all": "{server: 'api.example'}",
	} {
		kubeconfig := `
apiVersion: v1
kind: Config
current-context: aks
clusters: [{name: aks, cluster: ` + cluster + `}]
contexts: [{name: aks, context: {cluster: aks, user: entra}}]
users: [{name: entra, user: {exec: {
  apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin, interactiveMode: Never}}}]
`
		_, err := Connect([]byte(kubeconfig), unusedCredential{t: t}, clock.RealClock{})
		if err == nil || apierr.ClassOf(err) != apierr.Terminal || !strings.Contains(err.Error(), "not verified by TLS") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// unusedCredential fails the test when it is asked for a token.
type unusedCredential struct{ t *testing.T }

func (u unusedCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	u.t.Error("a token was asked for")
	return azcore.AccessToken{}, errors.New("no token")
}
