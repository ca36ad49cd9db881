package repairprotection_test

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/kubetest"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/repairprotection"
)

const rolesFile = "../../deploy/repair-branch-protection-role.yaml"

// stage is a world whose cluster is a real control plane with Prow's resources.
type stage struct {
	*world
	plane   *kubetest.ControlPlane
	cluster *kube.Cluster
	prow    string
}

// newStage has a branchprotector deployed that never runs by itself.
func newStage(t *testing.T) *stage {
	s := &stage{world: newWorld(t), plane: kubetest.Start(t)}
	s.prow = s.plane.Namespace(t)
	admin, err := dynamic.NewForConfig(s.plane.Config())
	s.must(err)
	s.must(prowtest.Define(t.Context(), admin))
	s.kubectl("apply", "-f", rolesFile)
	s.Cleanup(func() { s.kubectlAfterwards("delete", "namespace", "salve-system", "--wait=true") })
	protector := cronJob("gcr.io/k8s-prow/branchprotector:v2")
	protector.Namespace, protector.Spec.Schedule = s.prow, "0 0 30 2 *"
	protector.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	_, err = s.plane.Client().BatchV1().CronJobs(s.prow).Create(t.Context(), protector, metav1.CreateOptions{})
	s.must(err)
	s.Cleanup(func() { s.kubectlAfterwards("-n", s.prow, "delete", "cronjob", "branchprotector") })
	s.write("config.yaml", strings.ReplaceAll(today, "prowjob_namespace: prow", "prowjob_namespace: "+s.prow))
	s.write("manifests/protector.yaml", strings.ReplaceAll(manifest, "namespace: prow", "namespace: "+s.prow))
	s.cluster, err = kube.Open(s.plane.Kubeconfig(), "", clock.Real{})
	s.must(err)
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) kubectl(arguments ...string) string {
	s.Helper()
	said, err := s.command(s.Context(), arguments...)
	if err != nil {
		s.Fatalf("kubectl %v: %v: %s", arguments, err, said)
	}
	return said
}

func (s *stage) kubectlAfterwards(arguments ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if said, err := s.command(ctx, arguments...); err != nil {
		s.Errorf("kubectl %v: %v: %s", arguments, err, said)
	}
}

func (s *stage) command(ctx context.Context, arguments ...string) (string, error) {
	said, err := exec.CommandContext(ctx, s.plane.Program("kubectl"),
		append([]string{"--kubeconfig", s.plane.Kubeconfig()}, arguments...)...).CombinedOutput()
	return string(said), err
}

// bookOn is the runbook on the control plane, as a user reaches it.
func (s *stage) bookOn(cluster *kube.Cluster) runbook.Runbook {
	s.Helper()
	world := s.of(nil)
	world.Cluster = cluster
	found, finding := repairprotection.Discover(s.Context(), world, s.in)
	if finding.Answer != runbook.AnswerHolds {
		s.Fatalf("discovery: %s: %s", finding.Answer, finding.Reason)
	}
	return s.made(world, found)
}

// asked asks one guard.
func (s *stage) asked(guard string) runbook.Finding {
	s.Helper()
	machine := &engine.Engine{Journal: journal.NewMemory(), Clock: clock.Real{}}
	result, err := machine.Check(s.Context(), s.bookOn(s.cluster), engine.Options{})
	s.must(err)
	for _, finding := range result.Findings {
		if finding.Guard == guard {
			return finding
		}
	}
	s.Fatalf("%s was not asked: %+v", guard, result.Findings)
	return runbook.Finding{}
}

