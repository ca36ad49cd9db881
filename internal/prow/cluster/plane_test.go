package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/prow/cluster"
	"salve/internal/prow/prowtest"
	"salve/kube"
)

// as is the control plane as a user of a kubeconfig sees it.
func as(s *prowtest.Stage, kubeconfig string) *kube.Cluster {
	s.Helper()
	c, err := kube.Open(kubeconfig, "", clock.Real{})
	s.Must(err)
	return c
}

// account is the Secret that the jobs of these tests mount. It is where pods belong, and not astray.
const account = "service-account"

func aJob(name string) prowtest.Job {
	job := prowtest.APresubmit(name)
	job.Secrets = []string{account}
	return job
}

// TestWhatPlankMakesIsSeen, of a good release and of a bad one, by mirrors and by readings.
func TestWhatPlankMakesIsSeen(t *testing.T) {
	t.Parallel()
	prowtest.Need(t, prowtest.Plank)
	s := prowtest.NewStage(t)
	s.Secret(s.Pods, account)
	c := as(s, s.Plane.Kubeconfig())
	pods, jobs := follow(s, c)

	plank := s.StartPlank(s.Good())
	s.Make(aJob("one"))
	s.AwaitPods(s.Pods, corev1.PodRunning, "one")
	pod := eventually(s, "the mirror sees the pod run", pods, s.Pods, "one", func(pod cluster.Pod) bool {
		return pod.Phase == corev1.PodRunning
	})
	if pod.JobName() != "one" || pod.ID == "" || pod.Job != "pull-infra-one" || pod.Type != "presubmit" ||
		pod.BuildID == "" || pod.PlankVersion == "" || pod.Touched != "test" || pod.Owned || pod.Needs != nil {
		t.Errorf("the pod of a good plank is %+v", pod)
	}
	job := eventually(s, "the mirror sees the job pending", jobs, s.ProwJobs, "one", func(job cluster.Job) bool {
		return job.State == cluster.Pending
	})
	if job.PodNamespace != s.Pods || job.Agent != cluster.KubernetesAgent || job.PodName != "one" ||
		job.BuildID != pod.BuildID || job.PodMade.IsZero() || job.Complete() || job.Pulls[0].Number != 7 {
		t.Errorf("its job is %+v", job)
	}

	s.Roll(plank, s.Bad())
	stray := eventually(s, "the mirror sees the stray wait", pods, s.Astray, "one", func(pod cluster.Pod) bool {
		return pod.Waiting == "ContainerCreating"
	})
	if len(stray.Needs) != 1 || stray.Needs[0].Name != account || stray.Touched != "" || !stray.Live() ||
		stray.JobName() != "one" || stray.UID == pod.UID {
		t.Errorf("the stray is %+v", stray)
	}

	s.Abort("one")
	eventually(s, "the mirror sees the job complete", jobs, s.ProwJobs, "one", cluster.Job.Complete)
	reading, err := cluster.ReadPods(t.Context(), c, nil)
	s.Must(err)
	seen := slices.IndexFunc(reading.Objects, func(pod cluster.Pod) bool { return pod.Namespace == s.Pods })
	if seen < 0 || !reading.Coverage.All() || reading.Objects[seen].UID != pod.UID {
		t.Errorf("a reading sees %+v", reading)
	}
}

// follow keeps mirrors until the test ends.
func follow(s *prowtest.Stage, c *kube.Cluster) (*cluster.Mirror[cluster.Pod], *cluster.Mirror[cluster.Job]) {
	pods, jobs := cluster.MirrorPods(c, nil, nil), cluster.MirrorJobs(c, nil, nil)
	ctx, stop := context.WithCancel(s.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = pods.Run(ctx) })
	running.Go(func() { _ = jobs.Run(ctx) })
	s.Cleanup(running.Wait)
	s.Cleanup(stop)
	s.Eventually("the mirrors are current", func(context.Context) error {
		return errors.Join(pods.Health().Err, jobs.Health().Err)
	})
	return pods, jobs
}

func eventually[T any](
	s *prowtest.Stage, what string, mirror *cluster.Mirror[T], namespace, name string, holds func(T) bool,
) (object T) {
	s.Helper()
	s.Eventually(what, func(context.Context) error {
		found := false
		if object, found = mirror.Get(namespace, name); !found || !holds(object) {
			return fmt.Errorf("it is (%t) %+v", found, object)
		}
		return nil
	})
	return object
}

