package rescuepods

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"salve/internal/prow/cluster"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/rescuepods/instance"
	"salve/runbooks/rescuepods/stranded"
)

func prowBook(t *testing.T) runbook.Runbook {
	t.Helper()
	in := Defaults()
	in.Prow.Config = "config.yaml"
	book, err := New(World{
		Cluster: &kube.Cluster{Client: fake.NewClientset(), Clock: clock.RealClock{}}, ClusterID: "x",
		Prow: &instance.Configuration{File: "/config.yaml", Namespaces: instance.Namespaces{ProwJobs: "prow", Pods: "pods"}},
	}, in)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

// TestWhatEachStepOfAProwIsGuardedBy: no deletion without each of Prow's guards, and no override passes over one.
func TestWhatEachStepOfAProwIsGuardedBy(t *testing.T) {
	book := prowBook(t)
	prows := []string{"namespace-agreed", "fix-proven", "prow-steady", "within-share", "list-approved", "two-persons"}
	for _, step := range book.Steps {
		for _, guard := range prows {
			if step.Name != "await-replacements" && !slices.Contains(step.Guards, guard) {
				t.Errorf("step %s is not guarded by %s", step.Name, guard)
			}
		}
	}
	for _, guard := range book.Guards {
		if slices.Contains(prows, guard.Name) && !guard.NotOverridable {
			t.Errorf("guard %s can be overridden", guard.Name)
		}
	}
}

// TestWhatProwGuardsDecide, by what was seen and by nothing else.
func TestWhatProwGuardsDecide(t *testing.T) {
	belong := instance.Namespaces{ProwJobs: "prow", Pods: "pods"}
	agree := instance.Sources{Git: belong, Mounted: belong, Landed: []string{"pods"}, Pods: 1}
	disagree, unseen := agree, agree
	disagree.Landed = []string{"default"}
	unseen.Landed, unseen.Pods = nil, 0
	rules := instance.Rules{Namespaces: belong, Proven: 2}
	stray := cluster.Pod{Namespace: "default", Name: "a", UID: "1"}
	one := make([]appsv1.Deployment, 1)
	zero := appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: new(int32)}}
	steady := instance.Deployed{Plank: []appsv1.Deployment{rolledOut()}, Sinker: []appsv1.Deployment{zero}}
	live := func(n int, foreign bool) (pods []stranded.Misplaced) {
		for range n {
			pods = append(pods, stranded.Misplaced{Pod: stranded.Pod{Phase: corev1.PodRunning}, Foreign: foreign})
		}
		return pods
	}
	half := &stranded.Reading{Stranded: live(2, false), Left: live(1, false), Expected: make([]stranded.Pod, 5)}
	half.Expected[0].Phase = corev1.PodRunning
	more := &stranded.Reading{Stranded: live(2, false), Left: live(10, true), Expected: half.Expected}
	pods := []stranded.Pod{{UID: "1"}, {UID: "2"}}
	list := listOf(pods)
	const yes, no, unknown = runbook.AnswerHolds, runbook.AnswerDoesNotHold, runbook.AnswerUnknown
	const attention, deferred = runbook.NeedsAttention, runbook.Deferred
	atRest := func(seen instance.Deployed) runbook.Finding {
		return Prow{Namespace: "prow"}.steady(steadinessOf(&seen, instance.Configuration{}))
	}
	proven := func(seen instance.Proof) runbook.Finding {
		return Prow{Proven: rules.Proven}.fixProven(proofOf(seen, rules))
	}
	approved := func(list string, pods ...stranded.Pod) runbook.Finding {
		return Prow{ApprovedList: list}.listApproved(listOf(pods))
	}
	for rule, row := range map[string]struct {
		found   runbook.Finding
		answer  runbook.Answer
		outcome runbook.Outcome
		says    string
	}{
		"sources agree":    {namespaceAgreed(agree), yes, "", "G2: git says pods in pods"},
		"sources disagree": {namespaceAgreed(disagree), no, attention, "are in default"},
		"one is not seen":  {namespaceAgreed(unseen), unknown, "", "G2: unknown"},

		"no stray": {proven(instance.Proof{}), yes, "", "G1: plank has no pod outside of pods"},
		"no proof": {proven(instance.Proof{Youngest: stray, Jobs: []string{"b"}}), no, deferred,
			"default/a, with pods of plank in pods: 1, of 2 that are wanted"},
		"the proof": {proven(instance.Proof{Youngest: stray, Jobs: []string{"b", "c"}}), yes, "", "b, c"},

		"no Deployment of plank":  {atRest(instance.Deployed{Sinker: one}), unknown, "", "of plank found in namespace prow"},
		"no Deployment of sinker": {atRest(instance.Deployed{Plank: one}), unknown, "", "of sinker"},
		"one restarts":            {atRest(instance.Deployed{Plank: one, Sinker: one}), no, deferred, "G9: restart"},
		"all is at rest":          {atRest(steady), yes, "", "G9: plank and sinker are rolled out"},

		"a share that is allowed":    {withinShare(tallyOf(half), 50), yes, "", "2 of the instance's 4 pods"},
		"a share that is too large":  {withinShare(tallyOf(half), 49), no, attention, "--max-share is 49 %"},
		"pods of others don't count": {withinShare(tallyOf(more), 50), no, attention, "2 of the instance's 3 pods"},

		"a list that nobody approved": {approved("", pods...), yes, "", "--approved-list " + list},
		"the approved list":           {approved(list, pods[1], pods[0]), yes, "", "is the approved one"},
		"another list":                {approved(list, pods[0]), no, attention, "the list changed"},
	} {
		got := row.found
		if got.Answer != row.answer || got.Outcome != row.outcome || !strings.Contains(got.Reason, row.says) {
			t.Errorf("%s: %+v", rule, got)
		}
	}
}

// rolledOut is a Deployment that is rolled out.
func rolledOut() appsv1.Deployment {
	return appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}}
}

// TestListsOfPods are told apart by UIDs, in whatever order.
func TestListsOfPods(t *testing.T) {
	seen := map[string]types.UID{}
	for _, pods := range [][]stranded.Pod{nil, {{UID: "1"}}, {{UID: "2"}}, {{UID: "1"}, {UID: "2"}}, {{UID: "12"}}} {
		list := listOf(pods)
		if _, again := seen[list]; again {
			t.Errorf("%v has the digest of others", pods)
		}
		seen[list] = ""
	}
}
