package openpull_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"salve/internal/apierr"
	"salve/internal/prow/blocked"
	"salve/internal/prow/cluster"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/openpull"
)

const (
	head = "1111111111111111111111111111111111111111"
	jobs = `
prowjob_namespace: prow
pod_namespace: test-pods
branch-protection: {orgs: {kube: {repos: {widgets: {protect: true, required_status_checks: {contexts: [cla]}}}}}}
presubmits:
  kube/widgets:
  - {name: unit, always_run: true, spec: {containers: [{image: golang}]}}
  - {name: docs, run_if_changed: ^docs/, spec: {containers: [{image: golang}]}}
  - {name: code, run_if_changed: ^src/, spec: {containers: [{image: golang}]}}
  - {name: old, always_run: true, branches: [release], spec: {containers: [{image: golang}]}}
`
)

var (
	now     = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	main    = config.Branch{Org: "kube", Repo: "widgets", Name: "main"}
	refused = apierr.New(apierr.Terminal, "404, or no rights")
)

// world is a GitHub with one pull request, and counts what it is asked.
type world struct {
	testing.TB
	asked    []string
	pull     github.PullRequest
	contexts []github.Context
	files    []string
	// fails has the errors of what can't be read, by what it is asked as.
	fails map[string]error
	// reporters are who else reports a context.
	reporters map[string]string
}

func newWorld(t testing.TB) *world {
	return &world{TB: t, files: []string{"docs/a.md"}, fails: map[string]error{}, reporters: map[string]string{},
		pull: github.PullRequest{
			Repo: github.Repo{Owner: "kube", Name: "widgets"}, Number: 7, Open: true, Association: "MEMBER", Base: "main",
			HeadSHA: head, Created: now.Add(-3 * time.Hour), Updated: now.Add(-2 * time.Hour),
			MergeState: github.MergeBlocked,
		},
	}
}

func (w *world) ask(what string) error {
	w.asked = append(w.asked, what)
	return w.fails[what]
}

func (w *world) Reports(_ context.Context, _ github.Repo, sha string) (github.HeadReports, error) {
	return github.HeadReports{SHA: sha, Contexts: w.contexts}, w.ask("reports")
}

func (w *world) PullRequest(context.Context, github.Repo, int) (github.PullRequest, error) {
	return w.pull, w.ask("pull")
}

func (w *world) ChangedFiles(context.Context, github.Repo, int) (files github.Files, _ error) {
	for _, name := range w.files {
		files.Files = append(files.Files, github.File{Name: name})
	}
	return files, w.ask("files")
}

func (w *world) reader() *openpull.Reader {
	w.Helper()
	files := fstest.MapFS{"config.yaml": {Data: []byte(jobs)}}
	loaded, err := config.Load(files, config.Files{Config: "config.yaml"}).Config()
	if err != nil {
		w.Fatal(err)
	}
	return &openpull.Reader{GitHub: w, Config: loaded, Clock: clocktesting.NewFakeClock(now),
		Reporter: func(_ context.Context, _ config.Branch, name string) (string, error) {
			return w.reporters[name], w.ask("reporter of " + name)
		}}
}

// look is the pull request as a list shows it: without its merge state.
func (w *world) look() *openpull.Pull {
	listed := w.pull
	listed.MergeState = ""
	return w.reader().Look(listed)
}

// decide asks about a context, with all ProwJobs read and none about it.
func (w *world) decide(p *openpull.Pull, name string) (blocked.Question, blocked.Decision, error) {
	question := p.Question(main, head, name)
	question.Jobs = blocked.NewJobs("prow", cluster.Reading[cluster.Job]{})
	return p.Decide(w.Context(), question)
}

