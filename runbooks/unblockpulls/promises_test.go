package unblockpulls_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testclient "k8s.io/client-go/testing"

	"salve/engine"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
	"salve/runbook"
	"salve/runbooks/unblockpulls"
)

// TestWhatChangesBeforeTheCommentIsLeft: between the plan and the comment, at the latest moment that can be seen.
func TestWhatChangesBeforeTheCommentIsLeft(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*world)
		says   string
	}{
		"the head moves": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Head = githubsim.SHA("pushed") })
		}, "head moved"},
		"it becomes a draft": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Draft = true })
		}, "draft"},
		"it is closed": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Closed = true })
		}, "closed"},
		"it conflicts": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Conflict = true })
		}, "conflicts"},
		"it is no longer trusted": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Labels = []string{"needs-ok-to-test"} })
		}, "untrusted"},
	} {
		for moment, n := range map[string]int{"before its step": 1, "right before the comment": 2} {
			t.Run(what+", "+moment, func(t *testing.T) {
				in(t, func(w *world) {
					result := w.disturbed(before(n, http.MethodGet, "/pulls/7", func() { row.change(w) }))
					w.ends(result, runbook.Remediated)
					w.commented(0)
					for _, finding := range result.Findings {
						if finding.Guard == "contexts-there" && !strings.Contains(finding.Reason, row.says) {
							w.Errorf("it says %q", finding.Reason)
						}
					}
				})
			})
		}
	}
}

// TestWhatIsDoneByOthersMeanwhileIsLeft: they started the job, or reported, or took the requirement away, or asked.
func TestWhatIsDoneByOthersMeanwhileIsLeft(t *testing.T) {
	for what, change := range map[string]func(*world){
		"a job was started": func(w *world) {
			w.job(of(7, "unit"), nil)
			w.status(headOf(7), "unit", "pending")
		},
		"it was reported":          func(w *world) { w.status(headOf(7), "unit", "success") },
		"it is no longer required": func(w *world) { w.requires("cla") },
		"another run asked for it": func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) {
				body := "/test unit\n<!-- salve unblock-pull-requests head=" + headOf(7) + " context=unit -->"
				pull.Comments = append(pull.Comments, githubsim.Comment{ID: 1, Author: "jo", Body: body})
			})
			w.status(headOf(7), "unit", "pending")
			w.job(of(7, "unit"), nil)
		},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				found := w.discovered()
				change(w)
				w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Remediated)
				w.commented(0)
			})
		})
	}
}

func TestAMarkOfAnotherHeadIsNone(t *testing.T) {
	in(t, func(w *world) {
		w.pull(7, func(pull *githubsim.Pull) {
			body := "<!-- salve unblock-pull-requests head=" + headOf(8) + " context=unit -->"
			pull.Comments = append(pull.Comments, githubsim.Comment{ID: 1, Author: "sam", Body: body})
		})
		w.ends(w.run(), runbook.Remediated)
		w.commented(1)
	})
}

// TestFilesThatDoNotMatch: docs became required by mistake. Nothing is posted on the whole branch, and what mends it is
// named.
func TestFilesThatDoNotMatch(t *testing.T) {
	in(t, func(w *world) {
		w.requires("cla", "docs", "unit")
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "main.go"}} })
		w.pull(8, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "docs/a.md"}} })
		w.finds(no, runbook.NeedsAttention, "salve run repair-branch-protection", `kube/widgets#7 "docs"`,
			`kube/widgets#8 "docs": the protection of main comes first`)
		w.commented(0)
	})
}

func TestFilesThatMatch(t *testing.T) {
	in(t, func(w *world) {
		w.requires("cla", "docs")
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "docs/a.md"}} })
		w.ends(w.run(), runbook.Remediated)
		w.commented(1)
		if len(w.heeded) != 1 || w.heeded[0] != "#7 docs" {
			w.Errorf("hook started %q", w.heeded)
		}
	})
}

// TestFilesThatStopMatchingBeforeTheComment: the change of a pull request is another one than it was planned for.
func TestFilesThatStopMatchingBeforeTheComment(t *testing.T) {
	in(t, func(w *world) {
		w.requires("cla", "docs")
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "docs/a.md"}} })
		found := w.discovered()
		w.pull(7, func(pull *githubsim.Pull) { pull.Files = []githubsim.File{{Name: "main.go"}} })
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "salve run repair-branch-protection")
		w.commented(0)
	})
}

