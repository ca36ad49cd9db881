package drift_test

import (
	"context"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"salve/internal/clock"
	"salve/internal/kubetest"
	"salve/internal/prow/check"
	"salve/internal/prow/drift"
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
	"salve/internal/prow/protector"
	"salve/internal/prow/prowtest"
	"salve/kube"
)

const (
	current = "registry.example/prow/branchprotector:v20190205-d83780367"
	old     = "registry.example/prow/branchprotector:v20190125-2aca69d"
)

// stage is a world whose Prow has a real control plane.
type stage struct {
	*world
	plane *kubetest.ControlPlane
	prow  string
}

func newStage(t *testing.T) *stage {
	s := &stage{world: newWorld(t), plane: kubetest.Start(t)}
	s.prow = s.plane.Namespace(t)
	admin, err := dynamic.NewForConfig(s.plane.Config())
	s.must(err)
	s.must(prowtest.Define(t.Context(), admin))
	s.config = "prowjob_namespace: " + s.prow + today
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func template(image string) batchv1.JobSpec {
	return batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "p", Image: image}},
	}}}
}

// deploys puts a CronJob into the cluster that never runs by itself.
func (s *stage) deploys(image string) {
	job := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "branchprotector", Namespace: s.prow},
		Spec: batchv1.CronJobSpec{Schedule: "0 0 30 2 *", JobTemplate: batchv1.JobTemplateSpec{Spec: template(image)}}}
	jobs := s.plane.Client().BatchV1().CronJobs(s.prow)
	_, err := jobs.Create(s.Context(), job, metav1.CreateOptions{})
	s.must(err)
	s.Cleanup(func() { s.must(jobs.Delete(context.WithoutCancel(s.Context()), job.Name, metav1.DeleteOptions{})) })
}

// begins starts a run that does not end, since it may have no pod, until end is called.
func (s *stage) begins(image string) (end func()) {
	jobs := s.plane.Client().BatchV1().Jobs(s.prow)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "by-hand", Namespace: s.prow}, Spec: template(image)}
	job.Spec.Parallelism = new(int32)
	_, err := jobs.Create(s.Context(), job, metav1.CreateOptions{})
	s.must(err)
	return func() {
		now := metav1.DeletePropagationBackground
		s.must(jobs.Delete(s.Context(), job.Name, metav1.DeleteOptions{PropagationPolicy: &now}))
	}
}

// cluster is a reader of its own: none keeps what another has read. Namespaces of other tests are not this Prow's.
func (s *stage) cluster() *protector.Reader {
	s.Helper()
	cluster, err := kube.Open(s.plane.Kubeconfig(), "", clock.Real{})
	s.must(err)
	return &protector.Reader{Cluster: cluster, ProwJobs: s.prow}
}

func (s *stage) declares(image string) func(context.Context) (check.Facts, error) {
	return func(ctx context.Context) (check.Facts, error) {
		facts, err := s.facts(ctx)
		facts.Manifests = manifest.Read(fstest.MapFS{"m/p.yaml": {Data: []byte(`apiVersion: batch/v1
kind: CronJob
metadata: {name: branchprotector, namespace: ` + s.prow + `}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: p, image: "` + image + `"}]}}}}}
`)}}, "m", "")
		facts.Options.DeployJobs = []string{}
		return facts, err
	}
}

// polls makes a poller of its own and polls once.
func (s *stage) polls(facts func(context.Context) (check.Facts, error), want ...string) map[string]finding.Verdict {
	s.Helper()
	poller, err := drift.NewPoller(drift.Options{GitHub: s.client(), Cluster: s.cluster(), Facts: facts})
	s.must(err)
	s.poller = poller
	return s.expects(want...)
}

// TestProtectorAtWork: an old one is named, and what it writes is an alarm while it does.
func TestProtectorAtWork(t *testing.T) {
	s := newStage(t)
	s.deploys(current)
	s.verdict(s.polls(s.declares(current))["B8"], finding.OK, "")

	s.requires("cla", "docs", "unit")
	end := s.begins(old)
	verdicts := s.polls(s.declares(current), "ALERT B3 org/app=main",
		"ALERT B8 component=branchprotector in progress: "+old)
	s.verdict(verdicts["B3"], finding.Alert, "")
	end()

	s.verdict(s.polls(s.declares(current), "ALERT B3 org/app=main")["B8"], finding.OK, "")
}

// TestHandEdit: a CronJob in the cluster is another than in its manifest.
func TestHandEdit(t *testing.T) {
	s := newStage(t)
	s.deploys(current)
	s.polls(s.declares(old), "WARN B8 namespace="+s.prow+" component=branchprotector CronJob "+s.prow+"/branchprotector")
}

// TestRunThatEndsMeanwhile: a branchprotector that was at work when the reading began may have written during it.
func TestRunThatEndsMeanwhile(t *testing.T) {
	s := newStage(t)
	s.deploys(current)
	s.requires("cla")
	end, transport := sync.OnceFunc(s.begins(current)), s.options.Transport
	s.options.Transport = roundTripper(func(request *http.Request) (*http.Response, error) {
		end()
		return transport.RoundTrip(request)
	})
	s.verdict(s.polls(s.declares(current), "INFO B3 org/app=main")["B3"], finding.Unknown, "held back")
	s.polls(s.declares(current), "WARN B3 org/app=main")
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// TestClusterWithoutAnAnswer: what could not be listed is not nothing.
func TestClusterWithoutAnAnswer(t *testing.T) {
	s := newStage(t)
	reader := s.cluster()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	seen := drift.ReadProtector(ctx, reader)
	for _, failed := range []string{seen.DeployedFailed, seen.RunsFailed} {
		if !strings.Contains(failed, "canceled") {
			t.Errorf("failed: %q", failed)
		}
	}
}

// TestTheRoleInDeploySuffices: with it, and nothing else, both questions have an answer.
func TestTheRoleInDeploySuffices(t *testing.T) {
	s := newStage(t)
	who := "watcher-" + s.prow
	for _, arguments := range [][]string{{"apply", "-f", "../../../deploy/prow-check-role.yaml"},
		{"create", "clusterrolebinding", who, "--clusterrole=salve-prow-check-protector", "--user=" + who}} {
		command := exec.CommandContext(t.Context(), s.plane.Program("kubectl"),
			append([]string{"--kubeconfig", s.plane.Kubeconfig()}, arguments...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", arguments, err, out)
		}
	}
	t.Cleanup(func() {
		s.must(s.plane.Client().RbacV1().ClusterRoleBindings().Delete(context.WithoutCancel(t.Context()), who,
			metav1.DeleteOptions{}))
	})
	cluster, err := kube.Open(s.plane.KubeconfigOf(t, who), "", clock.Real{})
	s.must(err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		seen := drift.ReadProtector(ctx, &protector.Reader{Cluster: cluster})
		if seen.DeployedFailed+seen.RunsFailed == "" {
			break
		}
		// The authorizer learns of new rights by a watch.
		if err := clock.Sleep(ctx, clock.Real{}, 50*time.Millisecond); err != nil {
			t.Fatalf("%+v", seen)
		}
	}
	want := []string{"list cronjobs.batch", "list jobs.batch", "list pods", "list prowjobs.prow.k8s.io"}
	if used := s.plane.Requests(t, who); !slices.Equal(used, want) {
		t.Errorf("the role allows more, or less, than is used: %q", used)
	}
}