// TestNothingIsReadThatADecisionDoesNotNeed, and the cheap comes first.
func TestNothingIsReadThatADecisionDoesNotNeed(t *testing.T) {
	for rule, row := range map[string]struct {
		context string
		change  func(*world)
		do      blocked.Do
		asked   []string
	}{
		"what is reported takes one call": {"unit", func(w *world) {
			w.contexts = []github.Context{{Name: "unit", Word: "success", State: github.Success}}
		}, blocked.Nothing, []string{"reports"}},
		"a draft takes one too":  {"unit", func(w *world) { w.pull.Draft = true }, blocked.Leave, []string{"reports"}},
		"a job that always runs": {"unit", nil, blocked.Trigger, []string{"reports", "pull"}},
		"a conflict, which the list did not say": {"unit", func(w *world) { w.pull.MergeState = github.MergeDirty },
			blocked.Leave, []string{"reports", "pull"}},
		"a job that runs for some files":    {"docs", nil, blocked.Trigger, []string{"reports", "pull", "files"}},
		"a job that does not run for these": {"code", nil, blocked.Mend, []string{"reports", "pull", "files"}},
		"a context of others": {"cla", func(w *world) { w.reporters["cla"] = "EasyCLA" }, blocked.Leave,
			[]string{"reports", "reporter of cla", "pull"}},
		"a context of nobody": {"ghost", nil, blocked.Mend, []string{"reports", "reporter of ghost", "pull"}},
		"a job of another branch is no producer": {"old", nil, blocked.Mend,
			[]string{"reports", "reporter of old", "pull"}},
	} {
		t.Run(rule, func(t *testing.T) {
			w := newWorld(t)
			if row.change != nil {
				row.change(w)
			}
			_, decision, err := w.decide(w.look(), row.context)
			if err != nil || decision.Do != row.do || !slices.Equal(w.asked, row.asked) {
				t.Errorf("%s (%s) after %q: %v; want %s after %q", decision.Do, decision.Reason, w.asked, err, row.do, row.asked)
			}
		})
	}
}

// TestEachThingIsReadOnce, whatever number of contexts is asked about.
func TestEachThingIsReadOnce(t *testing.T) {
	w := newWorld(t)
	p := w.look()
	for _, name := range []string{"docs", "code", "unit", "docs"} {
		if _, decision, err := w.decide(p, name); err != nil || decision.Do == blocked.Unknown {
			t.Errorf("%s: %+v (%v)", name, decision, err)
		}
	}
	if _, err := p.Reports(t.Context()); err != nil {
		t.Error(err)
	}
	if whole, err := p.Whole(t.Context()); err != nil || whole.MergeState != github.MergeBlocked {
		t.Errorf("%+v (%v)", whole, err)
	}
	if want := []string{"reports", "pull", "files"}; !slices.Equal(w.asked, want) {
		t.Errorf("asked: %q, want %q", w.asked, want)
	}
}

// TestWhatCanNotBeReadIsUnseen to the decision, and is not asked for again.
func TestWhatCanNotBeReadIsUnseen(t *testing.T) {
	for what, row := range map[string]struct {
		context, fails string
		unseen         func(blocked.Unseen) error
	}{
		"statuses and check runs": {"unit", "reports", func(u blocked.Unseen) error { return u.Reports }},
		"the pull request":        {"unit", "pull", func(u blocked.Unseen) error { return u.Pull }},
		"the changed files":       {"docs", "files", func(u blocked.Unseen) error { return u.Files }},
		"who reports it":          {"cla", "reporter of cla", func(u blocked.Unseen) error { return u.Reporter }},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			w.fails[row.fails] = refused
			p := w.look()
			question, decision, err := w.decide(p, row.context)
			if err != nil || decision.Do != blocked.Unknown || !strings.Contains(decision.Reason, "404, or no rights") ||
				!errors.Is(row.unseen(question.Unseen), refused) {
				t.Errorf("%+v, %+v (%v)", decision, question.Unseen, err)
			}
			if _, decision, err = w.decide(p, row.context); err != nil || decision.Do != blocked.Unknown {
				t.Errorf("the second time: %+v (%v)", decision, err)
			}
			asked := slices.DeleteFunc(w.asked, func(what string) bool { return what != row.fails })
			if row.fails != "reporter of cla" && len(asked) != 1 { // who reports is remembered by who is asked
				t.Errorf("it was asked for %d times", len(asked))
			}
		})
	}
}

