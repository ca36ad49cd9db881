package unblockpulls_test

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/prow/cluster"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/unblockpulls"
)

const rolesFile = "../../deploy/unblock-pull-requests-role.yaml"

// stage is a world whose cluster is a real control plane with Prow's resources.
type stage struct {
	*world
	prow *prowtest.Stage
}

// newStage has one ProwJob of a periodic.
func newStage(t *testing.T) *stage {
	s := &stage{newWorld(t), prowtest.NewStage(t)}
	s.write("config.yaml", strings.NewReplacer("prowjob_namespace: prow", "prowjob_namespace: "+s.prow.ProwJobs,
		"pod_namespace: test-pods", "pod_namespace: "+s.prow.Pods).Replace(today))
	s.prow.Make(prowtest.APeriodic("nightly"))
	return s
}

// ended makes the ProwJob unit-7, which has ended, and of which GitHub was told that it runs.
func (s *stage) ended() {
	s.Helper()
	object := of(7, "unit").Object(s.prow.ProwJobs, s.prow.Pods)
	ended("pending")(object)
	_, err := s.jobs().Create(s.Context(), object, metav1.CreateOptions{})
	s.prow.Must(err)
	s.status(headOf(7), "unit", "pending")
}

func (s *stage) jobs() dynamic.ResourceInterface {
	return s.prow.Dynamic.Resource(prowtest.Resource()).Namespace(s.prow.ProwJobs)
}

// report does what crier does about the ProwJob.
func (s *stage) report() {
	s.Helper()
	_, err := s.jobs().Patch(s.Context(), "unit-7", types.MergePatchType,
		[]byte(`{"status":{"prev_report_states":{"github-reporter":"success"}}}`), metav1.PatchOptions{})
	s.prow.Must(err)
	s.status(headOf(7), "unit", "success")
}

// at does something right before and right after each patch of a ProwJob.
func (s *stage) at(before, after func(n int)) *kube.Cluster {
	s.Helper()
	config, n := s.prow.Plane.Config(), 0
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return trip(func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodPatch || !strings.Contains(request.URL.Path, "/prowjobs/") {
				return next.RoundTrip(request)
			}
			n++
			before(n)
			response, err := next.RoundTrip(request)
			if err == nil && response.StatusCode == http.StatusOK {
				after(n)
			}
			return response, err
		})
	})
	reached, err := kube.ForConfig(config, clock.Real{})
	s.prow.Must(err)
	return reached
}

// runOn discovers and runs on a cluster.
func (s *stage) runOn(reached *kube.Cluster) engine.Result {
	s.Helper()
	world := s.of(nil)
	world.Cluster = reached
	found, finding := unblockpulls.Discover(s.Context(), world, s.in)
	if finding.Answer != yes {
		s.Fatalf("discovery: %s: %s", finding.Answer, finding.Reason)
	}
	return s.runBook(s.made(world, found))
}

// TestWhatChangedSinceItWasReadIsNotOverwritten: somebody changes the ProwJob between our reading and our patch. The
// patch is refused, what is there is looked at again, and only then the mark is taken off.
func TestWhatChangedSinceItWasReadIsNotOverwritten(t *testing.T) {
	for what, row := range map[string]struct {
		patch   string
		patches int
	}{
		"something else changed": {`{"metadata":{"labels":{"by":"somebody"}}}`, 2},
		"crier was faster":       {"", 1},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.ended()
			patches := 0
			reached := s.at(func(n int) {
				if patches = n; n > 1 {
					return
				}
				if row.patch == "" {
					s.report()
					return
				}
				_, err := s.jobs().Patch(s.Context(), "unit-7", types.MergePatchType, []byte(row.patch), metav1.PatchOptions{})
				s.prow.Must(err)
			}, func(int) { s.report() })
			s.ends(s.runOn(reached), runbook.Remediated)
			if patches != row.patches {
				t.Errorf("%d patches, want %d", patches, row.patches)
			}
			s.commented(0)
		})
	}
}

// onceThere does something beside the run, as soon as what it needs is there.
func (s *stage) onceThere(do func(context.Context) error) {
	done := make(chan error, 1)
	go func() { done <- prowtest.Until(s.Context(), "it is there", do) }()
	s.Cleanup(func() {
		if err := <-done; err != nil {
			s.Error(err)
		}
	})
}

