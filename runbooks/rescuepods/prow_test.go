package rescuepods_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/engine"
	"salve/internal/prow/prowtest"
	"salve/runbook"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/instance"
)

// newProwStage is a stage of a Prow instance: ProwJobs in a namespace of their own, plank and sinker rolled out, and a
// configuration in git and in the cluster. That no program of Prow is at work plays no part: the pods are there.
func newProwStage(t testing.TB) *stage {
	t.Helper()
	s := newStage(t)
	s.jobs = s.plane.Namespace(t)
	nodes := map[string]string{"rescuepods": s.jobs}
	s.plane.Nodes(t, 1, nodes)
	file := filepath.Join(t.TempDir(), "config.yaml")
	s.must(os.WriteFile(file, []byte(s.configuration(s.home)), 0o600))
	_, err := s.client.CoreV1().ConfigMaps(s.jobs).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"config.yaml": s.configuration(s.home)},
	}, metav1.CreateOptions{})
	s.must(err)
	s.deploy("prow-controller-manager", nodes)
	s.deploy("sinker", nodes)
	s.inputs.ProwJobs, s.inputs.Expected, s.inputs.Prow.Config = "", nil, file
	s.world.Prow, err = instance.ReadConfiguration(file)
	s.must(err)
	s.world.Apart = 100 * time.Millisecond
	s.eventually("plank and sinker are rolled out", func() bool {
		list, err := s.client.AppsV1().Deployments(s.jobs).List(t.Context(), metav1.ListOptions{})
		s.must(err)
		return !slices.ContainsFunc(list.Items, func(d appsv1.Deployment) bool { return d.Status.AvailableReplicas < 1 })
	})
	return s
}

func (s *stage) configuration(pods string) string {
	return fmt.Sprintf("prowjob_namespace: %s\npod_namespace: %s\n", s.jobs, pods)
}

// deploy rolls a program of Prow out. What its container runs is told by its image and its flags.
func (s *stage) deploy(program string, nodes map[string]string) {
	s.Helper()
	about := map[string]string{"app": program}
	_, err := s.client.AppsV1().Deployments(s.jobs).Create(s.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: program},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: about}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: about}, Spec: corev1.PodSpec{
				NodeSelector: nodes,
				Containers: []corev1.Container{{
					Name: "main", Image: "registry.example/prow/" + program + ":v20190205-1",
					Args:         []string{"--config-path=/etc/config/config.yaml"},
					VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}},
				}},
				Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
					ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}},
				}}},
			},
		}},
	}, metav1.CreateOptions{})
	s.must(err)
}

// ids are the names of the stage's jobs and pods: no two Prows of a cluster have a job of one name, nor have two stages.
func (s *stage) ids(names ...string) []string {
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = name + s.jobs[strings.LastIndex(s.jobs, "-"):]
	}
	return ids
}

func (s *stage) id(name string) string { return s.ids(name)[0] }

// prowJob makes a job as Prow does.
func (s *stage) prowJob(job prowtest.Job) {
	s.Helper()
	job.Name = s.id(job.Name)
	once, _ := known.LoadOrStore(s.plane, sync.OnceValue(func() error { return knowsProw(s.plane) }))
	s.must(once.(func() error)())
	object := job.Object(s.jobs, s.home)
	s.eventually("ProwJob "+job.Name+" is made", func() bool {
		_, err := s.admin().Dynamic.Resource(prowJobs).Namespace(s.jobs).Create(s.Context(), object, metav1.CreateOptions{})
		return err == nil
	})
}

// plankPod makes a pod as plank does for a job of the stage.
func (s *stage) plankPod(namespace, name string, edit func(*corev1.Pod)) *corev1.Pod {
	s.Helper()
	return s.pod(namespace, s.id(name), func(pod *corev1.Pod) {
		pod.Labels["prow.k8s.io/plank-version"] = "v20190205-1"
		pod.Annotations = map[string]string{"prow.k8s.io/job": prowtest.APresubmit(name).Job}
		if edit != nil {
			edit(pod)
		}
	})
}

// pending is a job of plank's that is not complete.
func pending(name string) prowtest.Job {
	job := prowtest.APresubmit(name)
	job.State = prowtest.Pending
	return job
}

// strays makes jobs that are not complete, each with a stray and a pod where it belongs.
func (s *stage) strays(names ...string) {
	s.Helper()
	for _, name := range names {
		s.prowJob(pending(name))
		s.plankPod(s.astray, name, nil)
		s.plankPod(s.home, name, nil)
	}
}

// fixed makes jobs that prove the fix: younger than all that is there, by the whole seconds that the API server keeps.
func (s *stage) fixed(names ...string) {
	s.Helper()
	began := s.plankPod(s.home, "before-"+names[0], nil).CreationTimestamp
	s.eventually("a second is over", func() bool { return time.Since(began.Time) > 1100*time.Millisecond })
	for _, name := range names {
		s.prowJob(pending(name))
		s.plankPod(s.home, name, nil)
	}
}

// proven are as many jobs as prove a fix.
var proven = []string{"new-1", "new-2", "new-3"}

