package drift_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"salve/internal/clock"
	"salve/internal/prow/check"
	"salve/internal/prow/drift"
	"salve/internal/prow/finding"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/kube"
)

// opens opens a pull request of a member for main of org/app, two hours ago, on which contexts were reported since.
func (w *world) opens(number int, change func(*githubsim.Pull), contexts ...string) {
	at := time.Now().Add(-2 * time.Hour).Truncate(time.Second)
	w.app(func(app *githubsim.Repository) {
		pull := app.Pull(number)
		pull.Base, pull.Head, pull.Association = "main", headOf(number), "MEMBER"
		pull.Created, pull.Updated, pull.Files = at, at, []githubsim.File{{Name: "main.go"}}
		commit := app.Commit(pull.Head)
		commit.Statuses = nil
		for _, context := range contexts {
			commit.Statuses = append(commit.Statuses, githubsim.Status{Context: context, State: "success", Created: at})
		}
		if change != nil {
			change(pull)
		}
	})
}

func headOf(number int) string { return githubsim.SHA(fmt.Sprint("pull ", number)) }

// TestTideAgainstGitHub is B6: what Tide would merge, and GitHub blocks.
func TestTideAgainstGitHub(t *testing.T) {
	for name, test := range map[string]struct {
		given func(w *world)
		want  []string
	}{
		"GitHub requires more than Tide knows": {func(w *world) {
			w.opens(7, nil, "cla", "unit", "tide")
			w.requires("cla", "docs", "unit")
		}, []string{"ALERT B3 org/app=main", "ALERT B6 org/app=main"}},
		"several are one finding": {func(w *world) {
			w.opens(7, nil, "cla", "tide")
			w.opens(8, nil, "cla", "tide")
		}, []string{"ALERT B6 org/app=main"}},
		"both agree":               {func(w *world) { w.opens(7, nil, "cla", "unit", "tide") }, nil},
		"Tide would not merge it":  {func(w *world) { w.opens(7, nil, "cla") }, nil},
		"a draft":                  {func(w *world) { w.opens(7, func(p *githubsim.Pull) { p.Draft = true }, "tide") }, nil},
		"a branch without demands": {func(w *world) { w.app(unprotected); w.opens(7, onto("wild"), "tide") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := newWorld(t)
				test.given(w)
				verdict := w.expects(test.want...)["B6"]
				if verdict.Reason != "" || verdict.Findings == 0 != (len(test.want) == 0) {
					t.Errorf("%+v", verdict)
				}
			})
		})
	}
}

func onto(branch string) func(*githubsim.Pull) {
	return func(pull *githubsim.Pull) { pull.Base = branch }
}

// unprotected frees the branch that the configuration leaves alone.
func unprotected(app *githubsim.Repository) { app.Branch("wild").Protection = nil }

// TestOnlyTheNewestAreLookedAt of many open pull requests, and that is told.
func TestOnlyTheNewestAreLookedAt(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		for number := 1; number <= check.MostOpen+1; number++ {
			w.opens(number, nil, "cla", "tide") // Tide would merge all
		}
		w.opens(400, func(p *githubsim.Pull) { p.Draft = true })
		w.app(unprotected)
		w.opens(401, onto("wild"))
		found, verdicts := w.poll()
		w.verdict(verdicts["B6"], finding.Alert,
			"pull requests of org/app: only the newest 300 of 301 that are open are looked at")
		if len(found) != 1 || !strings.HasPrefix(found[0].Message, "Tide would merge 300 open") {
			t.Errorf("%+v", found)
		}
		if w.asked("/commits/"+headOf(1)+"/") > 0 || w.asked("/commits/"+headOf(2)+"/") == 0 {
			t.Error("it was not the oldest that was left out")
		}
	})
}

// TestPullRequestsComeLast: where the rate limit ends, all else was read, and what it had no room for is told.
func TestPullRequestsComeLast(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.opens(7, nil, "cla", "tide")
		w.poll()
		needed := 0
		for _, call := range w.sim.Calls() {
			if call.Counted && !strings.Contains(call.Path, "/pulls") && !strings.Contains(call.Path, headOf(7)) {
				needed++
			}
		}
		w.poller, w.options.CacheBytes = nil, -1
		w.sim.Limit("root", needed+2) // with the two lists of pull requests
		verdicts := w.expects()
		for _, rule := range []string{"B2", "B3", "B4"} {
			w.verdict(verdicts[rule], finding.OK, "")
		}
		w.verdict(verdicts["B6"], finding.Unknown, "org/app#7: rate limit: 0 of 5000 requests left")
	})
}

