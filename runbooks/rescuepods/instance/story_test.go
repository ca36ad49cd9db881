package instance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/prow/prowtest"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/instance"
)

const account = "service-account"

// day is 5 February 2019 with today's plank.
type day struct {
	*prowtest.Stage
	good prowtest.Files
}

func newDay(t *testing.T) *day {
	t.Helper()
	prowtest.Need(t, prowtest.Plank)
	d := &day{Stage: prowtest.NewStage(t)}
	d.good = d.Good()
	for _, name := range []string{account, prowtest.UploadSecret} {
		d.Secret(d.Pods, name)
	}
	return d
}

func (d *day) jobs(names ...string) {
	d.Helper()
	var jobs []prowtest.Job
	for _, name := range names {
		job := prowtest.APresubmit(name)
		job.Secrets = []string{account}
		jobs = append(jobs, job)
	}
	d.Make(jobs...)
}

// deployed says in the cluster what is deployed: plank itself runs beside it.
func (d *day) deployed() {
	d.Helper()
	content, err := os.ReadFile(d.good.Config)
	d.Must(err)
	core := d.Plane.Client().CoreV1()
	_, err = core.ConfigMaps(d.ProwJobs).Create(d.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"config.yaml": string(content)},
	}, metav1.CreateOptions{})
	d.Must(err)
	for _, program := range []string{prowtest.Plank, prowtest.Sinker} {
		about := map[string]string{"app": program}
		_, err := d.Plane.Client().AppsV1().Deployments(d.ProwJobs).Create(d.Context(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: program},
			Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: about}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: about}, Spec: corev1.PodSpec{
					NodeSelector: d.Nodes, Containers: []corev1.Container{{
						Name: "main", Image: "registry.example/prow/" + program + ":v1",
						Args:         []string{"--config-path=/etc/config/config.yaml"},
						VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}},
					}},
					Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
						ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}},
					}}},
				},
			}},
		}, metav1.CreateOptions{})
		d.Must(err)
	}
	d.Eventually("plank and sinker are rolled out", func(ctx context.Context) error {
		list, err := d.Plane.Client().AppsV1().Deployments(d.ProwJobs).List(ctx, metav1.ListOptions{})
		waits := func(d appsv1.Deployment) bool { return d.Status.AvailableReplicas < 1 }
		if err == nil && slices.ContainsFunc(list.Items, waits) {
			err = errors.New("not yet")
		}
		return err
	})
}

func (d *day) uids(namespace string) map[string]types.UID {
	d.Helper()
	list, err := d.Plane.Client().CoreV1().Pods(namespace).List(d.Context(), metav1.ListOptions{})
	d.Must(err)
	uids := map[string]types.UID{}
	for _, pod := range list.Items {
		uids[pod.Name] = pod.UID
	}
	return uids
}

// run runs the runbook. The source counts as stopped at once: how old the youngest stray must be is not this test's.
func (d *day) run(edit func(*rescuepods.Inputs)) engine.Result {
	d.Helper()
	cluster, err := kube.Open(d.Plane.Kubeconfig(), "", clock.Real{})
	d.Must(err)
	in := rescuepods.Defaults()
	in.Prow.Config, in.MinAge.Duration = d.good.Config, time.Millisecond
	if edit != nil {
		edit(&in)
	}
	world := rescuepods.World{Cluster: cluster, ClusterID: "the-cluster", Apart: time.Second}
	world.Prow, err = instance.ReadConfiguration(in.Prow.Config)
	d.Must(err)
	book, err := rescuepods.New(world, in)
	d.Must(err)
	kept := journal.NewMemory()
	machine := &engine.Engine{Journal: kept, Clock: clock.Real{}, Holder: journal.Holder{User: "sre", Host: "h", PID: 1}}
	result, err := machine.Run(d.Context(), book, engine.Options{})
	d.Must(err)
	runbooktest.Replayed(d, kept, rescuepods.Name, func(history *journal.History) (runbook.Runbook, error) {
		var in rescuepods.Inputs
		if err := json.Unmarshal(history.Header.Inputs, &in); err != nil {
			return runbook.Runbook{}, err
		}
		return rescuepods.Replayed(in, history.Header.Target)
	})
	return result
}

func (d *day) ends(result engine.Result, want runbook.Outcome) {
	d.Helper()
	if result.Outcome != want {
		d.Errorf("ended %s: %s, want %s", result.Outcome, result.Reason, want)
		for _, finding := range result.Findings {
			d.Logf("%s %s: %s", finding.Guard, finding.Answer, finding.Reason)
		}
	}
}

// TestTheDayIsCleanedUp: a bad plank makes strays, a rollback makes new pods where they belong, and only then do the
// strays go. Whatever lives is the same pod afterwards.
func TestTheDayIsCleanedUp(t *testing.T) {
	d := newDay(t)
	d.deployed()
	before, during := d.named("before-a", "before-b"), d.named("a", "b", "c")
	plank := d.StartPlank(d.good)
	d.jobs(before...)
	d.AwaitJobPods(before...)
	plank = d.Roll(plank, d.Bad())
	d.jobs(during...)
	strays := append(slices.Clone(before), during...)
	d.AwaitPods(d.Astray, corev1.PodPending, slices.Clone(strays)...)

	seen := time.Now()
	d.Eventually("the strays are seconds old", func(context.Context) error {
		if time.Since(seen) < 2*time.Second {
			return errors.New("not yet")
		}
		return nil
	})
	d.ends(d.run(nil), runbook.NeedsAttention) // plank's newest pods land elsewhere
	d.Roll(plank, d.good)
	d.AwaitJobPods(strays...)            // plank made the missing ones
	d.ends(d.run(nil), runbook.Deferred) // no job is newer than the strays: nothing is proven
	d.AwaitPods(d.Astray, corev1.PodPending, slices.Clone(strays)...)

	d.jobs(d.named("after-a", "after-b", "after-c")...)
	all := append(slices.Clone(strays), d.named("after-a", "after-b", "after-c")...)
	d.AwaitJobPods(all...)
	live := d.uids(d.Pods)
	d.ends(d.run(nil), runbook.Remediated)
	if left := d.uids(d.Astray); len(left) != 0 {
		t.Errorf("strays are left: %v", left)
	}
	for name, uid := range live {
		if d.uids(d.Pods)[name] != uid {
			t.Errorf("pod %s is another one, or gone", name)
		}
	}
}

// named are names that no other Prow of the control plane has.
func (d *day) named(names ...string) []string {
	named := make([]string, len(names))
	for i, name := range names {
		named[i] = fmt.Sprintf("%s-%s", name, d.ProwJobs)
	}
	return named
}

// AwaitJobPods waits until these are the pods where pods belong, all running.
func (d *day) AwaitJobPods(names ...string) {
	d.Helper()
	d.AwaitPods(d.Pods, corev1.PodRunning, slices.Clone(names)...)
}
