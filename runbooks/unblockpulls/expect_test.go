package unblockpulls_test

import (
	"net/http"
	"strings"

	"salve/engine"
	"salve/internal/prow/githubsim"
	"salve/runbook"
	"salve/runbooks/unblockpulls"
)

// finds is what the discovery says where there is nothing to run for.
func (w *world) finds(answer runbook.Answer, outcome runbook.Outcome, says ...string) {
	w.Helper()
	_, finding := unblockpulls.Discover(w.Context(), w.of(nil), w.in)
	if finding.Answer != answer || finding.Outcome != outcome {
		w.Errorf("discovery: %s (%s): %s; want %s (%s)", finding.Answer, finding.Outcome, finding.Reason, answer, outcome)
	}
	for _, text := range says {
		if !strings.Contains(finding.Reason, text) {
			w.Errorf("it says %q, want something about %q", finding.Reason, text)
		}
	}
}

func (w *world) ends(result engine.Result, want runbook.Outcome, says ...string) {
	w.Helper()
	said := result.Reason + " " + result.Question
	if result.Outcome != want {
		w.Fatalf("ended %s: %s; want %s", result.Outcome, said, want)
	}
	for _, text := range says {
		if !strings.Contains(said, text) {
			w.Errorf("it says %q, want something about %q", said, text)
		}
	}
}

// comments are those of sam on a pull request.
func (w *world) comments(number int) (bodies []string) {
	w.sim.Update(func(github *githubsim.World) {
		for _, comment := range github.Repo("kube/widgets").Pull(number).Comments {
			if comment.Author == "sam" {
				bodies = append(bodies, comment.Body)
			}
		}
	})
	return bodies
}

// commented checks that comments, and nothing else, were written: so many in all. No status is ever set.
func (w *world) commented(want int) {
	w.Helper()
	for _, call := range w.sim.Changes() {
		if call.Method != http.MethodPost || !commentPath.MatchString(call.Path) {
			w.Errorf("GitHub was asked for %s %s", call.Method, call.Path)
		}
	}
	if got := len(w.sim.Changes()); got != want {
		w.Errorf("%d comments were made, want %d", got, want)
	}
}

// finding is what a guard of a preview says.
func (w *world) finding(guard string) runbook.Finding {
	w.Helper()
	result, err := w.engine().Check(w.Context(), w.made(w.of(nil), w.discovered()), engine.Options{})
	if err != nil {
		w.Fatal(err)
	}
	for _, finding := range result.Findings {
		if finding.Guard == guard {
			return finding
		}
	}
	w.Fatalf("%s was not asked: %+v", guard, result.Findings)
	return runbook.Finding{}
}

// says checks a guard's answer.
func (w *world) says(guard string, want runbook.Answer, about string) {
	w.Helper()
	if got := w.finding(guard); got.Answer != want || !strings.Contains(got.Reason, about) {
		w.Errorf("%s: %s: %s; want %s about %q", guard, got.Answer, got.Reason, want, about)
	}
}
