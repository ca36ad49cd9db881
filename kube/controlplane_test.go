package kube_test

import (
	"context"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"salve/internal/permit"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"salve/internal/kubetest"
	"salve/kube"
)

// patience is far more than anything here takes.
const patience = 2 * time.Minute

// site is where a test drains: nodes, and a namespace, of a real control plane.
type site struct {
	testing.TB
	plane     *kubetest.ControlPlane
	client    kubernetes.Interface // the test's own
	cluster   *kube.Cluster        // what is tested
	namespace string
	selector  string
	names     []string
}

func onNodes(t testing.TB, n int) *site {
	t.Helper()
	return onNodesOf(t, kubetest.Start(t), n)
}

func onNodesOf(t testing.TB, plane *kubetest.ControlPlane, n int) *site {
	t.Helper()
	s := &site{TB: t, plane: plane, client: plane.Client(), cluster: connected(t, plane.Kubeconfig()),
		namespace: plane.Namespace(t)}
	s.selector = "site=" + s.namespace
	s.names = plane.Nodes(t, n, map[string]string{"site": s.namespace})
	return s
}

// connected is a cluster as Salve reaches it.
func connected(t testing.TB, kubeconfig string) *kube.Cluster {
	t.Helper()
	raw, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := kube.Connect(raw, nil, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// cordoned gives the site's nodes, cordoned by run-1.
func (s *site) cordoned() []kube.Node {
	s.Helper()
	s.must(s.cluster.Cordon(permit.NewContext(s.Context(), granted("run-1")), nodes(s.TB, s.cluster, s.selector)...))
	return nodes(s.TB, s.cluster, s.selector)
}

func (s *site) drain(options kube.DrainOptions) (kube.DrainResult, error) {
	s.Helper()
	if options.Deadline == 0 {
		options.Deadline = patience
	}
	return s.cluster.Drain(permit.NewContext(s.Context(), granted("run-1")), s.cordoned(), options)
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// pods makes pods that run on a node, under a label app.
func (s *site) pods(node int, app string, names ...string) {
	s.Helper()
	for _, name := range names {
		s.pod(node, app, name, func(*corev1.Pod) {})
	}
	s.running(names...)
}

func (s *site) pod(node int, app, name string, edit func(*corev1.Pod)) {
	s.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}}, Spec: podSpec()}
	pod.Spec.NodeName = s.names[node]
	edit(pod)
	_, err := s.client.CoreV1().Pods(s.namespace).Create(s.Context(), pod, metav1.CreateOptions{})
	s.must(err)
}

func podSpec() corev1.PodSpec {
	grace := int64(0)
	return corev1.PodSpec{
		TerminationGracePeriodSeconds: &grace,
		Containers:                    []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
	}
}

// running waits until pods are Ready, as budgets count them.
func (s *site) running(names ...string) {
	s.Helper()
	for _, name := range names {
		s.eventually(name+" runs", func() bool {
			pod, err := s.client.CoreV1().Pods(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
			return err == nil && isReady(pod)
		})
	}
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// deployment makes a Deployment and waits until all of its pods run.
func (s *site) deployment(app string, replicas int32) {
	s.Helper()
	labels := map[string]string{"app": app}
	spec := podSpec()
	spec.NodeSelector = map[string]string{"site": s.namespace}
	_, err := s.client.AppsV1().Deployments(s.namespace).Create(s.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually(app+" is ready", func() bool {
		seen, err := s.client.AppsV1().Deployments(s.namespace).Get(s.Context(), app, metav1.GetOptions{})
		return err == nil && seen.Status.ReadyReplicas == replicas
	})
}

// budget makes a PodDisruptionBudget over the pods of the app web, and waits until
// it was counted.
func (s *site) budget(name string, minAvailable int, allowed int32) {
	s.Helper()
	least := intstr.FromInt(minAvailable)
	_, err := s.client.PolicyV1().PodDisruptionBudgets(s.namespace).Create(s.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
	}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("budget "+name+" is counted", func() bool {
		seen, err := s.client.PolicyV1().PodDisruptionBudgets(s.namespace).Get(s.Context(), name, metav1.GetOptions{})
		return err == nil && seen.Status.ObservedGeneration > 0 && seen.Status.DisruptionsAllowed == allowed
	})
}

func (s *site) eventually(what string, holds func() bool) {
	s.Helper()
	for limit := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			s.Fatalf("never seen: %s", what)
		}
	}
}

// evictions lets a test see each request for an eviction before the API server
// does, and answer it in its place by something else than nil.
func (s *site) evictions(see func(pod string) *http.Response) {
	s.Helper()
	config := s.plane.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if strings.HasSuffix(request.URL.Path, "/eviction") {
				if response := see(path.Base(path.Dir(request.URL.Path))); response != nil {
					response.Request = request
					return response, nil
				}
			}
			return next.RoundTrip(request)
		})
	})
	client, err := kubernetes.NewForConfig(config)
	s.must(err)
	s.cluster = &kube.Cluster{Client: client, Clock: clock.RealClock{}}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// there tells whether a pod is there and not ending.
func (s *site) there(ctx context.Context, name string) bool {
	pod, err := s.client.CoreV1().Pods(s.namespace).Get(ctx, name, metav1.GetOptions{})
	return err == nil && pod.DeletionTimestamp == nil
}

// named is the name of a pod of the site as results give it.
func (s *site) named(names ...string) []string {
	full := make([]string, len(names))
	for i, name := range names {
		full[i] = s.namespace + "/" + name
	}
	return full
}