// left are the reasons why pods are left alone, by their names.
func (s *stage) left(result engine.Result) map[string]string {
	s.Helper()
	reasons := map[string]string{}
	for _, finding := range result.Findings {
		for _, seen := range finding.Evidence {
			var value struct {
				Because string
				Pods    []string
			}
			if finding.Guard == "cannot-start" && json.Unmarshal(seen.Value, &value) == nil {
				for _, pod := range value.Pods {
					reasons[pod] = value.Because
				}
			}
		}
	}
	return reasons
}

// TestOnlyStraysOfTheInstanceGo: whatever else has Prow's label is left alone, with the rule that says why, and live
// pods are the same afterwards, by UID.
func TestOnlyStraysOfTheInstanceGo(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a", "b")
	done := prowtest.APresubmit("done")
	done.State = prowtest.Success
	s.prowJob(done)
	s.plankPod(s.astray, "done", nil)

	s.strays("runs")
	s.starts(s.astray, s.id("runs"))
	s.prowJob(pending("waits"))
	s.plankPod(s.astray, "waits", nil)
	s.pod(s.astray, s.id("by-hand"), func(pod *corev1.Pod) { delete(pod.Labels, "prow.k8s.io/id") })
	s.strays("copied")
	s.pod(s.astray, s.id("copy"), func(pod *corev1.Pod) { pod.Labels["prow.k8s.io/id"] = s.id("copied") })
	tekton := pending("tekton")
	tekton.Agent, tekton.Pods = prowtest.Tekton, s.astray
	s.prowJob(tekton)
	s.plankPod(s.astray, "tekton", nil)
	s.plankPod(s.astray, "theirs", nil) // of another Prow: no ProwJob of ours has its name
	s.pod(s.jobs, s.id("service"), func(pod *corev1.Pod) { delete(pod.Labels, "prow.k8s.io/id") })
	made := s.pod(s.astray, s.id("mkpod"), func(pod *corev1.Pod) { delete(pod.Labels, "created-by-prow") })
	s.fixed(proven...)
	home := s.uids(s.home)

	look := s.check()
	s.ends(look, "", "")
	reasons := s.left(look)
	for pod, says := range map[string]string{
		"runs": "container test has started", "waits": "G4:", "by-hand": "G3: its label prow.k8s.io/id",
		"copy": "G3: its label prow.k8s.io/id", "tekton": "G3: its job's agent", "theirs": "G3: no ProwJob",
		"service": "G6:",
	} {
		if !strings.HasPrefix(reasons[s.id(pod)], says) {
			t.Errorf("pod %s: %q, want %q", pod, reasons[s.id(pod)], says)
		}
	}
	if _, shown := reasons[s.id("mkpod")]; shown {
		t.Error("a pod without the label was looked at")
	}

	s.ends(s.run(), runbook.Remediated, "")
	s.remain(s.astray, s.ids("by-hand", "copy", "mkpod", "runs", "tekton", "theirs", "waits")...)
	if uids := s.uids(s.astray); uids[s.id("mkpod")] != made.UID {
		t.Error("a pod that nobody asked about was touched")
	}
	if there := s.uids(s.jobs); there[s.id("service")] == "" {
		t.Error("a pod in the namespace of the ProwJobs was touched")
	}
	for name, uid := range home {
		if s.uids(s.home)[name] != uid {
			t.Errorf("pod %s where it belongs is another one, or gone", name)
		}
	}
}

func (s *stage) patch(namespace, pod, patch string) {
	s.Helper()
	_, err := s.client.CoreV1().Pods(namespace).
		Patch(s.Context(), pod, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// TestProwGuardsRefuse: each by itself is enough, and nothing is deleted.
func TestProwGuardsRefuse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		given func(*stage)
		want  runbook.Outcome
		says  string
	}{
		{"the fix is not proven", func(s *stage) { s.fixed("new-1") }, runbook.Deferred,
			"G1: the fix is not proven, and plank may recreate what you delete"},
		{"the cluster's configuration disagrees", func(s *stage) {
			s.fixed(proven...)
			s.configure(s.configuration(s.astray))
		}, runbook.NeedsAttention, "G2: the sources disagree"},
		{"plank's pods land elsewhere", func(s *stage) {
			s.fixed(proven...)
			s.prowJob(pending("late"))
			s.plankPod(s.astray, "late", nil)
		}, runbook.NeedsAttention, "G2: the sources disagree"},
		{"a change of the configuration is in flight", func(s *stage) {
			s.fixed(proven...)
			s.configure(s.configuration(s.home) + "log_level: debug\n")
		}, runbook.Deferred, "G9: a change of the configuration is in flight"},
		{"sinker restarts", func(s *stage) {
			s.fixed(proven...)
			_, err := s.client.AppsV1().Deployments(s.jobs).Patch(s.Context(), "sinker", types.MergePatchType,
				[]byte(`{"spec":{"template":{"spec":{"nodeSelector":{"no":"such-node"}}}}}`), metav1.PatchOptions{})
			s.must(err)
		}, runbook.Deferred, "G9: restart: Deployment"},
		{"sinker can't be seen", func(s *stage) {
			s.fixed(proven...)
			s.must(s.client.AppsV1().Deployments(s.jobs).Delete(s.Context(), "sinker", metav1.DeleteOptions{}))
		}, runbook.Undecided, "G9: no Deployment of sinker"},
		{"too large a share", func(s *stage) {
			s.fixed(proven...)
			s.inputs.Prow.MaxShare = 10
		}, runbook.NeedsAttention, "G7: to be deleted: 2 of the instance's"},
		{"the version of another plank", func(s *stage) {
			s.fixed(proven...)
			s.inputs.Prow.PlankVersion = "v20190204-1"
		}, runbook.NothingToDo, "none lacks"},
		{"the configuration of another instance", func(s *stage) {
			s.fixed(proven...)
			s.world.Prow.ProwJobs = s.astray
			s.inputs.Prow.Namespace = s.jobs
		}, runbook.NothingToDo, "none lacks"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newProwStage(t)
			s.strays("a", "b")
			row.given(s)
			before := s.there(s.astray)
			s.ends(s.run(), row.want, row.says)
			s.remain(s.astray, before...)
		})
	}
}

