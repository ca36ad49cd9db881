package repairprotection_test

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	testclient "k8s.io/client-go/testing"

	"salve/engine"
	"salve/internal/prow/githubsim"
	"salve/runbook"
	"salve/runbooks/repairprotection"
)

// in runs a test on virtual time.
func in(t *testing.T, test func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorld(t)) })
}

// atWrite does something right before the first write to GitHub whose path has a part.
func (w *world) atWrite(part string, do func()) func(http.RoundTripper) http.RoundTripper {
	done := false
	return func(next http.RoundTripper) http.RoundTripper {
		return trip(func(request *http.Request) (*http.Response, error) {
			if !done && request.Method == http.MethodPut && strings.Contains(request.URL.Path, part) {
				done = true
				do()
			}
			return next.RoundTrip(request)
		})
	}
}

type trip func(*http.Request) (*http.Response, error)

func (t trip) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// disturbed discovers, and runs with something that happens in between.
func (w *world) disturbed(wrap func(http.RoundTripper) http.RoundTripper) engine.Result {
	w.Helper()
	found := w.discovered()
	return w.runBook(w.made(w.of(wrap), found))
}

func (w *world) protection(repository string, change func(*githubsim.Branch)) {
	w.sim.Update(func(github *githubsim.World) { change(github.Repo(repository).Branch("main")) })
}

func TestNothingIsWrittenWhileAProtectorRuns(t *testing.T) {
	for what, begin := range map[string]func(*world){
		"a pod of it": func(w *world) {
			w.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "p"},
				Spec: corev1.PodSpec{Containers: containersOf("gcr.io/k8s-prow/branchprotector:v1")}})
		},
		"a Job of it": func(w *world) {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "p"}}
			job.Spec.Template.Spec.Containers = containersOf("gcr.io/k8s-prow/branchprotector:v1")
			w.create(job)
		},
		"a ProwJob of it": func(w *world) {
			job := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "prow.k8s.io/v1", "kind": "ProwJob", "metadata": map[string]any{"namespace": "prow", "name": "p"},
				"spec": map[string]any{"job": "periodic-protect", "pod_spec": map[string]any{
					"containers": []any{map[string]any{"image": "gcr.io/k8s-prow/branchprotector:v1"}},
				}},
			}}
			if err := w.dynamic.Tracker().Create(prowJobResource(), job, "prow"); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(what+", from the start", func(t *testing.T) {
			in(t, func(w *world) {
				begin(w)
				w.ends(w.run(), runbook.Deferred, "no-protector-running")
				w.unchanged()
			})
		})
		t.Run(what+", begun between two branches", func(t *testing.T) {
			in(t, func(w *world) {
				w.protection("kube/gadgets", func(branch *githubsim.Branch) { branch.Protection = nil })
				result := w.disturbed(w.atWrite("gadgets", func() { begin(w); time.Sleep(time.Minute) }))
				w.ends(result, runbook.Failed, "no-protector-running")
				w.requires("kube/widgets", "cla", "docs", "unit")
				if !result.Open {
					t.Error("the run can't be resumed")
				}
			})
		})
	}
}

func TestWhatHasEndedIsNoRun(t *testing.T) {
	in(t, func(w *world) {
		w.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "p"},
			Spec:   corev1.PodSpec{Containers: containersOf("gcr.io/k8s-prow/branchprotector:v1")},
			Status: corev1.PodStatus{Phase: corev1.PodSucceeded}})
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "p"}}
		job.Spec.Template.Spec.Containers = containersOf("gcr.io/k8s-prow/branchprotector:v1")
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		w.create(job)
		w.ends(w.run(), runbook.Remediated)
	})
}

func TestAProtectorThatWillBePutBackIsRefused(t *testing.T) {
	in(t, func(w *world) {
		w.write("manifests/protector.yaml", strings.ReplaceAll(manifest, ":v2", ":v1"))
		w.ends(w.run(), runbook.NeedsAttention, "protector-agrees", "v1")
		w.unchanged()
	})
}

func TestAnOlderConfigurationIsRefused(t *testing.T) {
	in(t, func(w *world) {
		w.ends(w.run(), runbook.Remediated)
		w.sim.ForgetCalls()
		w.write("config.yaml", strings.ReplaceAll(today, "contexts: [cla]", "contexts: [cla, unit]"))
		w.write("config.yaml", strings.ReplaceAll(today, "enforce_admins: true", "enforce_admins: false"))
		w.in.Revision = "1"
		w.ends(w.run(), runbook.NeedsAttention, "configuration-not-older", "older")
		w.unchanged()
		w.ends(w.run(override("configuration-not-older")), runbook.Remediated)
	})
}