// TestAUserOfOneNamespaceSeesThatOneAndSaysSo.
func TestAUserOfOneNamespaceSeesThatOneAndSaysSo(t *testing.T) {
	t.Parallel()
	s := prowtest.NewStage(t)
	user := s.Plane.KubeconfigOf(t, "viewer-of-"+s.ProwJobs)
	grant(s, "viewer-of-"+s.ProwJobs, s.ProwJobs)
	done := aJob("done")
	done.State = prowtest.Success
	s.Make(aJob("one"), done)
	c := as(s, user)
	named := []string{s.Pods, s.ProwJobs}
	var reading cluster.Reading[cluster.Job]
	s.Eventually("the rights are in force", func(ctx context.Context) (err error) {
		reading, err = cluster.ReadJobs(ctx, c, named)
		return err
	})
	if len(reading.Objects) != 2 || reading.Coverage.All() || !reading.Coverage.Sees(s.ProwJobs) ||
		apierr.ClassOf(reading.Coverage.Unseen[s.Pods]) != apierr.Denied {
		t.Errorf("%+v", reading)
	}
	if _, err := cluster.ReadJobs(t.Context(), c, nil); apierr.ClassOf(err) != apierr.Denied {
		t.Errorf("without a named namespace: %v", err)
	}

	mirror := cluster.MirrorJobs(c, named, nil)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = mirror.Run(ctx) })
	defer running.Wait()
	defer stop()
	job := eventually(s, "the mirror is filled", mirror, s.ProwJobs, "done", cluster.Job.Complete)
	if job.Started.IsZero() {
		t.Errorf("%+v", job)
	}
	s.Eventually("the mirror is current", func(context.Context) error {
		if health := mirror.Health(); !health.Current() || health.Coverage.Sees(s.Pods) {
			return fmt.Errorf("%+v", health)
		}
		return nil
	})
}

// grant lets a user read the ProwJobs of a namespace.
func grant(s *prowtest.Stage, user, namespace string) {
	s.Helper()
	rbac := s.Plane.Client().RbacV1()
	_, err := rbac.Roles(namespace).Create(s.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"prow.k8s.io"}, Resources: []string{"prowjobs"}, Verbs: []string{"get", "list", "watch"},
		}},
	}, metav1.CreateOptions{})
	s.Must(err)
	_, err = rbac.RoleBindings(namespace).Create(s.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	s.Must(err)
}

// TestAMalformedJobIsReported beside the others: the definition of ProwJobs lets through what Prow never writes.
func TestAMalformedJobIsReported(t *testing.T) {
	t.Parallel()
	s := prowtest.NewStage(t)
	s.Make(aJob("good"))
	bad := aJob("bad").Object(s.ProwJobs, s.Pods)
	bad.Object["spec"].(map[string]any)["refs"] = "main"
	_, err := s.Dynamic.Resource(prowtest.Resource()).Namespace(s.ProwJobs).
		Create(t.Context(), bad, metav1.CreateOptions{})
	s.Must(err)
	reading, err := cluster.ReadJobs(t.Context(), as(s, s.Plane.Kubeconfig()), nil)
	s.Must(err)
	// Other tests make others meanwhile.
	malformed := slices.DeleteFunc(reading.Malformed, func(m cluster.Malformed) bool { return m.Namespace != s.ProwJobs })
	good := slices.DeleteFunc(reading.Objects, func(job cluster.Job) bool { return job.Namespace != s.ProwJobs })
	if len(malformed) != 1 || len(good) != 1 || !strings.Contains(malformed[0].String(), "/bad: spec.refs") {
		t.Errorf("%+v", reading)
	}
}

// TestAMirrorSurvivesTheAPIServer: it says that it does not see, and then sees what happened meanwhile.
func TestAMirrorSurvivesTheAPIServer(t *testing.T) {
	t.Parallel()
	s := prowtest.NewOwnStage(t)
	s.Make(aJob("before"))
	_, jobs := follow(s, as(s, s.Plane.Kubeconfig()))
	s.Plane.StopAPIServer(t)
	s.Eventually("the mirror is interrupted", func(context.Context) error {
		if jobs.Health().Current() {
			return errors.New("it is current")
		}
		return nil
	})
	if _, found := jobs.Get(s.ProwJobs, "before"); !found {
		t.Error("what is not seen any more was taken for gone")
	}
	s.Plane.StartAPIServer(t)
	s.Make(aJob("after"))
	eventually(s, "the mirror goes on", jobs, s.ProwJobs, "after", func(job cluster.Job) bool {
		return job.State == cluster.Triggered && time.Since(job.Created) < time.Hour
	})
	s.Eventually("the mirror is current", func(context.Context) error { return jobs.Health().Err })
}
