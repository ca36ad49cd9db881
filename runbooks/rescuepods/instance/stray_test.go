package instance

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/internal/prow/cluster"
)

// TestStrayThatMayGo passes G3, G4 and G6.
func TestStrayThatMayGo(t *testing.T) {
	for rule, w := range map[string]*world{
		"its job has a pod where it belongs": aStray(),
		"its job is complete": func() *world {
			w := &world{}
			w.job("a", -1, func(job *cluster.Job) { job.Completed = at(20) })
			w.pod("default", "a", 0)
			return w
		}(),
		"it is in the namespace of the ProwJobs, and plank made it": func() *world {
			w := &world{}
			w.job("a", -1)
			w.pod("test-pods", "a", 10)
			w.pod("prow", "a", 0)
			return w
		}(),
	} {
		verdicts := w.state().Strays(rules)
		if len(verdicts) != 1 {
			t.Errorf("%s: %v", rule, verdicts)
		}
		for _, verdict := range verdicts {
			if !verdict.Ours || verdict.Leave != "" {
				t.Errorf("%s: %+v", rule, verdict)
			}
		}
	}
}

// TestPodsThatAreNotOurs: each is left alone with its reason, and says nothing about plank.
func TestPodsThatAreNotOurs(t *testing.T) {
	jobs := func(edit func(*cluster.Job)) *world {
		w := aStray()
		edit(&w.jobs.Objects[0])
		return w
	}
	for rule, row := range map[string]struct {
		w    *world
		says string
	}{
		"labelled by hand": {aStray(func(pod *cluster.Pod) { pod.ID = "" }), `G3: its label prow.k8s.io/id is ""`},
		"labelled by hand, with the id of another": {aStray(func(pod *cluster.Pod) { pod.ID = "b" }),
			`G3: its label prow.k8s.io/id is "b"`},
		"labelled by hand, in the name of a job": {aStray(func(pod *cluster.Pod) { pod.Annotated = false }),
			"G3: it has no annotation"},
		"of another job": {aStray(func(pod *cluster.Pod) { pod.Job = "pull-b" }),
			`G3: its annotation says job "pull-b", its ProwJob job "pull-a"`},
		"owned": {aStray(func(pod *cluster.Pod) { pod.Owned = true }), "G3: something owns it"},
		"a service in the namespace of the ProwJobs": {func() *world {
			w := &world{}
			w.job("a", -1)
			w.pod("prow", "a", 0, func(pod *cluster.Pod) { pod.PlankVersion = "" })
			return w
		}(), "G6: it is in the namespace of the ProwJobs"},
		"another Prow's":      {jobs(func(job *cluster.Job) { job.Name = "b" }), "G3: no ProwJob of namespace prow"},
		"another namespace's": {jobs(func(job *cluster.Job) { job.Namespace = "prow-2" }), "another Prow's"},
		"Tekton's": {jobs(func(job *cluster.Job) { job.Agent = "tekton-pipeline" }),
			`G3: its job's agent is "tekton-pipeline"`},
		"of another build cluster": {jobs(func(job *cluster.Job) { job.Cluster = "build-1" }),
			`G3: its job is for build cluster "build-1"`},
		"of a job that can't be read": {func() *world {
			w := aStray()
			w.jobs.Objects = nil
			w.jobs.Malformed = []cluster.Malformed{{Namespace: "prow", Name: "a", Why: errBroken}}
			return w
		}(), "G3: its ProwJob can't be read: broken"},
	} {
		var verdict Verdict
		for uid, one := range row.w.state().Strays(rules) {
			if uid != "test-pods/a" {
				verdict = one
			}
		}
		if verdict.Ours || !strings.Contains(verdict.Leave, row.says) {
			t.Errorf("%s: %+v", rule, verdict)
		}
	}
}