// TestAConfigurationCountsAsAppliedFromTheFirstChange: a run that was cut off has written half of it.
func TestAConfigurationCountsAsAppliedFromTheFirstChange(t *testing.T) {
	in(t, func(w *world) {
		w.disturbed(w.atWrite("widgets", func() {
			applied, err := w.client.CoreV1().ConfigMaps("salve-system").
				Get(w.Context(), "salve-branch-protection", metav1.GetOptions{})
			if err != nil || applied.Data["revision"] != "2" || applied.Data["digest"] == "" || applied.Data["run"] == "" {
				t.Errorf("recorded is %+v (%v)", applied, err)
			}
		}))
	})
}

// TestNothingIsWrittenThatIsNotRecordedAsApplied: the cluster refuses the record.
func TestNothingIsWrittenThatIsNotRecordedAsApplied(t *testing.T) {
	in(t, func(w *world) {
		w.client.PrependReactor("create", "configmaps", func(testclient.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), "salve-branch-protection", nil)
		})
		w.ends(w.run(), runbook.Failed, "forbidden")
		w.unchanged()
	})
}

func TestRevisionsOfGit(t *testing.T) {
	w := newWorld(t)
	git := func(arguments ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t"},
			arguments...)...)
		command.Dir = w.folder
		said, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return strings.TrimSpace(string(said))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")
	w.in.Revision = ""
	if got := w.discovered().Revision; got != git("rev-parse", "HEAD") {
		t.Errorf("the revision is %s", got)
	}
	w.write("config.yaml", today+"\n")
	_, finding := repairprotection.Discover(t.Context(), w.of(nil), w.in)
	if finding.Answer != runbook.AnswerUnknown || !strings.Contains(finding.Reason, "not committed") {
		t.Errorf("%s: %s", finding.Answer, finding.Reason)
	}
}

func TestNoContextBecomesRequiredThatNothingReports(t *testing.T) {
	for rule, row := range map[string]struct {
		contexts string
		arrange  func(*world)
		ends     runbook.Outcome
		says     string
	}{
		"that of a conditional job":    {"[docs]", nil, runbook.NeedsAttention, "job docs runs only if certain files change"},
		"that of nobody":               {"[ghost]", nil, runbook.NeedsAttention, "none of the last 1 commits has it"},
		"one that was on the last one": {"[ci/external]", reported, runbook.Remediated, ""},
		"one that an operator vouches for": {"[ghost]", func(w *world) { w.in.External = []string{"ghost"} },
			runbook.Remediated, ""},
		"that of a conditional job, though it was on the last commit": {"[docs]", func(w *world) {
			w.sim.Update(func(github *githubsim.World) {
				repo := github.Repo("kube/widgets")
				repo.Commit(repo.Branch("main").Head).Statuses = []githubsim.Status{{Context: "docs", State: "success"}}
			})
		}, runbook.NeedsAttention, "certain files"},
	} {
		t.Run(rule, func(t *testing.T) {
			in(t, func(w *world) {
				w.protection("kube/widgets", func(branch *githubsim.Branch) { branch.Protection = githubsim.Require("unit") })
				w.write("config.yaml", strings.ReplaceAll(today, "contexts: [cla]", "contexts: "+row.contexts))
				if row.arrange != nil {
					row.arrange(w)
				}
				w.ends(w.run(), row.ends, row.says)
				if row.ends != runbook.Remediated {
					w.unchanged()
				}
			})
		})
	}
}

func reported(w *world) {
	w.sim.Update(func(github *githubsim.World) {
		repo := github.Repo("kube/widgets")
		repo.Commit(repo.Branch("main").Head).Statuses = []githubsim.Status{{Context: "ci/external", State: "success"}}
	})
}

// TestAContextThatWasTakenAwayByHandIsNotBroughtBack: it is required by the configuration, and nothing reports it. That
// it was required when the run was planned vouches for nothing.
func TestAContextThatWasTakenAwayByHandIsNotBroughtBack(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.ReplaceAll(today, "contexts: [cla]", "contexts: [ghost]"))
		w.protection("kube/widgets", func(branch *githubsim.Branch) {
			branch.Protection = githubsim.Require("docs", "ghost", "unit")
		})
		found := w.discovered()
		book := w.made(w.of(nil), found)
		put := book.Steps[0].Apply
		book.Steps[0].Apply = func(ctx context.Context, run runbook.Run) error {
			w.protection("kube/widgets", func(branch *githubsim.Branch) {
				branch.Protection = githubsim.Require("docs",
					"unit")
			})
			return put(ctx, run)
		}
		w.ends(w.runBook(book), runbook.NeedsAttention, "branch-contexts-reported", "ghost")
		w.unchanged()
	})
}