func TestWhatIsLeftIsNotPlanned(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*world)
		says   string
	}{
		"a draft": {func(w *world) { w.pull(7, func(pull *githubsim.Pull) { pull.Draft = true }) }, "draft"},
		"a conflict": {func(w *world) { w.pull(7, func(pull *githubsim.Pull) { pull.Conflict = true }) },
			"conflicts"},
		"of somebody whom nobody trusted": {func(w *world) {
			w.pull(7, func(pull *githubsim.Pull) { pull.Association = "NONE" })
		}, "untrusted"},
		"a job that runs": {func(w *world) { w.job(of(7, "unit"), nil) }, "ProwJob unit-7 is triggered"},
		"a context that is there": {func(w *world) { w.status(headOf(7), "unit", "failure") },
			"nothing to ask for: 1 open"},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				row.change(w)
				w.finds(no, "", row.says)
			})
		})
	}
}

// TestWhatCanNotBeSeenIsUnknown, and nothing is asked for.
func TestWhatCanNotBeSeenIsUnknown(t *testing.T) {
	for what, row := range map[string]struct {
		change func(*world)
		says   string
	}{
		"statuses": {func(w *world) {
			w.sim.Inject(githubsim.Fault{Path: "/status", Status: 404, Message: "Not Found", Times: -1})
		}, "statuses"},
		"the pull request": {func(w *world) {
			w.sim.Inject(githubsim.Fault{Path: "/pulls/7", Status: 404, Message: "Not Found", Times: -1})
		}, "pull request not seen"},
		"the protection": {func(w *world) {
			w.sim.Update(func(github *githubsim.World) {
				github.Repo("kube/widgets").Collaborators = map[string]string{"sam": "write"}
			})
		}, "not found, or the token may not see it"},
		"comments": {func(w *world) {
			w.sim.Inject(githubsim.Fault{Path: "/comments", Status: 404, Message: "Not Found", Times: -1})
		}, "comments of kube/widgets#7"},
		"who reports what no job has": {func(w *world) {
			w.in.External = nil
			w.sim.Update(func(github *githubsim.World) { github.Repo("kube/widgets").Commit(headOf(7)).Statuses = nil })
			w.sim.Inject(githubsim.Fault{Path: "/commits?", Status: 404, Message: "Not Found", Times: -1})
			w.requires("cla")
		}, "who reports it was not seen"},
		"a ProwJob": {func(w *world) {
			w.job(of(9, "unit"), func(object *unstructured.Unstructured) {
				unstructured.RemoveNestedField(object.Object, "spec", "job")
			})
		}, "malformed ProwJob"},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				row.change(w)
				w.finds(unknown, "", row.says)
				w.commented(0)
			})
		})
	}
}

func TestProwJobsThatCanNotBeListed(t *testing.T) {
	in(t, func(w *world) {
		w.dynamic.PrependReactor("list", "prowjobs", func(testclient.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "prow.k8s.io", Resource: "prowjobs"}, "",
				errors.New("no"))
		})
		w.finds(unknown, "", "forbidden")
	})
}

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

func TestPodsThatCanNotBeListedAreUnknown(t *testing.T) {
	in(t, func(w *world) {
		w.client.PrependReactor("list", "pods", func(testclient.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
		})
		w.says("no-strays", unknown, "forbidden")
		w.ends(w.run(), runbook.Undecided, "no-strays")
		w.commented(0)
	})
}

func TestPodsOfAnotherBuildClusterAreUnknown(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.Replace(today, "{name: unit,", "{name: unit, cluster: build-2,", 1))
		w.says("no-strays", unknown, "build-2")
		w.ends(w.run(override("no-strays")), runbook.Remediated)
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