// TestPullRequestThatIsHiddenIsUnknown, whatever part of it is.
func TestPullRequestThatIsHiddenIsUnknown(t *testing.T) {
	for path, reason := range map[string]string{"/pulls?": "pull requests of org/app: ", "/pulls/7": "org/app#7: ",
		"/commits/" + headOf(7) + "/check-runs": "org/app#7: "} {
		t.Run(path, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				w := newWorld(t)
				w.opens(7, nil, "cla", "tide")
				w.sim.Inject(githubsim.Fault{Path: path, Times: -1, Status: http.StatusNotFound, Message: "Not Found"})
				verdict := w.expects()["B6"]
				w.verdict(verdict, finding.Unknown, reason)
				w.verdict(verdict, finding.Unknown, "not found, or the token may not see it")
			})
		})
	}
}

// makes puts a ProwJob into the cluster.
func (s *stage) makes(job prowtest.Job, changes ...func(*unstructured.Unstructured)) {
	s.Helper()
	object := job.Object(s.prow, "test-pods")
	for _, change := range changes {
		change(object)
	}
	_, err := s.prowJobs().Create(s.Context(), object, metav1.CreateOptions{})
	s.must(err)
}

func (s *stage) prowJobs() dynamic.ResourceInterface {
	s.Helper()
	admin, err := dynamic.NewForConfig(s.plane.Config())
	s.must(err)
	jobs := schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}
	return admin.Resource(jobs).Namespace(s.prow)
}

// ends has a ProwJob end, and crier report it.
func (s *stage) ends(name string) {
	object, err := s.prowJobs().Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	object.Object["status"] = map[string]any{"state": "success", "startTime": "2026-01-01T00:00:00Z",
		"completionTime":     time.Now().UTC().Format(time.RFC3339),
		"prev_report_states": map[string]any{"github-reporter": "success"}}
	_, err = s.prowJobs().Update(s.Context(), object, metav1.UpdateOptions{})
	s.must(err)
}

// about is a ProwJob about unit on a pull request.
func about(number int, name string) prowtest.Job {
	return prowtest.Job{Name: name, Job: "unit", Context: "unit", Type: prowtest.Presubmit, Repo: "org/app", Pull: number,
		SHA: headOf(number)}
}

// TestWedged is B5: a context is required, is not there, and nothing is under way that would report it.
func TestWedged(t *testing.T) {
	const unit, docs, cla = "ALERT B5 org/app=main context=unit", "ALERT B5 org/app=main context=docs",
		"ALERT B5 org/app=main context=cla"
	for name, test := range map[string]struct {
		given func(s *stage)
		want  []string
		says  string
	}{
		"all is there":                {func(s *stage) { s.opens(7, nil, "cla", "unit") }, nil, ""},
		"no job was ever made for it": {func(s *stage) { s.opens(7, nil, "cla") }, []string{unit}, "comment /test unit"},
		"one runs":                    {func(s *stage) { s.opens(7, nil, "cla"); s.makes(about(7, "a")) }, nil, ""},
		"one has run on an earlier head": {func(s *stage) {
			s.opens(7, nil, "cla")
			s.makes(about(8, "a"))
		}, []string{unit}, "#7"},
		"one has run, and is to be reported": {func(s *stage) {
			s.opens(7, nil, "cla")
			job := about(7, "a")
			job.State = prowtest.Success
			s.makes(job)
		}, nil, ""},
		"it was pushed just now": {func(s *stage) {
			s.opens(7, func(p *githubsim.Pull) { p.Updated = time.Now() }, "cla")
			s.app(func(app *githubsim.Repository) { app.Commit(headOf(7)).Statuses[0].Created = time.Now() })
		}, nil, ""},
		"its job does not run for its files": {func(s *stage) {
			s.opens(7, nil, "cla", "unit")
			s.requires("cla", "docs", "unit")
		}, []string{"ALERT B3 org/app=main", docs}, "repair-branch-protection"},
		"its job runs on other branches": {func(s *stage) {
			s.elsewhere("docs")
			s.opens(7, nil, "cla", "unit")
		}, []string{"ALERT B3 org/app=main", docs}, "no job of Prow reports it on this branch"},
		"its job runs on other branches, and others report it here": {func(s *stage) {
			s.elsewhere("docs")
			s.app(func(app *githubsim.Repository) { commits(app, "main", 30, "cla", "unit", "docs") })
			s.opens(7, nil, "cla", "unit")
		}, []string{"ALERT B3 org/app=main"}, ""},
		"others report it, and have not yet": {func(s *stage) { s.opens(7, nil, "unit") }, nil, ""},
		"nobody reports it": {func(s *stage) {
			s.app(func(app *githubsim.Repository) { commits(app, "main", 30, "unit") })
			s.opens(7, nil, "unit")
		}, []string{"ALERT B2 org/app context=cla", cla}, "no job of Prow reports it"},
		"a draft":       {func(s *stage) { s.opens(7, func(p *githubsim.Pull) { p.Draft = true }, "cla") }, nil, ""},
		"a conflict":    {func(s *stage) { s.opens(7, func(p *githubsim.Pull) { p.Conflict = true }, "cla") }, nil, ""},
		"of a stranger": {func(s *stage) { s.opens(7, func(p *githubsim.Pull) { p.Association = "NONE" }, "cla") }, nil, ""},
		"several are one finding": {func(s *stage) {
			s.opens(7, nil, "cla")
			s.opens(8, nil, "cla")
		}, []string{unit}, `2 open pull requests wait for "unit"`},
		"a ruleset requires it": {func(s *stage) {
			s.app(func(app *githubsim.Repository) {
				app.Rulesets = []githubsim.Ruleset{{ID: 7, Branches: []string{"main"},
					Checks: []githubsim.Check{{Context: "unit"}}}}
			})
			s.requires("cla")
			s.opens(7, nil, "cla")
		}, []string{unit, "WARN B3 org/app=main"}, "#7"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			test.given(s)
			s.verdict(s.polls(s.facts, test.want...)["B5"], severityOf(test.want, "B5"), "")
			found, _ := s.poll()
			for _, one := range found {
				if told := fmt.Sprint(one.Message, one.Evidence, one.Mend); one.Rule == "B5" && !strings.Contains(told, test.says) {
					t.Errorf("%q is not in %q", test.says, told)
				}
			}
		})
	}
}