func TestNoBranchIsUnprotectedWithoutAWord(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.ReplaceAll(strings.ReplaceAll(today,
			"          protect: true\n          enforce_admins: true\n", "          protect: false\n"),
			"  kube/gadgets:\n  - {name: build, always_run: true, spec: {containers: [{image: golang}]}}\n", ""))
		w.ends(w.run(), runbook.NeedsAttention, "no-branch-unprotected", "--allow-unprotect kube/gadgets=main=REASON")
		w.unchanged()
		w.in.AllowUnprotect = map[string]string{"kube/gadgets=main": "it is retired"}
		w.ends(w.run(), runbook.Remediated)
		if w.required("kube/gadgets", "main") != nil {
			t.Error("it is protected still")
		}
	})
}

func TestLeftoversAreListedAndRemovedOnlyWhenAsked(t *testing.T) {
	arrange := func(w *world) {
		w.sim.Update(func(github *githubsim.World) {
			live := githubsim.Require("cla", "dust")
			live.EnforceAdmins = true
			github.Repo("kube/attic").Branch("main").Protection = live
		})
	}
	in(t, func(w *world) {
		arrange(w)
		finding := w.finding("summary")
		if !strings.Contains(finding.Reason, "kube/attic=main requires dust") {
			t.Errorf("it says %s", finding.Reason)
		}
		w.ends(w.run(), runbook.Remediated)
		w.requires("kube/attic", "cla", "dust")
	})
	in(t, func(w *world) {
		arrange(w)
		w.in.RemoveLeftovers = true
		w.ends(w.run(), runbook.Remediated)
		w.requires("kube/attic", "cla")
		w.protection("kube/attic", func(branch *githubsim.Branch) {
			if !branch.Protection.EnforceAdmins {
				t.Error("more than the context went")
			}
		})
	})
}

func TestAContextThatAlwaysComesIsNoLeftover(t *testing.T) {
	in(t, func(w *world) {
		w.write("config.yaml", strings.ReplaceAll(today, "run_if_changed: ^dust/", "always_run: true"))
		w.sim.Update(func(github *githubsim.World) {
			github.Repo("kube/attic").Branch("main").Protection = githubsim.Require("dust")
		})
		if found := w.discovered(); len(found.Leftovers) > 0 {
			t.Errorf("found %v", found.Leftovers)
		}
	})
}

func TestWhereNothingDiffersNoRunIsMade(t *testing.T) {
	in(t, func(w *world) {
		w.ends(w.run(), runbook.Remediated)
		_, finding := repairprotection.Discover(w.Context(), w.of(nil), w.in)
		if finding.Answer != runbook.AnswerDoesNotHold || !strings.Contains(finding.Reason, "nothing differs: 2 branches") {
			t.Errorf("%s: %s", finding.Answer, finding.Reason)
		}
	})
}

func TestASecondRunAtOnceIsRefused(t *testing.T) {
	in(t, func(w *world) {
		found := w.discovered()
		var second error
		w.runBook(w.made(w.of(w.atWrite("widgets", func() {
			narrow := found
			narrow.Repos = []string{"kube/widgets"}
			_, second = w.engine().Run(w.Context(), w.made(w.of(nil), narrow), engine.Options{})
		})), found))
		if second == nil {
			t.Error("two runs were at work on one GitHub")
		}
		if changed := w.changed(); len(changed) != 1 {
			t.Errorf("GitHub was asked for %v", changed)
		}
	})
}

func (w *world) create(object any) {
	w.Helper()
	var err error
	switch made := object.(type) {
	case *corev1.Pod:
		_, err = w.client.CoreV1().Pods(made.Namespace).Create(w.Context(), made, metav1.CreateOptions{})
	case *batchv1.Job:
		_, err = w.client.BatchV1().Jobs(made.Namespace).Create(w.Context(), made, metav1.CreateOptions{})
	default:
		err = fmt.Errorf("nobody can create a %T", object)
	}
	if err != nil {
		w.Fatal(err)
	}
}