func TestAProwWithoutAnyProwJobIsUnknown(t *testing.T) {
	in(t, func(w *world) {
		w.Helper()
		if err := w.dynamic.Tracker().Delete(prowtest.Resource(), "prow", "nightly"); err != nil {
			w.Fatal(err)
		}
		w.says("headroom", unknown, "Is that the cluster of this Prow?")
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

// TestRequiredOfNobody: a ghost beside what could be started.
func TestRequiredOfNobody(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		w.requires("cla", "ghost", "unit")
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "protection-right", `"ghost"`)
		w.commented(0)
		w.finds(no, runbook.NeedsAttention, `"ghost": no job of Prow reports it`, "repair-branch-protection")
		w.sim.Update(func(github *githubsim.World) { // somebody reports it on other commits
			repo := github.Repo("kube/widgets")
			repo.Commit(repo.Branch("main").Head).Statuses = []githubsim.Status{{Context: "ghost", State: "success", Creator: "jo"}}
		})
		if in := w.discovered(); len(in.Planned) != 1 {
			w.Errorf("planned: %+v", in)
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

// TestSelection: a run is narrowed to repositories or pull requests, and its record can't widen it.
func TestSelection(t *testing.T) {
	in(t, func(w *world) {
		w.pull(8, nil)
		w.in.Pulls = []string{"kube/widgets#8"}
		found := w.discovered()
		if len(found.Planned) != 1 || found.Planned[0].Number != 8 || found.Looked != 1 {
			w.Errorf("planned: %+v", found)
		}
		found.Planned[0].Number = 7
		if _, err := unblockpulls.New(w.of(nil), found); err == nil || !strings.Contains(err.Error(), "not of the selection") {
			w.Errorf("a record widened the run: %v", err)
		}
		w.in.Pulls, w.in.Repos = nil, []string{"kube/gadgets"}
		w.finds(unknown, "", "not all pull requests could be read")
	})
}

// TestRecordIsNoAuthority: what it names is asked of the configuration again.
func TestRecordIsNoAuthority(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		for what, change := range map[string]func(*unblockpulls.Planned){
			"another job":      func(p *unblockpulls.Planned) { p.Job = "deploy" },
			"another context":  func(p *unblockpulls.Planned) { p.Context = "ghost" },
			"another action":   func(p *unblockpulls.Planned) { p.Do = "delete" },
			"half a head":      func(p *unblockpulls.Planned) { p.Head = p.Head[:7] },
			"another host":     func(p *unblockpulls.Planned) { p.Repository = "https://evil/x" },
			"no pull request":  func(p *unblockpulls.Planned) { p.Number = 0 },
			"no branch at all": func(p *unblockpulls.Planned) { p.Base = "" },
		} {
			forged := found
			forged.Planned = []unblockpulls.Planned{found.Planned[0]}
			change(&forged.Planned[0])
			if _, err := unblockpulls.New(w.of(nil), forged); err == nil {
				w.Errorf("%s is taken", what)
			}
		}
		twice := found
		twice.Planned = append(twice.Planned, twice.Planned...)
		if _, err := unblockpulls.New(w.of(nil), twice); err == nil {
			w.Error("a plan that lists one context twice is taken")
		}
		w.write("config.yaml", today+"# changed\n")
		if _, err := unblockpulls.New(w.of(nil), found); err == nil || !strings.Contains(err.Error(), "configuration changed") {
			w.Errorf("another configuration is taken: %v", err)
		}
	})
}

func TestInputsValidate(t *testing.T) {
	good := func() unblockpulls.Inputs {
		in := unblockpulls.Defaults()
		in.Config, in.Bot = "config.yaml", "robot"
		return in
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*unblockpulls.Inputs){
		"--config":           func(in *unblockpulls.Inputs) { in.Config = "" },
		"--bot":              func(in *unblockpulls.Inputs) { in.Bot = " " },
		"--cap 0":            func(in *unblockpulls.Inputs) { in.Cap = 0 },
		"--cap 1001":         func(in *unblockpulls.Inputs) { in.Cap = 1001 },
		"--pace 61":          func(in *unblockpulls.Inputs) { in.Pace = 61 },
		"--max-unfinished 0": func(in *unblockpulls.Inputs) { in.MaxUnfinished = 0 },
		"--budget 1s":        func(in *unblockpulls.Inputs) { in.Budget.Duration = time.Second },
		"--repo":             func(in *unblockpulls.Inputs) { in.Repos = []string{"widgets"} },
		"--pull":             func(in *unblockpulls.Inputs) { in.Pulls = []string{"kube/widgets/7"} },
		"#NUMBER":            func(in *unblockpulls.Inputs) { in.Pulls = []string{"kube/widgets#0"} },
		"--external-context": func(in *unblockpulls.Inputs) { in.External = []string{""} },
	} {
		in := good()
		change(&in)
		if err := in.Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want something about %s", err, says)
		}
	}
}

// TestTwoRunsAtOnce: while one is at work on a GitHub, another is refused.
func TestTwoRunsAtOnce(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		var second error
		book := w.made(w.of(before(1, http.MethodPost, "/issues/7", func() {
			_, second = w.engine().Run(w.Context(), w.made(w.of(nil), found), engine.Options{})
		})), found)
		w.ends(w.runBook(book), runbook.Remediated)
		w.commented(1)
		if second == nil {
			w.Error("two runs were at work")
		}
	})
}
