package unblockpulls_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/runbook"
)

func TestTheBotIsRefused(t *testing.T) {
	for login, bot := range map[string]string{"sam": "Sam", "prow[bot]": "prow", "prow": "prow[bot]"} {
		in(t, func(w *world) {
			w.sim.Update(func(github *githubsim.World) {
				github.Token(token, login)
				github.Repo("kube/widgets").Collaborators = map[string]string{login: "admin"}
			})
			w.in.Bot = bot
			w.ends(w.run(), runbook.NeedsAttention, "not-the-bot", "Prow ignores its comments")
			w.commented(0)
		})
	}
}

func TestMoreThanTheCapIsRefusedAsAWhole(t *testing.T) {
	in(t, func(w *world) {
		w.pull(8, nil)
		w.pull(9, nil)
		w.in.Cap = 2
		w.ends(w.run(), runbook.NeedsAttention, "3 contexts", "--cap 3")
		w.commented(0)
		w.in.Cap = 3
		w.ends(w.run(), runbook.Remediated)
		w.commented(3)
	})
}

func TestStrays(t *testing.T) {
	in(t, func(w *world) {
		for i := range 3 {
			w.job(of(20+i, "unit"), nil)
			w.stray("test-pods", of(20+i, "unit").Name)
		}
		w.says("no-strays", yes, "outside of namespace test-pods: 0")
		w.stray("default", "unit-20")
		w.stray("default", "unit-21")
		w.stray("default", "of-another-prow")
		w.says("no-strays", yes, "2")
		w.stray("default", "unit-22")
		w.says("no-strays", no, "rescue-stranded-pods")
		w.ends(w.run(), runbook.NeedsAttention, "no-strays")
		w.commented(0)
	})
}

// TestStraysThatAppearBetweenTwoComments stop the run, which is open.
func TestStraysThatAppearBetweenTwoComments(t *testing.T) {
	in(t, func(w *world) {
		w.pull(8, nil)
		w.in.Pace = 1
		result := w.disturbed(before(1, http.MethodPost, "/issues/7", func() {
			for i := range 3 {
				w.job(of(20+i, "unit"), nil)
				w.stray("default", of(20+i, "unit").Name)
			}
		}))
		w.ends(result, runbook.NeedsAttention, "no-strays")
		w.commented(1)
		if !result.Open {
			w.Error("the run can't be resumed")
		}
	})
}

func TestHeadroom(t *testing.T) {
	in(t, func(w *world) {
		w.in.MaxUnfinished = 2
		w.says("headroom", yes, "unfinished: 1") // the nightly one
		w.job(of(20, "unit"), nil)
		w.says("headroom", no, "--max-unfinished 3")
		w.ends(w.run(), runbook.Deferred, "headroom")
		w.in.MaxUnfinished = 3
		w.write("config.yaml", strings.Replace(today, "{name: unit,", "{name: unit, max_concurrency: 1,", 1))
		w.says("headroom", no, "max_concurrency")
		w.write("config.yaml", "plank: {job_queue_capacities: {q: 0}}\n"+
			strings.Replace(today, "{name: unit,", "{name: unit, job_queue_name: q,", 1))
		w.says("headroom", no, "capacity 0")
		w.commented(0)
	})
}

// TestRoomIsWaitedFor: a job may run once at a time. The second one is asked for when the first has ended.
func TestRoomIsWaitedFor(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.Replace(today, "{name: unit,", "{name: unit, max_concurrency: 1,", 1))
		w.pull(8, nil)
		found := w.discovered()
		go func() {
			time.Sleep(20 * time.Minute)
			object, err := w.dynamic.Tracker().Get(prowtest.Resource(), "prow", "unit-7")
			if err != nil {
				w.Error(err)
				return
			}
			done := object.(*unstructured.Unstructured).DeepCopy()
			ended("success")(done)
			if err := w.dynamic.Tracker().Update(prowtest.Resource(), done, "prow"); err != nil {
				w.Error(err)
			}
			w.status(headOf(7), "unit", "success")
		}()
		began := time.Now()
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Remediated)
		w.commented(2)
		if took := time.Since(began); took < 20*time.Minute {
			w.Errorf("it took %s", took)
		}
	})
}

// TestGitHubCutToSixtyCalls: what doesn't fit into an hour is not begun. Where an operator says so, the run waits.
func TestGitHubCutToSixtyCalls(t *testing.T) {
	in(t, func(w *world) {
		for number := 8; number < 12; number++ {
			w.pull(number, nil)
		}
		var same *githubsim.World
		w.sim.Update(func(github *githubsim.World) { same = github })
		w.sim = githubsim.New(githubsim.Options{World: same, Limit: 60})
		found := w.discovered()
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "budget-suffices", "--override")
		w.commented(0)
		w.ends(w.runBook(w.made(w.of(nil), found), override("budget-suffices")), runbook.Remediated)
		w.commented(5)
	})
}

func TestALimitThatIsUsedUpPutsTheRunOff(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		w.sim.Limit("sam", 30)
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Deferred, "budget-suffices")
		w.sim.Limit("sam", 1)
		w.finds(no, runbook.Deferred, "rate limit")
		w.commented(0)
	})
}