// TestGuardsOnACluster asks the guards of a real control plane.
func TestGuardsOnACluster(t *testing.T) {
	s := newStage(t)
	never := func(change func(*corev1.PodSpec)) corev1.PodSpec {
		spec := corev1.PodSpec{
			Containers: containersOf("gcr.io/k8s-prow/branchprotector:v1"), RestartPolicy: corev1.RestartPolicyNever,
			SchedulerName: "nobody",
		}
		if change != nil {
			change(&spec)
		}
		return spec
	}
	job := func(name string, change func(*batchv1.Job)) {
		made := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.prow, Name: name}}
		made.Spec.Template.Spec = never(nil)
		change(made)
		_, err := s.plane.Client().BatchV1().Jobs(s.prow).Create(t.Context(), made, metav1.CreateOptions{})
		s.must(err)
	}
	remove := func(kind, name string) { s.kubectl("-n", s.prow, "delete", kind, name, "--wait=true", "--force") }
	prowJob := func(name, image string) {
		object := prowtest.APeriodic(name).Object(s.prow, s.prow)
		spec, _ := object.Object["spec"].(map[string]any)
		spec["pod_spec"] = map[string]any{"containers": []any{map[string]any{"name": "p", "image": image}}}
		_, err := s.dynamicAdmin().Resource(prowtest.Resource()).Namespace(s.prow).Create(t.Context(), object,
			metav1.CreateOptions{})
		s.must(err)
	}
	for _, row := range []struct {
		rule    string
		guard   string
		arrange func() (undo func())
		answer  runbook.Answer
		says    string
	}{
		{"nothing runs", "no-protector-running", nil, yes, "none"},
		{"a suspended Job makes no pod", "no-protector-running", func() func() {
			job("suspended", func(made *batchv1.Job) { made.Spec.Suspend = new(true) })
			return func() { remove("job", "suspended") }
		}, yes, "none"},
		{"a Job does", "no-protector-running", func() func() {
			job("begun", func(*batchv1.Job) {})
			return func() { remove("job", "begun") }
		}, no, "Job " + s.prow + "/begun"},
		{"a pod does, whoever made it", "no-protector-running", func() func() {
			_, err := s.plane.Client().CoreV1().Pods(s.prow).Create(t.Context(), &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "bare"}, Spec: never(func(spec *corev1.PodSpec) {
					spec.Containers[0].Image, spec.Containers[0].Command = "registry.example/mirror", []string{"/app/branchprotector"}
				})}, metav1.CreateOptions{})
			s.must(err)
			return func() { remove("pod", "bare") }
		}, no, "pod " + s.prow + "/bare"},
		{"a ProwJob is about to", "no-protector-running", func() func() {
			prowJob("protect", "gcr.io/k8s-prow/branchprotector:v1")
			return func() { remove("prowjob", "protect") }
		}, no, "ProwJob " + s.prow + "/protect"},
		{"a ProwJob of something else", "no-protector-running", func() func() {
			prowJob("other", "golang")
			return func() { remove("prowjob", "other") }
		}, yes, "none"},
		{"deployed as declared", "protector-agrees", nil, yes, "as declared: 1"},
		{"no manifests", "protector-agrees", func() func() {
			manifests := s.in.Manifests
			s.in.Manifests = ""
			return func() { s.in.Manifests = manifests }
		}, unknown, "--manifests"},
		{"an image that was edited by hand", "protector-agrees", func() func() {
			s.kubectl("-n", s.prow, "set", "image", "cronjob/branchprotector", "p=gcr.io/k8s-prow/branchprotector:v3")
			return func() {
				s.kubectl("-n", s.prow, "set", "image", "cronjob/branchprotector", "p=gcr.io/k8s-prow/branchprotector:v2")
			}
		}, no, "branchprotector:v3"},
		{"no record", "configuration-not-older", nil, yes, "no configuration"},
		{"a newer one was applied", "configuration-not-older", func() func() {
			s.kubectl("-n", "salve-system", "create", "configmap", "salve-branch-protection", "--from-literal=revision=3",
				"--from-literal=digest=d", "--from-literal=github=github.example")
			return func() { s.kubectl("-n", "salve-system", "delete", "configmap", "salve-branch-protection") }
		}, no, "older"},
		{"a record of nothing", "configuration-not-older", func() func() {
			s.kubectl("-n", "salve-system", "create", "configmap", "salve-branch-protection")
			return func() { s.kubectl("-n", "salve-system", "delete", "configmap", "salve-branch-protection") }
		}, unknown, "is not a record"},
		{"a namespace that is not there", "configuration-not-older", func() func() {
			s.in.RecordNamespace = "nowhere"
			return func() { s.in.RecordNamespace = "salve-system" }
		}, unknown, "kubectl create namespace nowhere"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if row.arrange != nil {
				defer row.arrange()()
			}
			finding := s.asked(row.guard)
			if finding.Answer != row.answer || !strings.Contains(finding.Reason, row.says) {
				t.Errorf("%s: %s; want %s about %q", finding.Answer, finding.Reason, row.answer, row.says)
			}
		})
	}
}

