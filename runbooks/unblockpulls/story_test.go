package unblockpulls_test

import (
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/internal/prow/githubsim"
	"salve/journal"
	"salve/runbook"
)

// TestUnblock: a job that always runs never ran on a pull request. It is started by one comment, and nobody asks twice.
func TestUnblock(t *testing.T) {
	in(t, func(w *world) {
		book := w.made(w.of(nil), w.discovered())
		planned, err := w.engine().Plan(w.Context(), book, engine.Options{})
		if err != nil || planned.Plan == nil {
			w.Fatalf("%s: %s (%v)", planned.Outcome, planned.Reason, err)
		}
		if steps := planned.Plan.Steps; len(steps) != 1 || steps[0].Name != "trigger kube/widgets#7 unit" ||
			!strings.Contains(steps[0].Changes, `"/test unit"`) {
			w.Errorf("the plan is %+v", steps)
		}
		w.commented(0)
		w.ends(w.runBook(book), runbook.Remediated)
		w.commented(1)
		bodies := w.comments(7)
		if len(bodies) != 1 || !strings.HasPrefix(bodies[0], "/test unit\n") ||
			!strings.Contains(bodies[0], "<!-- salve unblock-pull-requests head="+headOf(7)+" context=unit -->") {
			w.Errorf("the comments are %q", bodies)
		}
		if len(w.heeded) != 1 || w.heeded[0] != "#7 unit" {
			w.Errorf("hook started %q", w.heeded)
		}
		w.finds(no, "", "nothing to ask for")
	})
}

const (
	yes     = runbook.AnswerHolds
	no      = runbook.AnswerDoesNotHold
	unknown = runbook.AnswerUnknown
)

// TestWhatNobodyHeedsIsNotAskedForAgain: hook is down. The run stops with a question after the first comment; resumed,
// or begun by others with a journal of their own, it never makes a second one for that head.
func TestWhatNobodyHeedsIsNotAskedForAgain(t *testing.T) {
	in(t, func(w *world) {
		w.noHook = true
		w.pull(8, nil)
		found := w.discovered()
		if len(found.Planned) != 2 {
			w.Fatalf("planned: %+v", found.Planned)
		}
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "Is hook running")
		w.commented(1)
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "Is hook running")
		w.commented(1)
		theirs := journal.NewMemory()
		defer w.replayed(theirs)
		others := &engine.Engine{Journal: theirs, Clock: w.engine().Clock}
		result, err := others.Run(w.Context(), w.made(w.of(nil), found), engine.Options{})
		if err != nil {
			w.Fatal(err)
		}
		w.ends(result, runbook.Undecided, "sam asked for it")
		w.commented(1)
		again := w.discovered()
		if len(again.Planned) != 1 || again.Planned[0].Number != 8 ||
			!strings.Contains(strings.Join(again.Left, " "), "it was asked for by sam") {
			w.Errorf("planned: %+v, left: %q", again.Planned, again.Left)
		}
		w.noHook = false // and an operator goes on without the first
		done := func(options *engine.Options) {
			options.Answers = map[string]engine.Answer{"trigger kube/widgets#7 unit": engine.AnswerDone}
		}
		w.ends(w.runBook(w.made(w.of(nil), found), done), runbook.NeedsAttention, `#7 "unit" is not reported`)
		w.commented(2)
		if len(w.heeded) != 1 || w.heeded[0] != "#8 unit" {
			w.Errorf("hook started %q", w.heeded)
		}
	})
}

// TestWhatNobodyReportsIsNamed: hook starts the job, and crier is down.
func TestWhatNobodyReportsIsNamed(t *testing.T) {
	in(t, func(w *world) {
		w.noCrier = true
		found := w.discovered()
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "ProwJob unit-7 was made", "Is crier running")
		w.status(headOf(7), "unit", "success")
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Remediated)
		w.commented(1)
	})
}

// TestPace: never more comments in a minute than were allowed.
func TestPace(t *testing.T) {
	in(t, func(w *world) {
		for number := 10; number < 22; number++ {
			w.pull(number, nil)
		}
		w.in.Pace = 6
		began := time.Now()
		w.ends(w.run(), runbook.Remediated)
		w.commented(13)
		var at []time.Time
		w.sim.Update(func(github *githubsim.World) {
			for _, number := range append([]int{7}, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21) {
				at = append(at, github.Repo("kube/widgets").Pull(number).Comments[0].Created)
			}
		})
		for i := 1; i < len(at); i++ {
			if apart := at[i].Sub(at[i-1]); apart < 9*time.Second {
				w.Errorf("comments %d and %d are %s apart", i, i+1, apart)
			}
		}
		if took := time.Since(began); took < 2*time.Minute || took > 20*time.Minute {
			w.Errorf("13 comments took %s", took)
		}
	})
}