// elsewhere has main require a context whose job runs on other branches.
func (s *stage) elsewhere(context string) {
	s.config = strings.Replace(s.config, "run_if_changed: ^docs/", "always_run: true, branches: [release]", 1)
	s.requires("cla", context, "unit")
}

// severityOf is ALERT where a rule is to find something.
func severityOf(want []string, rule string) finding.Severity {
	if strings.Contains(strings.Join(want, "\n"), " "+rule+" ") {
		return finding.Alert
	}
	return finding.OK
}

// TestJobsThatChangeMeanwhile: what was asked for, or has ended, while GitHub was read is no wedge.
func TestJobsThatChangeMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		before, meanwhile func(s *stage)
		at                string
	}{
		"one is made": {func(*stage) {}, func(s *stage) { s.makes(about(7, "late")) }, "/pulls/7"},
		"one ends": {func(s *stage) { s.makes(about(7, "early")) }, func(s *stage) { s.ends("early") },
			"/commits/" + headOf(7) + "/check-runs"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.opens(7, nil, "cla")
			test.before(s)
			transport, changed := s.options.Transport, false
			s.options.Transport = roundTripper(func(request *http.Request) (*http.Response, error) {
				answer, err := transport.RoundTrip(request)
				if !changed && strings.Contains(request.URL.Path, test.at) {
					changed = true
					test.meanwhile(s)
				}
				return answer, err
			})
			s.verdict(s.polls(s.facts)["B5"], finding.OK, "")
			if !changed {
				t.Error("nothing has changed")
			}
		})
	}
}

// TestProwJobsThatCantBeReadAreNotNone.
func TestProwJobsThatCantBeReadAreNotNone(t *testing.T) {
	s := newStage(t)
	s.opens(7, nil, "cla")
	reader := s.cluster()
	var err error
	reader.Cluster, err = kube.Open(s.plane.KubeconfigOf(t, "nobody-"+s.prow), "", clock.Real{})
	s.must(err)
	poller, err := drift.NewPoller(drift.Options{GitHub: s.client(), Cluster: reader, Facts: s.facts})
	s.must(err)
	s.poller = poller
	s.verdict(s.expects()["B5"], finding.Unknown, `org/app#7, "unit": ProwJobs of namespace `+s.prow+" not seen: ")
}

// TestMalformedProwJobMayBeAboutAnything.
func TestMalformedProwJobMayBeAboutAnything(t *testing.T) {
	s := newStage(t)
	s.opens(7, nil, "cla")
	s.makes(about(7, "odd"), func(object *unstructured.Unstructured) {
		s.must(unstructured.SetNestedField(object.Object, "", "spec", "job"))
	})
	s.verdict(s.polls(s.facts)["B5"], finding.Unknown, "malformed ProwJob")
}