// spoil has the old branchprotector run again.
func (s *stage) spoil() {
	s.protection("kube/widgets", func(branch *githubsim.Branch) {
		branch.Protection = githubsim.Require("cla", "docs", "unit")
	})
}

func (s *stage) dynamicAdmin() dynamic.Interface {
	s.Helper()
	admin, err := dynamic.NewForConfig(s.plane.Config())
	s.must(err)
	return admin
}

const (
	yes     = runbook.AnswerHolds
	no      = runbook.AnswerDoesNotHold
	unknown = runbook.AnswerUnknown
)

// TestTheRoleInDeployIsWhatIsNeeded: a run passes with it, twice, and without any of its rights nothing is known.
func TestTheRoleInDeployIsWhatIsNeeded(t *testing.T) {
	s := newStage(t)
	user := s.prow
	s.kubectl("create", "clusterrolebinding", user, "--clusterrole=salve-repair-branch-protection", "--user="+user)
	defer s.kubectlAfterwards("delete", "clusterrolebinding", user)
	s.kubectl("-n", "salve-system", "create", "rolebinding", user, "--role=salve-branch-protection-record", "--user="+user)
	cluster, err := kube.Open(s.plane.KubeconfigOf(t, user), "", clock.Real{})
	s.must(err)
	s.must(prowtest.Until(t.Context(), "the rights are there", func(ctx context.Context) error {
		_, err := cluster.Client.BatchV1().CronJobs("").List(ctx, metav1.ListOptions{})
		return err
	}))
	for round, revision := range []string{"2", "3"} { // the record is made, and then changed
		s.in.Revision = revision
		s.spoil()
		s.ends(s.runBook(s.bookOn(cluster)), runbook.Remediated)
		data := s.kubectl("-n", "salve-system", "get", "configmap", "salve-branch-protection", "-o", "jsonpath={.data}")
		if !strings.Contains(data, `"revision":"`+revision+`"`) || len(s.changed()) != round+1 {
			t.Errorf("recorded is %s; GitHub was asked for %v", data, s.changed())
		}
	}
	s.spoil()
	s.sim.ForgetCalls()
	roles := s.plane.Client().RbacV1().ClusterRoles()
	whole, err := roles.Get(t.Context(), "salve-repair-branch-protection", metav1.GetOptions{})
	s.must(err)
	for i, rule := range whole.Rules {
		if rule.Resources[0] == "namespaces" {
			continue // it is asked for where there is no record, and by the command line
		}
		t.Run("without "+rule.Resources[0], func(t *testing.T) {
			cut := whole.DeepCopy()
			cut.ResourceVersion, cut.Rules = "", slices.Delete(cut.Rules, i, i+1)
			_, err := roles.Update(t.Context(), cut, metav1.UpdateOptions{})
			s.must(err)
			kept := journal.NewMemory()
			defer func() { replayed(t, kept) }()
			machine := &engine.Engine{Journal: kept, Clock: clock.Real{}}
			s.must(prowtest.Until(t.Context(), "the right is gone", func(ctx context.Context) error {
				result, err := machine.Run(ctx, s.bookOn(cluster), engine.Options{})
				if err == nil && (result.Outcome != runbook.Undecided || !strings.Contains(result.Reason, "forbidden")) {
					s.spoil()
					s.sim.ForgetCalls()
					err = &stillThere{string(result.Outcome) + ": " + result.Reason}
				}
				return err
			}))
			s.unchanged()
		})
	}
}

type stillThere struct{ text string }

func (e *stillThere) Error() string { return e.text }
