package drift_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"salve/internal/clock"
	"salve/internal/prow/check"
	"salve/internal/prow/drift"
	"salve/internal/prow/finding"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/protector"
	"salve/kube"
)

// inMemory is a cluster of Prow's in which nothing runs. Its first list of pods is refused.
func inMemory() *protector.Reader {
	client, lists := fake.NewClientset(), 0
	client.PrependReactor("list", "pods", func(ktesting.Action) (bool, runtime.Object, error) {
		lists++
		return lists == 1, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	})
	jobs := schema.GroupVersionResource{Group: "prow.k8s.io", Version: "v1", Resource: "prowjobs"}
	return &protector.Reader{ProwJobs: "prow", Cluster: &kube.Cluster{Client: client, Clock: clock.Real{},
		Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{jobs: "ProwJobList"})}}
}

// TestARunThatWasNotSeenBeforeIsNotNone: who could not be asked before GitHub was read may have written meanwhile,
// whatever is seen afterwards.
func TestARunThatWasNotSeenBeforeIsNotNone(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w, prow := newWorld(t), inMemory()
		given, err := w.facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		facts := (&drift.Reader{GitHub: w.client(), Clock: clock.Real{}}).Observe(t.Context(), prow, given)
		if after := drift.ReadProtector(t.Context(), prow); after.RunsFailed != "" {
			t.Fatalf("it can't be asked afterwards either: %s", after.RunsFailed)
		}
		if !strings.Contains(facts.Protector.RunsFailed, "forbidden") {
			t.Errorf("runs: %+v", facts.Protector)
		}
	})
}

// TestReportsAreAskedForOnce in a reading, whoever wants to know.
func TestReportsAreAskedForOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.requires("cla", "unit", "ghost") // looked for on commits and heads
		w.opens(7, nil, "cla", "unit", "tide")
		w.poll()
		asked := map[string]int{}
		for _, call := range w.sim.Calls() {
			if strings.Contains(call.Path, "/commits/") {
				asked[call.Path]++
			}
		}
		if len(asked) < check.LeastCommits {
			t.Errorf("asked for %d only", len(asked))
		}
		for path, n := range asked {
			if n > 1 {
				t.Errorf("asked %d times for %s", n, path)
			}
		}
	})
}

// TestAPollHasNoBase and says so plainly; what is left over by the present configuration is found all the same.
func TestAPollHasNoBase(t *testing.T) {
	virtual(t, func(t *testing.T) {
		w := newWorld(t)
		w.base = func(facts *check.Facts) { facts.Base = nil }
		w.app(func(app *githubsim.Repository) { app.Branch("wild").Protection = githubsim.Require("docs", "unit") })
		found, verdicts := w.poll()
		b4 := verdicts["B4"]
		if !b4.NotGiven || strings.Contains(b4.Reason, "--base") || !strings.Contains(b4.Reason, "not asked") ||
			b4.Severity != finding.Alert {
			t.Errorf("%+v", b4)
		}
		if !slices.ContainsFunc(found, func(f finding.Finding) bool {
			return f.Rule == "B4" && f.Subject.Branch == "wild"
		}) {
			t.Errorf("%+v", found)
		}
		for rule, verdict := range verdicts {
			if strings.Contains(verdict.Reason, "--base") {
				t.Errorf("rule %s lacks %q", rule, verdict.Reason)
			}
		}
	})
}