// configure changes the configuration in the cluster.
func (s *stage) configure(content string) {
	s.Helper()
	maps := s.client.CoreV1().ConfigMaps(s.jobs)
	found, err := maps.Get(s.Context(), "config", metav1.GetOptions{})
	s.must(err)
	found.Data["config.yaml"] = content
	_, err = maps.Update(s.Context(), found, metav1.UpdateOptions{})
	s.must(err)
}

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

// TestFirstPreconditionThatFailsStopsTheRun: what changed is seen by an operator before anything else is deleted. The
// run goes on when it is asked to.
func TestFirstPreconditionThatFailsStopsTheRun(t *testing.T) {
	t.Parallel()
	s := newProwStage(t)
	s.strays("a", "b", "c")
	s.fixed(proven...)
	s.wrap(func(next http.RoundTripper) http.RoundTripper {
		return meddler{next, s.id("b"), &sync.Once{}, func() { s.patch(s.astray, s.id("b"), `{"metadata":{"labels":{"mine":"yes"}}}`) }}
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
				s.must(s.admin().Dynamic.Resource(prowJobs).Namespace(s.jobs).Delete(t.Context(), s.id(name), metav1.DeleteOptions{}))
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

// TestInputsOfAProw.
func TestInputsOfAProw(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.world.Prow = &instance.Configuration{File: "/config.yaml", Namespaces: instance.Namespaces{ProwJobs: "prow", Pods: "pods"}}
	for says, edit := range map[string]func(){
		"required flag --prow-config not set": func() { s.inputs.Prow.Config, s.inputs.Prow.PlankVersion = "", "v1" },
		"--proven-jobs 0":                     func() { s.inputs.Prow.Proven = 0 },
		"--max-share 101":                     func() { s.inputs.Prow.MaxShare = 101 },
		`--prow-namespace "A B"`:              func() { s.inputs.Prow.Namespace = "A B" },
		`--plank-version "a b"`:               func() { s.inputs.Prow.PlankVersion = "a b" },
		"--prow-config-map: ":                 func() { s.inputs.Prow.ConfigMap = "prow/config" },
		"names no key of a ConfigMap":         func() { s.inputs.Prow.ConfigMap = "prow/CONFIG/config.yaml" },
		"--incident-since":                    func() { s.inputs.Prow.Since = "yesterday" },
		"is before --incident-since": func() {
			s.inputs.Prow.Since, s.inputs.Prow.Until = "2019-02-05T10:00:00Z", "2019-02-05T09:00:00Z"
		},
		"conflict: --prowjob-namespace is default":    func() { s.inputs.ProwJobs = "default" },
		"conflict: --expected-namespace is test-pods": func() { s.inputs.Expected = []string{"test-pods"} },
	} {
		s.inputs = rescuepods.Defaults()
		s.inputs.Prow.Config = "config.yaml"
		edit()
		if _, err := rescuepods.New(s.world, s.inputs); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	s.inputs = rescuepods.Defaults()
	s.inputs.Prow.Config = "config.yaml"
	made := s.book().Inputs.(rescuepods.Inputs)
	if made.Selector != "created-by-prow=true" || !slices.Equal(made.Expected, []string{"pods"}) || made.ProwJobs != "prow" ||
		made.Prow.Namespace != "prow" || made.Prow.Config != "/config.yaml" {
		t.Errorf("%+v", made)
	}
	s.inputs.Expected = []string{"tekton", "pods"}
	if _, err := rescuepods.New(s.world, s.inputs); err != nil {
		t.Errorf("a further namespace: %v", err)
	}
}

// TestOtherSoftwareKnowsNothingOfProw: neither its inputs nor its guards do.
func TestOtherSoftwareKnowsNothingOfProw(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	book := s.book()
	if raw, err := json.Marshal(book.Inputs); err != nil || strings.Contains(string(raw), `"prow"`) {
		t.Errorf("%s, %v", raw, err)
	}
	if len(book.Guards) != 6 {
		t.Errorf("%d guards", len(book.Guards))
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
