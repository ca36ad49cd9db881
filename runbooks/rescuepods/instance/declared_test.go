package instance

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/prow/cluster"
)

// TestWhatAProwJobDeclares about its pod's namespace is heeded: a pod that lies there is no stray, whoever made it and
// whatever the sources say; one whose job declares a third place may not go.
func TestWhatAProwJobDeclares(t *testing.T) {
	declare := func(namespace, agent string) func(*cluster.Job) {
		return func(job *cluster.Job) { job.PodNamespace, job.Agent = namespace, agent }
	}
	for rule, row := range map[string]struct {
		job   func(*cluster.Job)
		ours  bool
		leave string // empty: it may go
	}{
		"where all pods belong": {declare("test-pods", cluster.KubernetesAgent), true, ""},
		"nothing, as of old":    {declare("", cluster.KubernetesAgent), true, ""},
		"where the pod is": {declare("default", cluster.KubernetesAgent), false,
			"G3: its ProwJob declares namespace default, and there it is"},
		"where Tekton's pod is": {declare("default", "tekton-pipeline"), false,
			"G3: its ProwJob declares namespace default, and there it is"},
		"a third place": {declare("elsewhere", cluster.KubernetesAgent), true,
			"G2: its ProwJob declares namespace elsewhere, and not test-pods"},
		"what looks like the one": {declare("Default", cluster.KubernetesAgent), true,
			"G2: its ProwJob declares namespace Default"},
		"what nobody could make": {declare("test-pods\n", cluster.KubernetesAgent), true,
			"G2: its ProwJob declares namespace test-pods"},
		"two at once": {declare("default,test-pods", cluster.KubernetesAgent), true, "G2: "},
	} {
		w := aStray()
		row.job(&w.jobs.Objects[0])
		w.jobs.Objects[0].Completed = at(20)
		verdict := w.state().Strays(rules)["default/a"]
		if verdict.Ours != row.ours || (verdict.Leave == "") != (row.leave == "") || !strings.HasPrefix(verdict.Leave,
			row.leave) {
			t.Errorf("%s: %+v", rule, verdict)
		}
	}
}

// TestAPodThatClaimsAnothersJobGainsNothing: what it says of itself is no declaration.
func TestAPodThatClaimsAnothersJobGainsNothing(t *testing.T) {
	w := aStray()
	w.jobs.Objects[0].PodNamespace = "default"
	w.pod("forged", "a", 1)
	verdicts := w.state().Strays(rules)
	if forged := verdicts["forged/a"]; forged.Leave == "" || !strings.HasPrefix(forged.Leave, "G2: ") {
		t.Errorf("a pod of that name in a third namespace: %+v", forged)
	}
}

// TestAPodWhereItsJobDeclaresItIsNoStrayToTheProof either: the fix is proven without it.
func TestAPodWhereItsJobDeclaresItIsNoStrayToTheProof(t *testing.T) {
	w := aStray()
	w.job("tekton", 40, func(job *cluster.Job) { job.PodNamespace = "default" })
	w.pod("default", "tekton", 40)
	w.job("new", 20, func(job *cluster.Job) { job.PodNamespace = "test-pods" })
	w.pod("test-pods", "new", 21)
	w.job("other", 22, func(job *cluster.Job) { job.PodNamespace = "elsewhere" })
	w.pod("test-pods", "other", 23) // it landed by chance where its job doesn't declare it
	if proof := w.state().Proof(rules); !slices.Equal(proof.Jobs, []string{"new"}) || proof.Youngest.UID != "default/a" {
		t.Errorf("%v after %s", proof.Jobs, proof.Youngest)
	}
}

// TestDeclaredByTheNewest pods' ProwJobs alone.
func TestDeclaredByTheNewest(t *testing.T) {
	w := aStray()
	w.jobs.Objects[0].PodNamespace = "old"
	w.job("b", 20, func(job *cluster.Job) { job.PodNamespace = "test-pods" })
	w.pod("test-pods", "b", 20)
	w.job("c", 20)
	w.pod("test-pods", "c", 20)
	if got := w.state().Declared(); !slices.Equal(got, []string{"test-pods"}) {
		t.Errorf("declared: %q", got)
	}
	w.jobs.Objects[2].PodNamespace = "default"
	if got := w.state().Declared(); !slices.Equal(got, []string{"default", "test-pods"}) {
		t.Errorf("declared: %q", got)
	}
	sources := SourcesOf(Configuration{Namespaces: rules.Namespaces}, &Deployed{Mounted: rules.Namespaces}, w.state())
	if sources.Agree() {
		t.Error("sources agree that a ProwJob contradicts")
	}
}

// TestAnOwnedPodProvesNothing: nothing owns the pods that plank makes.
func TestAnOwnedPodProvesNothing(t *testing.T) {
	w := aStray()
	w.job("new", 20)
	w.pod("test-pods", "new", 21, func(pod *cluster.Pod) { pod.Owned = true })
	if proof := w.state().Proof(rules); len(proof.Jobs) != 0 {
		t.Errorf("proven by %v", proof.Jobs)
	}
	if landed, _ := w.state().Landed(); !slices.Equal(landed, []string{"test-pods"}) {
		t.Errorf("landed in %v", landed)
	}
	w.pod("default", "new", 30, func(pod *cluster.Pod) { pod.Owned = true })
	if landed, pods := w.state().Landed(); !slices.Equal(landed, []string{"test-pods"}) || pods != 1 {
		t.Errorf("landed in %v by %d", landed, pods)
	}
}