// TestStraysThatAreLeft though plank made them: they still say that it makes pods there.
func TestStraysThatAreLeft(t *testing.T) {
	bad := rules
	bad.PlankVersion = "v2"
	during := rules
	during.Since, during.Until = at(5), at(30)
	until := rules
	until.Until = at(-5)
	for rule, row := range map[string]struct {
		w     *world
		rules Rules
		says  string
	}{
		"of a plank that did not err":     {aStray(), bad, "G3: plank v1 made it, not v2"},
		"of a plank that says no version": {aStray(func(pod *cluster.Pod) { pod.PlankVersion = "" }), bad, "of no version"},
		"made before the incident":        {aStray(), during, "G3: made at 2019-02-05T09:00:00Z, outside of the incident"},
		"made after the incident":         {aStray(), until, "outside of the incident"},
		"its job waits for a pod": {func() *world {
			w := aStray()
			w.pods.Objects = w.pods.Objects[1:]
			return w
		}(), rules, "G4: its job is not complete, and has no pod in test-pods yet"},
		"its job's pod is being deleted": {func() *world {
			w := aStray()
			w.pods.Objects[0].Deleting = true
			return w
		}(), rules, "G4"},
		"the pod of its job's name is not its job's": {func() *world {
			w := aStray()
			w.pods.Objects[0].ID = "b"
			return w
		}(), rules, "G4"},
	} {
		verdict := row.w.state().Strays(row.rules)["default/a"]
		if !verdict.Ours || !strings.Contains(verdict.Leave, row.says) {
			t.Errorf("%s: %+v", rule, verdict)
		}
	}
}

// TestIncidentIsADayLong at most, back from the youngest stray, where nobody says when it was.
func TestIncidentIsADayLong(t *testing.T) {
	w := aStray()
	w.job("old", -60*24*3)
	w.pod("test-pods", "old", 10)
	w.pod("default", "old", -60*24-1)
	verdicts := w.state().Strays(rules)
	if verdicts["default/a"].Leave != "" || !strings.Contains(verdicts["default/old"].Leave, "outside of the incident") {
		t.Errorf("%v", verdicts)
	}
	named := rules
	named.Since = at(-60 * 24 * 2)
	if verdicts := w.state().Strays(named); verdicts["default/old"].Leave != "" {
		t.Errorf("%v", verdicts)
	}
	// A pod that somebody labelled by hand does not make it longer.
	w.pod("default", "by-hand", 60*24*7, func(pod *cluster.Pod) { pod.ID = "" })
	if verdicts := w.state().Strays(rules); verdicts["default/a"].Leave != "" {
		t.Errorf("%v", verdicts)
	}
}

// TestJobThatWasSeenAndIsGone: its stray stays ours, and may go. Of one that was never seen nobody knows whose it is.
func TestJobThatWasSeenAndIsGone(t *testing.T) {
	w := aStray()
	w.jobs.Objects = nil
	state := w.state()
	state.gone["default/a"] = true
	if verdict := state.Strays(rules)["default/a"]; !verdict.Ours || verdict.Leave != "" {
		t.Errorf("%+v", verdict)
	}
}

// TestExpectedNamespacesAreNotElsewhere, further ones included.
func TestExpectedNamespacesAreNotElsewhere(t *testing.T) {
	w := aStray()
	w.pod("tekton", "b", 0)
	also := rules
	also.Expected = []string{"test-pods", "tekton"}
	if verdicts := w.state().Strays(also); len(verdicts) != 1 {
		t.Errorf("%v", verdicts)
	}
}

// TestManyStraysAreJudgedInTime that grows as their number does.
func TestManyStraysAreJudged(t *testing.T) {
	w := &world{}
	for n := range 2000 {
		name := "job-" + time.Duration(n).String()
		w.job(name, -1)
		w.pod("test-pods", name, 10)
		w.pod("default", name, 0)
	}
	may := map[types.UID]bool{}
	for uid, verdict := range w.state().Strays(rules) {
		may[uid] = verdict.Leave == ""
	}
	if len(may) != 2000 || !may["default/job-0s"] {
		t.Errorf("%d", len(may))
	}
}

// TestWhenCrierIsDoneWithAStray: its job is gone, or complete and stored as it ended.
func TestWhenCrierIsDoneWithAStray(t *testing.T) {
	complete := func(job *cluster.Job) { job.State, job.Completed = cluster.Success, at(20) }
	for rule, row := range map[string]struct {
		job  func(*cluster.Job)
		gone bool
		want bool
	}{
		"stored":                      {job: func(job *cluster.Job) { complete(job); job.Stored = "success" }, want: true},
		"stored while it was pending": {job: func(job *cluster.Job) { complete(job); job.Stored = cluster.Pending }},
		"never stored":                {job: complete},
		"pending, and stored as that": {job: func(job *cluster.Job) { job.Stored = cluster.Pending }},
		"gone":                        {job: func(job *cluster.Job) { job.Name = "b" }, gone: true, want: true},
		"never seen":                  {job: func(job *cluster.Job) { job.Name = "b" }},
	} {
		w := aStray()
		row.job(&w.jobs.Objects[0])
		state := w.state()
		state.gone["default/a"] = row.gone
		if got := state.Releasable("default/a", "a"); got != row.want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}
