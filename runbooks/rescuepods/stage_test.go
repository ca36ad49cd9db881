package rescuepods_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/kubetest"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/stranded"
)

// patience is far more than anything here takes.
const patience = 2 * time.Minute

// stage is a part of a real control plane: a namespace where pods belong, home, one
// where they don't, astray, and one with ProwJobs.
type stage struct {
	testing.TB
	plane              *kubetest.ControlPlane
	client             kubernetes.Interface // the test's own
	home, astray, jobs string
	selector           string
	world              rescuepods.World
	inputs             rescuepods.Inputs
	journal            journal.Store
	events             []engine.Event
	// pace is how many times as fast the engine's clock is; 0 means as fast as any.
	pace float64
	// older is how much older pods are than they say.
	older atomic.Int64
	// seen is told each event as it happens. May be nil.
	seen func(engine.Event)
}

var atHome = []string{"at-home-1", "at-home-2", "at-home-3", "at-home-4"}

func newStage(t testing.TB) *stage { return newStageOn(t, kubetest.Start(t)) }

func newStageOn(t testing.TB, plane *kubetest.ControlPlane) *stage {
	t.Helper()
	s := &stage{
		TB: t, plane: plane, client: plane.Client(), home: plane.Namespace(t), astray: plane.Namespace(t),
		journal: journal.NewMemory(),
	}
	t.Cleanup(func() {
		runbooktest.Replayed(t, s.journal, rescuepods.Name, func(history *journal.History) (runbook.Runbook, error) {
			var in rescuepods.Inputs
			if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
				return runbook.Runbook{}, err
			}
			return rescuepods.Replayed(in, history.Header.Target)
		})
	})
	s.jobs, s.selector = s.home, "created-by-prow=true,stage="+s.home
	s.inputs = rescuepods.Defaults()
	s.inputs.Selector, s.inputs.Expected, s.inputs.ProwJobs = s.selector, []string{s.home}, s.jobs
	s.age(10 * time.Minute)
	s.as(plane.Kubeconfig())
	s.object(s.home, stranded.Secret, "service-account")
	s.many(s.home, atHome) // so that a few astray pods are not most of all
	return s
}

// dated lets the API server's clock be ahead of what it dates: pods are as much older.
type dated struct {
	next http.RoundTripper
	by   *atomic.Int64
}

func (d dated) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := d.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	date, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return nil, err
	}
	response.Header.Set("Date", date.Add(time.Duration(d.by.Load())).Format(http.TimeFormat))
	return response, nil
}

// age makes all pods so much older.
func (s *stage) age(by time.Duration) { s.older.Store(int64(by)) }

// as makes the user of a kubeconfig the one who runs the runbook.
func (s *stage) as(kubeconfig string) {
	s.Helper()
	cluster, err := kube.Open(kubeconfig, "", clock.Real{})
	s.must(err)
	connections := cluster.Client.CoreV1().RESTClient().(*rest.RESTClient).Client
	connections.Transport = dated{connections.Transport, &s.older}
	s.world = rescuepods.World{Cluster: cluster, ClusterID: "the-cluster"}
}

// wrap lets the requests of the runbook go through a test's hands.
func (s *stage) wrap(hands func(http.RoundTripper) http.RoundTripper) {
	s.Helper()
	config := s.plane.Config()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.Wrap(hands)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return dated{next, &s.older} })
	client, err := kubernetes.NewForConfig(config)
	s.must(err)
	custom, err := dynamic.NewForConfig(config)
	s.must(err)
	s.world.Cluster = &kube.Cluster{Client: client, Dynamic: custom, Clock: s.world.Cluster.Clock}
}

