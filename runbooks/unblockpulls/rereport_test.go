package unblockpulls_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"salve/internal/prow/cluster"
	"salve/internal/prow/prowtest"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

// endedUnheard: unit has ended on pull request 7, and GitHub was told last that it runs: crier was down.
func endedUnheard(w *world) {
	w.job(of(7, "unit"), ended("pending"))
	w.status(headOf(7), "unit", "pending")
}

// reporting is a way to ProwJobs, behind which crier reports one whenever it changes, unless it is down.
type reporting struct {
	dynamic.Interface
	w       *world
	process *runbooktest.Process
}

func (r reporting) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return everywhere{r.Interface.Resource(resource), r}
}

type everywhere struct {
	dynamic.NamespaceableResourceInterface
	by reporting
}

func (e everywhere) Namespace(name string) dynamic.ResourceInterface {
	return namespaced{e.NamespaceableResourceInterface.Namespace(name), e.by}
}

type namespaced struct {
	dynamic.ResourceInterface
	by reporting
}

func (n namespaced) call(ctx context.Context, change string, do func() error) error {
	if n.by.process == nil {
		return do()
	}
	return n.by.process.Call(ctx, change, do)
}

func (n namespaced) Get(ctx context.Context, name string, options metav1.GetOptions, sub ...string) (
	found *unstructured.Unstructured, err error,
) {
	err = n.call(ctx, "", func() error {
		found, err = n.ResourceInterface.Get(ctx, name, options, sub...)
		return err
	})
	return found, err
}

func (n namespaced) Patch(ctx context.Context, name string, kind types.PatchType, data []byte,
	options metav1.PatchOptions, sub ...string,
) (patched *unstructured.Unstructured, err error) {
	err = n.call(ctx, "PATCH "+name, func() error {
		if patched, err = n.ResourceInterface.Patch(ctx, name, kind, data, options, sub...); err == nil {
			n.by.w.crier(name)
		}
		return err
	})
	return patched, err
}

// crier reports a ProwJob, as it does where its mark is not the state.
func (w *world) crier(name string) {
	w.Helper()
	if w.noCrier {
		return
	}
	object := w.prowJob(name)
	state, _, _ := unstructured.NestedString(object.Object, "status", "state")
	told, _, _ := unstructured.NestedString(object.Object, "status", "prev_report_states", "github-reporter")
	if told == state {
		return
	}
	jobContext, _, _ := unstructured.NestedString(object.Object, "spec", "context")
	w.status(headOf(7), jobContext, state)
	if err := unstructured.SetNestedField(object.Object, state, "status", "prev_report_states",
		"github-reporter"); err != nil {
		w.Error(err)
	}
	if err := w.dynamic.Tracker().Update(prowtest.Resource(), object, "prow"); err != nil {
		w.Error(err)
	}
}

func (w *world) prowJob(name string) *unstructured.Unstructured {
	w.Helper()
	object, err := w.dynamic.Tracker().Get(prowtest.Resource(), "prow", name)
	if err != nil {
		w.Fatal(err)
	}
	return object.(*unstructured.Unstructured).DeepCopy()
}

// askedAgain names the run that had the ProwJob reported again.
func (w *world) askedAgain() string {
	w.Helper()
	return w.prowJob("unit-7").GetAnnotations()[cluster.AskedAgainAnnotation]
}

// patched counts the changes of ProwJobs.
func (w *world) patched() (n int) {
	for _, action := range w.dynamic.Actions() {
		if action.GetVerb() == "patch" {
			n++
		}
	}
	return n
}

// TestResultIsReportedAgain: nothing is written to GitHub by us, no status is faked: crier says what came of the job.
func TestResultIsReportedAgain(t *testing.T) {
	for told, described := range map[string]string{"pending": "that it runs", "": "nothing"} {
		t.Run("GitHub was told "+described, func(t *testing.T) {
			in(t, func(w *world) {
				w.job(of(7, "unit"), ended(told))
				if told != "" {
					w.status(headOf(7), "unit", told)
				}
				found := w.discovered()
				if len(found.Planned) != 1 || found.Planned[0].Do != "re-report" || found.Planned[0].Job != "unit-7" {
					w.Fatalf("planned: %+v", found.Planned)
				}
				world := w.of(nil)
				world.Cluster.Dynamic = reporting{w.dynamic, w, nil}
				result := w.runBook(w.made(world, found))
				w.ends(result, runbook.Remediated)
				w.commented(0)
				if w.patched() != 1 || w.askedAgain() != result.Run {
					w.Errorf("%d patches, by %q", w.patched(), w.askedAgain())
				}
				w.finds(no, "", "nothing to ask for: 1 open pull requests were looked at")
			})
		})
	}
}

// TestCrierThatDoesNotHearIsNotAskedAgain: crier is down. The run stops with a question, and no other one asks.
func TestCrierThatDoesNotHearIsNotAskedAgain(t *testing.T) {
	in(t, func(w *world) {
		endedUnheard(w)
		w.noCrier = true
		found := w.discovered()
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "Is crier running")
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.NeedsAttention, "Is crier running")
		w.finds(no, "", "that is asked for once")
		if _, told, _ := unstructured.NestedString(w.prowJob("unit-7").Object, "status", "prev_report_states",
			"github-reporter"); told {
			w.Error("the mark is there that GitHub was told")
		}
		w.noCrier = false
		w.crier("unit-7") // as it does when it starts
		w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Remediated)
		if w.commented(0); w.patched() != 1 {
			w.Errorf("%d patches", w.patched())
		}
	})
}

// TestResultThatChangesBeforeItIsReportedAgain is left.
func TestResultThatChangesBeforeItIsReportedAgain(t *testing.T) {
	for what, change := range map[string]func(*world){
		"crier has reported it": func(w *world) { w.crier("unit-7") },
		"a newer job has begun": func(w *world) {
			newer := of(7, "unit")
			newer.Name = "newer"
			w.job(newer, nil)
		},
	} {
		t.Run(what, func(t *testing.T) {
			in(t, func(w *world) {
				endedUnheard(w)
				found := w.discovered()
				change(w)
				w.ends(w.runBook(w.made(w.of(nil), found)), runbook.Remediated)
				if w.commented(0); w.patched() != 0 {
					w.Errorf("%d patches", w.patched())
				}
			})
		})
	}
}

// TestReportAgainCrashAnywhere kills the run at every write and call, those to the cluster among them.
func TestReportAgainCrashAnywhere(t *testing.T) {
	runbooktest.CrashAnywhere(t, func(t *testing.T) runbooktest.World {
		w := newWorld(t)
		endedUnheard(w)
		found := w.discovered()
		return runbooktest.World{
			Start: func(process *runbooktest.Process) runbook.Runbook {
				world := w.of(func(next http.RoundTripper) http.RoundTripper { return process.Transport(next) })
				world.Cluster.Dynamic = reporting{w.dynamic, w, process}
				return w.made(world, found)
			},
			Verify: func() {
				if w.commented(0); w.patched() != 1 || !strings.HasPrefix(w.askedAgain(), "20") {
					t.Errorf("%d patches, by %q", w.patched(), w.askedAgain())
				}
			},
		}
	}, runbooktest.VirtualTime())
}
