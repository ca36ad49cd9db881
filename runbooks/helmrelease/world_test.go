package helmrelease_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/helm"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/helmrelease"
)

// chart is one of a deployment, a config map and a secret. A pod that is to run nowhere never becomes ready.
var chart = map[string]string{
	"Chart.yaml":  "apiVersion: v2\nname: web\nversion: 1.2.3\n",
	"values.yaml": "replicas: 1\nnowhere: false\npassword: none\n",
	"templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: {{ .Values.replicas }}
  progressDeadlineSeconds: 600
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      {{ if .Values.nowhere }}nodeSelector: {nowhere: "true"}{{ end }}
      containers: [{name: web, image: "registry.example/web:1"}]
`,
	"templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n" +
		"data: {greeting: {{ .Values.greeting | default \"hello\" | quote }}}\n",
	"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\n" +
		"stringData: {password: {{ .Values.password | quote }}}\n",
}

// scene is a release on a real control plane, and a journal.
type scene struct {
	testing.TB
	plane   *kubetest.ControlPlane
	in      helmrelease.Inputs
	order   helmrelease.Order
	journal journal.Store
	// through is put below the clients of the next run; nil is nothing.
	through func(http.RoundTripper) http.RoundTripper
}

func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{TB: t, plane: kubetest.Start(t), journal: journal.NewMemory()}
	s.plane.Nodes(t, 1, nil)
	s.in = helmrelease.Inputs{ClusterName: "test", Namespace: s.plane.Namespace(t), Release: "web"}
	id, err := s.cluster().ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.in.Cluster = id
	s.order = helmrelease.Order{Values: map[string]any{}, Timeout: time.Minute}
	s.chart(chart)
	t.Cleanup(func() { runbooktest.Replayed(t, s.journal, helmrelease.Name, decides) })
	return s
}

// decides makes the runbook of a record without a cluster.
func decides(history *journal.History) (runbook.Runbook, error) {
	var in helmrelease.Inputs
	if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
		return runbook.Runbook{}, err
	}
	return helmrelease.Replayed(in, history.Header.Target)
}

func (s *scene) chart(files map[string]string) {
	s.Helper()
	folder := s.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			s.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.Fatal(err)
		}
	}
	read, err := helm.ReadChart(folder)
	if err != nil {
		s.Fatal(err)
	}
	s.order.Chart = read
}

func (s *scene) cluster() *kube.Cluster {
	s.Helper()
	return s.clusterThrough(s.through)
}

func (s *scene) clusterThrough(through func(http.RoundTripper) http.RoundTripper) *kube.Cluster {
	s.Helper()
	config := s.plane.Config()
	if through != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return through(next) })
	}
	cluster, err := kube.ForConfig(rest.CopyConfig(config), clock.RealClock{})
	if err != nil {
		s.Fatal(err)
	}
	return cluster
}

func (s *scene) book() runbook.Runbook {
	s.Helper()
	book, err := helmrelease.New(helmrelease.World{Kubernetes: s.cluster(), Clock: clock.RealClock{}}, s.in, s.order)
	if err != nil {
		s.Fatal(err)
	}
	return book
}

func (s *scene) run(ctx context.Context) engine.Result {
	s.Helper()
	result, err := (&engine.Engine{Journal: s.journal, Clock: clock.RealClock{}}).Run(ctx, s.book(), engine.Options{})
	if err != nil && ctx.Err() == nil {
		s.Fatal(err)
	}
	return result
}

func (s *scene) ends(want runbook.Outcome, says string) {
	s.Helper()
	result := s.run(s.Context())
	if result.Outcome != want || !strings.Contains(result.Reason, says) {
		s.Fatalf("ended %s: %s, want %s: %s", result.Outcome, result.Reason, want, says)
	}
}

// revisions are the states of the release's revisions, the newest first.
func (s *scene) revisions(want ...string) {
	s.Helper()
	client := &helm.Client{Cluster: s.clusterThrough(nil), Namespace: s.in.Namespace}
	history, err := client.History(s.Context(), s.in.Release)
	if err != nil {
		s.Fatal(err)
	}
	var got []string
	for _, one := range history {
		got = append(got, one.Status)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		s.Errorf("the revisions are %v, want %v", got, want)
	}
}

func (s *scene) deployment() *appsv1.Deployment {
	s.Helper()
	there, err := s.plane.Client().AppsV1().Deployments(s.in.Namespace).Get(s.Context(), "web", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return there
}

// cutAt ends the process at the first change whose path ends in something: it makes no request from then on.
func cutAt(suffix string, end func()) func(http.RoundTripper) http.RoundTripper {
	var cut atomic.Bool
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodGet && strings.HasSuffix(request.URL.Path, suffix) && !cut.Swap(true) {
				end()
			}
			if cut.Load() {
				if request.Body != nil {
					_ = request.Body.Close()
				}
				return nil, context.Canceled
			}
			return next.RoundTrip(request)
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// recorded is all that the journal holds, as text.
func (s *scene) recorded() string {
	s.Helper()
	runs, err := s.journal.Runs(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	var all strings.Builder
	for _, run := range runs {
		raw, err := journal.Incident(s.Context(), s.journal, run)
		if err != nil {
			s.Fatal(err)
		}
		all.Write(raw)
	}
	return all.String()
}

var labelled = corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "web"}}}

func journalOfItsOwn() journal.Store { return journal.NewMemory() }

func clientOf(config *rest.Config) (*discovery.DiscoveryClient, error) {
	return discovery.NewDiscoveryClientForConfig(config)
}