// search is for the stage's pods, as the runbook makes it.
func (s *stage) search() *stranded.Search {
	return &stranded.Search{Cluster: s.world.Cluster, Selector: s.selector, Expected: s.inputs.Expected}
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// object makes something that pods need.
func (s *stage) object(namespace, kind, name string) {
	s.Helper()
	var err error
	about, core := metav1.ObjectMeta{Name: name}, s.client.CoreV1()
	switch kind {
	case stranded.Secret:
		_, err = core.Secrets(namespace).Create(s.Context(),
			&corev1.Secret{ObjectMeta: about, StringData: map[string]string{"key": "never-read"}}, metav1.CreateOptions{})
	case stranded.ConfigMap:
		_, err = core.ConfigMaps(namespace).Create(s.Context(), &corev1.ConfigMap{ObjectMeta: about}, metav1.CreateOptions{})
	case stranded.ServiceAccount:
		_, err = core.ServiceAccounts(namespace).
			Create(s.Context(), &corev1.ServiceAccount{ObjectMeta: about}, metav1.CreateOptions{})
	case stranded.Claim:
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: about, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		}}
		_, err = core.PersistentVolumeClaims(namespace).Create(s.Context(), claim, metav1.CreateOptions{})
	}
	s.must(err)
}

// pod makes a pod of Prow that mounts the Secret service-account. A scheduling gate
// keeps it where a missing Secret would: Pending, with no container started. Where
// kubelet would say more, a test writes the status in its place.
func (s *stage) pod(namespace, name string, edit func(*corev1.Pod)) *corev1.Pod {
	s.Helper()
	pod := s.aPod(namespace, name)
	if edit != nil {
		edit(pod)
	}
	made, err := s.client.CoreV1().Pods(namespace).Create(s.Context(), pod, metav1.CreateOptions{})
	s.must(err)
	return made
}

func (s *stage) aPod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: map[string]string{"created-by-prow": "true", "prow.k8s.io/id": name, "stage": s.home},
		},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/stands-in-for-kubelet"}},
			Volumes:         []corev1.Volume{secretVolume("service-account")},
			Containers: []corev1.Container{{Name: "test", Image: "registry.example/test:1",
				Env: []corev1.EnvVar{{Name: "JOB", Value: name}}}},
		},
	}
}

func secretVolume(secret string) corev1.Volume {
	return corev1.Volume{
		Name: secret, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}},
	}
}

// stranded makes pods astray, and their unfinished jobs.
func (s *stage) stranded(names ...string) {
	s.Helper()
	for _, name := range names {
		s.job(name, "")
		s.pod(s.astray, name, nil)
	}
}

// starts writes what kubelet would when a pod's container starts.
func (s *stage) starts(namespace, name string) {
	s.Helper()
	s.status(namespace, name, func(status *corev1.PodStatus) {
		status.Phase = corev1.PodRunning
		status.ContainerStatuses = []corev1.ContainerStatus{{Name: "test",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
	})
}

func (s *stage) status(namespace, name string, edit func(*corev1.PodStatus)) {
	s.Helper()
	pod, err := s.client.CoreV1().Pods(namespace).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	edit(&pod.Status)
	_, err = s.client.CoreV1().Pods(namespace).UpdateStatus(s.Context(), pod, metav1.UpdateOptions{})
	s.must(err)
}

var prowJobs = schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}

// knowsProw applies the resource's definition to a control plane.
func knowsProw(plane *kubetest.ControlPlane) error {
	said, err := exec.Command(plane.Program("kubectl"), "--kubeconfig", plane.Kubeconfig(),
		"apply", "-f", "testdata/prowjob-crd.yaml").CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, said)
	}
	return nil
}

var known sync.Map // of control planes that know Prow, a function each

