package rescuepods_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/engine"
	"salve/internal/prow/prowtest"
	"salve/runbook"
	"salve/runbooks/rescuepods/instance"
)

// meddler changes something right before the first request that deletes a pod of a name.
type meddler struct {
	next http.RoundTripper
	pod  string
	once *sync.Once
	do   func()
}

func (m meddler) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodDelete && strings.HasSuffix(request.URL.Path, "/pods/"+m.pod) {
		m.once.Do(m.do)
	}
	return m.next.RoundTrip(request)
}

// afterwards does something after the first answer to a request for a path that ends so.
type afterwards struct {
	next   http.RoundTripper
	suffix string
	once   *sync.Once
	do     func()
}

func (a afterwards) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(request)
	if strings.HasSuffix(request.URL.Path, a.suffix) {
		a.once.Do(a.do)
	}
	return response, err
}

// TestSecondReadingIsAnotherOne: what changes between the two is seen, of the cluster's configuration and of the pods.
func TestSecondReadingIsAnotherOne(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what    string
		changes func(*stage)
	}{
		{"the configuration", func(s *stage) { s.configure(s.configuration(s.astray)) }},
		{"the pods", func(s *stage) {
			s.prowJob(pending("late"))
			s.plankPod(s.astray, "late")
		}},
	} {
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			s := newProwStage(t)
			s.strays("a")
			s.fixed(proven...)
			s.wrap(func(next http.RoundTripper) http.RoundTripper {
				return afterwards{next, "/configmaps/config", &sync.Once{}, func() { row.changes(s) }}
			})
			s.ends(s.check(), runbook.NeedsAttention, "G2: the sources disagree")
		})
	}
}

// TestFirstPreconditionThatFailsStopsTheRun: what changed is seen by an operator before anything else is deleted. The
// run goes on when it is asked to.
func TestFirstPreconditionThatFailsStopsTheRun(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a", "b", "c")
	s.fixed(proven...)
	s.wrap(func(next http.RoundTripper) http.RoundTripper {
		touch := func() { s.patch(s.astray, s.id("b"), `{"metadata":{"labels":{"mine":"yes"}}}`) }
		return meddler{next, s.id("b"), &sync.Once{}, touch}
	})
	result := s.run()
	s.ends(result, runbook.NeedsAttention, "precondition failed")
	if there := s.there(s.astray); !slices.Contains(there, s.id("b")) || !result.Open {
		t.Errorf("there are %q, open %v", there, result.Open)
	}
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray)
}

// TestPlanIsOfOneCluster: kubectl's context may be that of another one, where it is another plan on another target.
func TestPlanIsOfOneCluster(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a")
	s.fixed(proven...)
	digest := func() string {
		looked, err := s.engine().Plan(t.Context(), s.book(), engine.Options{})
		s.must(err)
		if looked.Plan == nil {
			t.Fatalf("%s: %s", looked.Outcome, looked.Reason)
		}
		return looked.Plan.Digest
	}
	approved, target := digest(), s.book().Target.ID
	if again := digest(); again != approved {
		t.Errorf("the plan of the same world is %s, and was %s", again, approved)
	}
	s.world.ClusterID = "another-cluster"
	if digest() == approved || s.book().Target.ID == target {
		t.Error("the plan covers another cluster")
	}
}

// TestListThatChangedSinceItWasApproved is refused; the approved one is run to its end, though it grows shorter.
func TestListThatChangedSinceItWasApproved(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a", "b")
	s.fixed(proven...)
	list := func() string {
		for _, finding := range s.check().Findings {
			if finding.Guard == "list-approved" {
				return strings.TrimPrefix(finding.Reason, "G7: list ")[:16]
			}
		}
		t.Fatal("no list")
		return ""
	}
	approved := list()
	s.strays("c")
	s.fixed("new-4", "new-5", "new-6")
	s.inputs.Prow.ApprovedList = approved
	s.ends(s.run(), runbook.NeedsAttention, "G7: the list changed since it was approved")
	s.remain(s.astray, s.ids("a", "b", "c")...)
	s.must(s.client.CoreV1().Pods(s.astray).Delete(t.Context(), s.id("c"), metav1.DeleteOptions{}))
	s.eventually("pod c is gone", func() bool { return s.uids(s.astray)[s.id("c")] == "" })
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray)
}