// TestAPauseOfGitHubsIsNoAnswer, and neither is the end of the run.
func TestAPauseOfGitHubsIsNoAnswer(t *testing.T) {
	for fails, context := range map[string]string{
		"reports": "unit", "pull": "unit", "files": "docs", "reporter of cla": "cla",
	} {
		w := newWorld(t)
		w.fails[fails] = &apierr.Error{Class: apierr.Throttled, Err: errors.New("a pause")}
		if _, decision, err := w.decide(w.look(), context); apierr.ClassOf(err) != apierr.Throttled || decision.Do != "" {
			t.Errorf("%s: %+v (%v)", fails, decision, err)
		}
	}
	w := newWorld(t)
	w.fails["reports"] = refused
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p := w.look()
	if _, decision, err := p.Decide(ended, p.Question(main, head, "unit")); err == nil || decision.Do != "" {
		t.Errorf("%+v (%v)", decision, err)
	}
}

// TestWhoReportsOneContextSaysNothingAboutAnother.
func TestWhoReportsOneContextSaysNothingAboutAnother(t *testing.T) {
	w := newWorld(t)
	w.fails["reporter of cla"] = refused
	p := w.look()
	if question, _, err := w.decide(p, "cla"); err != nil || question.Unseen.Reporter == nil {
		t.Fatalf("%+v (%v)", question.Unseen, err)
	}
	for _, name := range []string{"unit", "ghost"} {
		if question, decision, err := w.decide(p, name); err != nil || question.Unseen.Reporter != nil ||
			decision.Do == blocked.Unknown {
			t.Errorf("%s: %+v, %+v (%v)", name, decision, question.Unseen, err)
		}
	}
}

// TestWhoElseReportsIsAskedForEachContext, though all else of the pull request was read for the one before: what others
// report is not called a wrong protection.
func TestWhoElseReportsIsAskedForEachContext(t *testing.T) {
	w := newWorld(t)
	w.reporters["cla"] = "EasyCLA"
	p := w.look()
	for name, want := range map[string]blocked.Do{"unit": blocked.Trigger, "cla": blocked.Leave, "ghost": blocked.Mend} {
		for range 2 {
			if _, decision, err := w.decide(p, name); err != nil || decision.Do != want {
				t.Errorf("%s: %+v (%v), want %s", name, decision, err, want)
			}
		}
	}
	if !slices.Contains(w.asked, "reporter of ghost") {
		t.Errorf("asked: %q", w.asked)
	}
}

func TestWhatIsAskedForAloneFailsAlone(t *testing.T) {
	w := newWorld(t)
	w.fails["reports"], w.fails["pull"] = refused, refused
	p := w.look()
	for range 2 {
		if reports, err := p.Reports(t.Context()); !errors.Is(err, refused) || reports.SHA != "" {
			t.Errorf("%+v (%v)", reports, err)
		}
		if whole, err := p.Whole(t.Context()); !errors.Is(err, refused) || whole.Number != 0 {
			t.Errorf("%+v (%v)", whole, err)
		}
	}
	if reports, err := newWorld(t).look().Reports(t.Context()); err != nil || reports.SHA != head {
		t.Errorf("%+v (%v)", reports, err)
	}
}

// TestQuestion is what is known without asking anybody.
func TestQuestion(t *testing.T) {
	w := newWorld(t)
	reader := w.reader()
	for name, configured := range map[string]bool{"unit": true, "cla": true, "docs": false, "old": false, "ghost": false} {
		q := reader.Question(main, head, name)
		if q.Configured != configured || q.Context != name || q.Head != head || q.Branch != main || !q.Now.Equal(now) ||
			len(q.Presubmits) != 4 || q.InRepo {
			t.Errorf("%s: %+v", name, q)
		}
	}
	release := config.Branch{Org: "kube", Repo: "widgets", Name: "release"}
	if q := reader.Question(release, head, "old"); !q.Configured {
		t.Error("a context of another branch is configured there")
	}
	if job := reader.Producer(release, "old"); job == nil || job.Name != "old" {
		t.Errorf("%+v", job)
	}
	if job := reader.Producer(main, "old"); job != nil {
		t.Errorf("%+v", job)
	}
	if len(w.asked) != 0 {
		t.Errorf("asked: %q", w.asked)
	}
}