// job makes a ProwJob, complete since a time or not complete.
func (s *stage) job(name, completed string) {
	s.Helper()
	once, _ := known.LoadOrStore(s.plane, sync.OnceValue(func() error { return knowsProw(s.plane) }))
	s.must(once.(func() error)())
	job := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "prow.k8s.io/v1", "kind": "ProwJob",
		"metadata": map[string]any{"name": name, "namespace": s.jobs, "labels": map[string]any{"created-by-prow": "true"}},
		"spec":     map[string]any{"agent": "kubernetes", "namespace": s.home},
		"status":   map[string]any{"state": "pending", "pod_name": name},
	}}
	if completed != "" {
		s.must(unstructured.SetNestedField(job.Object, completed, "status", "completionTime"))
	}
	// A definition that was applied a moment ago may not be served yet.
	s.eventually("ProwJob "+name+" is made", func() bool {
		cluster := s.admin()
		_, err := cluster.Dynamic.Resource(prowJobs).Namespace(s.jobs).Create(s.Context(), job, metav1.CreateOptions{})
		return err == nil || apierrors.IsAlreadyExists(err)
	})
}

// admin is the cluster as others change it: without permits.
func (s *stage) admin() *kube.Cluster {
	s.Helper()
	custom, err := dynamic.NewForConfig(s.plane.Config())
	s.must(err)
	only, err := metadata.NewForConfig(s.plane.Config())
	s.must(err)
	return &kube.Cluster{Client: s.plane.Client(), Dynamic: custom, Metadata: only, Clock: clock.Real{}}
}

// controller stands in for Prow's until the test ends: an unfinished job without a
// pod at home gets one, whatever is astray.
func (s *stage) controller() {
	ctx, stop := context.WithCancel(s.Context())
	var working sync.WaitGroup
	s.Cleanup(working.Wait)
	s.Cleanup(stop)
	cluster := s.admin()
	working.Go(func() {
		for ; ctx.Err() == nil; _ = clock.Sleep(ctx, clock.Real{}, 200*time.Millisecond) {
			jobs, err := cluster.Dynamic.Resource(prowJobs).Namespace(s.jobs).List(ctx, metav1.ListOptions{})
			if err != nil {
				continue
			}
			for _, job := range jobs.Items {
				if _, done, _ := unstructured.NestedString(job.Object, "status", "completionTime"); !done {
					// Most are there already.
					_, _ = s.client.CoreV1().Pods(s.home).Create(ctx, s.aPod(s.home, job.GetName()), metav1.CreateOptions{})
				}
			}
		}
	})
}

// book makes the runbook, as each process does.
func (s *stage) book() runbook.Runbook {
	s.Helper()
	book, err := rescuepods.New(s.world, s.inputs)
	s.must(err)
	return book
}

func (s *stage) engine() *engine.Engine {
	clk := s.world.Cluster.Clock
	if s.pace > 0 {
		clk = clock.NewScaled(s.pace)
	}
	return &engine.Engine{
		Journal: s.journal, Clock: clk, Holder: journal.Holder{User: "sre", Host: "laptop", PID: 1},
		Watch: func(event engine.Event) {
			s.events = append(s.events, event)
			if s.seen != nil {
				s.seen(event)
			}
		},
	}
}

func (s *stage) run() engine.Result {
	s.Helper()
	result, err := s.engine().Run(s.Context(), s.book(), engine.Options{})
	s.must(err)
	return result
}

func (s *stage) check() engine.Result {
	s.Helper()
	result, err := s.engine().Check(s.Context(), s.book(), engine.Options{})
	s.must(err)
	return result
}

// hasty makes the engine's waits after refusals short: its clock runs fast.
// Faster, evidence would be stale before a busy machine has seen it.
func (s *stage) hasty() { s.pace = 10 }

// many makes pods side by side.
func (s *stage) many(namespace string, names []string) {
	s.Helper()
	work := make(chan string)
	var team sync.WaitGroup
	for range 16 {
		team.Go(func() {
			for name := range work {
				_, err := s.client.CoreV1().Pods(namespace).Create(s.Context(), s.aPod(namespace, name), metav1.CreateOptions{})
				if err != nil {
					s.Error(err)
				}
			}
		})
	}
	for _, name := range names {
		work <- name
	}
	close(work)
	team.Wait()
}