// TestJobThatSinkerDeletesMeanwhile: its stray was known to be ours, and goes. The run has the rights of the roles in
// deploy, and uses each of those that are for a Prow.
func TestJobThatSinkerDeletesMeanwhile(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a", "b", "c")
	s.patch(s.astray, s.id("b"), heldByCrier)
	t.Cleanup(func() { s.unhold(s.id("b")) })
	s.fixed(proven...)
	const rolesOfProw = "../../deploy/rescue-stranded-pods-prow-role.yaml"
	user := "prow-rescuer"
	s.grant(user)
	s.kubectl("apply", "-f", rolesOfProw)
	s.kubectl("create", "clusterrolebinding", user+"-too", "--clusterrole=salve-rescue-stranded-pods-prow", "--user="+user)
	s.as(s.plane.KubeconfigOf(t, user))
	git, err := instance.ReadConfiguration(s.inputs.Prow.Config)
	s.must(err)
	s.world.Prow, s.world.Apart = git, 100*time.Millisecond
	s.eventually("the rights for a Prow are granted", func() bool {
		_, err := s.world.Cluster.Client.AppsV1().Deployments(s.jobs).List(t.Context(), metav1.ListOptions{})
		return err == nil
	})
	s.seen = func(event engine.Event) {
		if event.Kind == engine.StepEnded && event.Step == "delete-first" {
			for _, name := range []string{"b", "c"} {
				s.must(s.admin().Dynamic.Resource(prowJobs).Namespace(s.jobs).
					Delete(t.Context(), s.id(name), metav1.DeleteOptions{}))
			}
		}
	}
	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray)
	used, both := s.plane.Requests(t, user), append(rightsIn(t, rolesFile, ""), rightsIn(t, rolesOfProw, "")...)
	for _, right := range used {
		if !slices.Contains(both, right) {
			t.Errorf("%q was asked for and is in neither role", right)
		}
	}
	for _, right := range rightsIn(t, rolesOfProw, "") {
		if !slices.Contains(used, right) {
			t.Errorf("%q is in %s and was not used", right, rolesOfProw)
		}
	}
}

// TestKubeletsSayWhatStraysLack: events of their pods are evidence, and no condition.
func TestKubeletsSayWhatStraysLack(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a")
	pod := s.pod(s.astray, "other", nil)
	uid := s.uids(s.astray)[s.id("a")]
	for i, event := range []corev1.Event{
		{InvolvedObject: corev1.ObjectReference{UID: uid}, Message: `MountVolume.SetUp failed for volume "s" : secret "service-account" not found`},
		{InvolvedObject: corev1.ObjectReference{UID: uid}, Message: `MountVolume.SetUp failed for volume "s" : secret "nowhere" not found`},
		{InvolvedObject: corev1.ObjectReference{UID: pod.UID}, Message: `MountVolume.SetUp failed for volume "s" : secret "others" not found`},
	} {
		event.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("event-%d", i)}
		event.Reason, event.InvolvedObject.Kind, event.InvolvedObject.Namespace = "FailedMount", "Pod", s.astray
		_, err := s.client.CoreV1().Events(s.astray).Create(t.Context(), &event, metav1.CreateOptions{})
		s.must(err)
	}
	s.fixed(proven...)
	result := s.check()
	s.ends(result, "", "")
	for _, finding := range result.Findings {
		want := "A5: kubelets say that pods wait for Secret service-account, which is in " + s.home
		if finding.Guard == "mount-events" && finding.Reason != want {
			t.Errorf("%q, want %q", finding.Reason, want)
		}
	}
}

const heldByCrier = `{"metadata":{"finalizers":["prow.x-k8s.io/gcsk8sreporter"]}}`

// TestCrierIsDoneWithStrays: its finalizer goes with a pod whose job it has stored, and stays on any other. A finalizer
// of others is never removed.
func TestCrierIsDoneWithStrays(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.hasty() // the checks are asked again and again
	s.strays("runs-still", "held-by-others")
	for _, name := range []string{"not-stored", "stored"} {
		job := prowtest.APresubmit(name)
		job.State = prowtest.Success
		s.prowJob(job)
		s.plankPod(s.astray, name)
	}
	for _, name := range []string{"not-stored", "runs-still", "stored"} {
		s.patch(s.astray, s.id(name), heldByCrier)
	}
	s.patch(s.astray, s.id("held-by-others"),
		`{"metadata":{"finalizers":["example.com/mine","prow.x-k8s.io/gcsk8sreporter"]}}`)
	t.Cleanup(func() {
		for _, name := range s.ids("held-by-others", "not-stored", "runs-still", "stored") {
			s.unhold(name)
		}
	})
	s.stored("stored")
	s.fixed(proven...)
	s.ends(s.run(), runbook.NeedsAttention, "held by finalizers: 3")
	if held := s.uids(s.astray); len(held) != 3 || held[s.id("stored")] != "" {
		t.Errorf("there are %v", held)
	}
	s.stored("not-stored")
	s.ends(s.run(), runbook.NeedsAttention, "held by finalizers: 2")
	s.must(s.admin().Dynamic.Resource(prowJobs).Namespace(s.jobs).
		Delete(t.Context(), s.id("runs-still"), metav1.DeleteOptions{}))
	s.unhold(s.id("held-by-others"))
	s.ends(s.run(), runbook.Remediated, "")
	if held := s.uids(s.astray); len(held) != 0 {
		t.Errorf("there are %v", held)
	}
}

// stored says that crier has stored what a job's pod said.
func (s *stage) stored(job string) {
	s.Helper()
	patch := []byte(`{"status":{"prev_report_states":{"gcsk8sreporter":"success"}}}`)
	_, err := s.admin().Dynamic.Resource(prowJobs).Namespace(s.jobs).
		Patch(s.Context(), s.id(job), types.MergePatchType, patch, metav1.PatchOptions{})
	s.must(err)
}