// TestTheRoleInDeployIsWhatIsNeeded: a run passes with it. Without the right to patch ProwJobs jobs are started, and no
// result is reported again.
func TestTheRoleInDeployIsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	kubectl := func(arguments ...string) {
		t.Helper()
		command := exec.CommandContext(context.WithoutCancel(t.Context()), s.prow.Plane.Program("kubectl"),
			append([]string{"--kubeconfig", s.prow.Plane.Kubeconfig()}, arguments...)...)
		if said, err := command.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %v: %s", arguments, said)
		}
	}
	user := s.prow.ProwJobs
	kubectl("apply", "-f", rolesFile)
	t.Cleanup(func() { kubectl("delete", "namespace", "salve-system", "--wait=true") })
	kubectl("create", "clusterrolebinding", user, "--clusterrole=salve-unblock-pull-requests", "--user="+user)
	t.Cleanup(func() { kubectl("delete", "clusterrolebinding", user) })
	reached, err := kube.Open(s.prow.Plane.KubeconfigOf(t, user), "", clock.Real{})
	s.prow.Must(err)
	s.prow.Eventually("the rights are there", func(ctx context.Context) error {
		_, err := cluster.ReadPods(ctx, reached, nil)
		return err
	})
	s.onceThere(func(context.Context) error { // as hook and crier do
		if len(s.comments(7)) == 0 {
			return errors.New("there is no comment")
		}
		s.status(headOf(7), "unit", "success")
		return nil
	})
	s.noHook = true
	s.ends(s.runOn(reached), runbook.Remediated)
	s.commented(1)
	s.sim.ForgetCalls()
	s.pull(7, func(pull *githubsim.Pull) { pull.Head = headOf(7) })
	s.sim.Update(func(github *githubsim.World) {
		repo := github.Repo("kube/widgets")
		repo.Commit(headOf(7)).Statuses = repo.Commit(headOf(7)).Statuses[:1]
	})
	s.ended()
	kubectl("-n", s.prow.ProwJobs, "create", "rolebinding", user, "--clusterrole=salve-report-again", "--user="+user)
	s.prow.Eventually("the rights are there", func(ctx context.Context) error {
		_, err := reached.Dynamic.Resource(prowtest.Resource()).Namespace(s.prow.ProwJobs).Get(ctx, "unit-7",
			metav1.GetOptions{})
		return err
	})
	s.onceThere(func(ctx context.Context) error { // as crier does
		job, err := s.jobs().Get(ctx, "unit-7", metav1.GetOptions{})
		if err == nil && job.GetAnnotations()[cluster.AskedAgainAnnotation] == "" {
			err = errors.New("nobody asked for it")
		}
		if err == nil {
			s.report()
		}
		return err
	})
	s.ends(s.runOn(reached), runbook.Remediated)
	s.commented(0)
}

// TestProwsOwnCrierReports: GitHub refused crier's status for a while. The run has crier report it again, and GitHub
// has it then, from crier.
func TestProwsOwnCrierReports(t *testing.T) {
	t.Parallel()
	prowtest.Need(t, prowtest.Crier)
	s := newStage(t)
	s.sim.Update(func(github *githubsim.World) {
		github.Token("robot-token", "robot")
		github.Repo("kube/widgets").Collaborators["robot"] = "write"
	})
	address, stop, err := s.sim.Listen(t.Context(), "127.0.0.1:0")
	s.prow.Must(err)
	defer stop()
	s.write("token", "robot-token")
	s.sim.Inject(githubsim.Fault{Method: http.MethodPost, Path: "/statuses/", Status: 422, Message: "refused", Times: -1})
	_, err = s.prow.Crier(t.Context(), s.prow.Good(), prowtest.GitHub{
		Endpoint: address, TokenFile: filepath.Join(s.folder, "token"),
	})
	s.prow.Must(err)
	s.ended()
	// Healed after the patch, not before: crier tries again by itself all the time, and would need nobody's patch.
	result := s.runOn(s.at(func(int) {}, func(int) { s.sim.Heal() }))
	s.ends(result, runbook.Remediated)
	job, err := s.jobs().Get(t.Context(), "unit-7", metav1.GetOptions{})
	s.prow.Must(err)
	told, _, _ := unstructured.NestedString(job.Object, "status", "prev_report_states", "github-reporter")
	if told != "success" || job.GetAnnotations()[cluster.AskedAgainAnnotation] != result.Run {
		t.Errorf("crier told %q, asked by %q", told, job.GetAnnotations()[cluster.AskedAgainAnnotation])
	}
	s.sim.Update(func(github *githubsim.World) {
		statuses := github.Repo("kube/widgets").Commit(headOf(7)).Statuses
		if last := statuses[len(statuses)-1]; last.State != "success" || last.Creator != "robot" {
			t.Errorf("GitHub has %+v", statuses)
		}
	})
}
