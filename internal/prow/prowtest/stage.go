package prowtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/kubetest"
)

// patience is far more than anything here takes.
const patience = 2 * time.Minute

// Stage is a Prow of one test: namespaces of its own, and nodes on which only its pods run.
type Stage struct {
	testing.TB
	*Prow
	// ProwJobs and Pods are the namespaces of a good release. Astray stands for default: a bad release's pods go there.
	ProwJobs, Pods, Astray string
	// Nodes selects the stage's nodes.
	Nodes map[string]string
}

// NewStage makes a Prow for a test on the control plane of its binary. It needs no program of Prow yet.
func NewStage(t testing.TB) *Stage {
	t.Helper()
	return newStage(t, kubetest.Start(t))
}

// NewOwnStage makes a Prow on a control plane of the test's own, which the test may stop.
func NewOwnStage(t testing.TB) *Stage {
	t.Helper()
	plane, err := kubetest.Launch(t.Context())
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	t.Cleanup(func() {
		if err := plane.Close(); err != nil {
			t.Error(err)
		}
	})
	return newStage(t, plane)
}

func newStage(t testing.TB, plane *kubetest.ControlPlane) *Stage {
	t.Helper()
	s := &Stage{
		TB: t, ProwJobs: plane.Namespace(t), Pods: plane.Namespace(t), Astray: plane.Namespace(t),
	}
	s.Nodes = map[string]string{"prowtest": s.ProwJobs}
	plane.MountingNodes(t, 2, s.Nodes)
	var err error
	s.Prow, err = Open(t.Context(), plane, t.TempDir())
	s.Must(err)
	t.Cleanup(s.end)
	return s
}

// end ends what runs, and shows the logs of a test that failed.
func (s *Stage) end() {
	if err := s.Close(); err != nil {
		s.Errorf("ending Prow's programs: %v", err)
	}
	if !s.Failed() {
		return
	}
	for _, component := range s.Components() {
		raw, err := os.ReadFile(component.Log())
		s.Logf("%s logged (%v):\n%s", component.Name, err, lastBytes(raw, 20_000))
	}
}

func lastBytes(raw []byte, n int) []byte { return raw[max(0, len(raw)-n):] }

// Must fails the test for an error.
func (s *Stage) Must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// Good is a release whose pods go where they belong.
func (s *Stage) Good() Files { s.Helper(); return s.Release(s.ProwJobs, s.Pods) }

// Bad is the release of 5 February 2019: its pods go astray.
func (s *Stage) Bad() Files { s.Helper(); return s.Release(s.ProwJobs, s.Astray) }

// Release writes a configuration with these two namespaces and no job.
func (s *Stage) Release(prowJobs, pods string) Files {
	s.Helper()
	files, err := Config{ProwJobs: prowJobs, Pods: pods}.Write(s.TempDir())
	s.Must(err)
	return files
}

// StartPlank starts plank.
func (s *Stage) StartPlank(files Files) *Component {
	s.Helper()
	plank, err := s.Plank(s.Context(), files)
	s.Must(err)
	return plank
}

// Roll replaces a component by one with another configuration.
func (s *Stage) Roll(from *Component, files Files) *Component {
	s.Helper()
	next, err := from.Replace(s.Context(), files)
	s.Must(err)
	return next
}

// Make makes ProwJobs whose pods run on the stage's nodes.
func (s *Stage) Make(jobs ...Job) {
	s.Helper()
	for i := range jobs {
		jobs[i].Nodes = s.Nodes
	}
	s.Must(s.Create(s.Context(), s.ProwJobs, s.Pods, jobs...))
}

// Secret makes a Secret.
func (s *Stage) Secret(namespace, name string) {
	s.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"key": "never-read"}}
	_, err := s.Plane.Client().CoreV1().Secrets(namespace).Create(s.Context(), secret, metav1.CreateOptions{})
	s.Must(err)
}

// Abort aborts a job, as a new push to its pull request does.
func (s *Stage) Abort(name string) {
	s.Helper()
	patch := []byte(`{"status":{"state":"aborted"}}`)
	_, err := s.Dynamic.Resource(Resource()).Namespace(s.ProwJobs).
		Patch(s.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	s.Must(err)
}

// Eventually waits until holds gives no error.
func (s *Stage) Eventually(what string, holds func(context.Context) error) {
	s.Helper()
	ctx, cancel := context.WithTimeoutCause(s.Context(), patience, fmt.Errorf("not within %s", patience))
	defer cancel()
	s.Must(Until(ctx, what, holds))
}

// AwaitPods waits until the pods of a namespace are these, all in one phase.
func (s *Stage) AwaitPods(namespace string, phase corev1.PodPhase, names ...string) {
	s.Helper()
	slices.Sort(names)
	s.Eventually(fmt.Sprintf("the pods of %s are %s and %s", namespace, names, phase), func(ctx context.Context) error {
		pods, err := s.Plane.Client().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var found []string
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Status.Phase != phase {
				err = errors.Join(err, fmt.Errorf("pod %s is %s", pod.Name, pod.Status.Phase))
			}
			found = append(found, pods.Items[i].Name)
		}
		slices.Sort(found)
		if !slices.Equal(found, names) {
			err = errors.Join(err, fmt.Errorf("the pods are %s", found))
		}
		return err
	})
}

// Pod is a pod that is there.
func (s *Stage) Pod(namespace, name string) *corev1.Pod {
	s.Helper()
	pod, err := s.Plane.Client().CoreV1().Pods(namespace).Get(s.Context(), name, metav1.GetOptions{})
	s.Must(err)
	return pod
}

// Deleted tells whether somebody has deleted a pod, which may take a moment to be gone.
func (s *Stage) Deleted(namespace, name string) bool {
	s.Helper()
	pod, err := s.Plane.Client().CoreV1().Pods(namespace).Get(s.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.Fatal(err)
	}
	return err != nil || pod.DeletionTimestamp != nil
}

// AwaitJob waits until a ProwJob's state is this one, and gives the job.
func (s *Stage) AwaitJob(name string, holds func(state string, complete bool) bool) *unstructured.Unstructured {
	s.Helper()
	var job *unstructured.Unstructured
	s.Eventually("ProwJob "+name+" is as expected", func(ctx context.Context) (err error) {
		job, err = s.Dynamic.Resource(Resource()).Namespace(s.ProwJobs).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		state, _, _ := unstructured.NestedString(job.Object, "status", "state")
		completed, complete, _ := unstructured.NestedString(job.Object, "status", "completionTime")
		if !holds(state, complete) {
			return fmt.Errorf("its state is %q, completed %q", state, completed)
		}
		return nil
	})
	return job
}
