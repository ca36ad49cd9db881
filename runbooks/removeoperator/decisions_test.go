package removeoperator

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/rest"

	"salve/internal/clock"
	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/removeoperator/cleanup"
)

// denying is an API server that tells nothing.
type denying struct{}

func (denying) RoundTrip(*http.Request) (*http.Response, error) {
	const forbidden = `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden"}`
	return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(forbidden))}, nil
}

// blindRemoval is the runbook in a cluster of which nothing can be read.
func blindRemoval(t *testing.T) runbook.Runbook {
	t.Helper()
	cluster, err := kube.ForConfig(&rest.Config{Host: "https://api.example", Transport: denying{}}, clock.Real{})
	if err != nil {
		t.Fatal(err)
	}
	in := Defaults()
	in.Group, in.Namespace, in.StopOperator, in.Selectors = "example.io", "op", true, []string{"app=op"}
	book, err := New(World{Cluster: cluster, ClusterID: "x"}, in)
	if err != nil {
		t.Fatal(err)
	}
	return book
}

func namesOf(guards []runbook.Guard) (names []string) {
	for _, guard := range guards {
		names = append(names, guard.Name)
	}
	return names
}

// TestWhatEachStepIsGuardedBy: nothing is removed while the operator is alive, and without its bundle.
func TestWhatEachStepIsGuardedBy(t *testing.T) {
	book := blindRemoval(t)
	first, kept := []string{"something-left", "namespace-expendable", "cascade-contained"},
		[]string{"bundle-kept", "operator-gone"}
	want := []struct {
		name                  string
		guards, preconditions []string
	}{
		{"stop-operator", first, nil},
		{"drop-conversions", first, kept[1:]},
		{"export", first, kept[1:]},
		{"remove-hooks", first, kept},
		{"delete-objects", first, kept},
		{"release-finalizers", nil, kept},
		{"delete-definitions", nil, append([]string{"no-object-left"}, kept...)},
		{"delete-operator", nil, kept},
		{"delete-namespace", nil, append([]string{"namespace-exported"}, kept...)},
		{"release-rest", nil, kept},
	}
	if len(book.Steps) != len(want) {
		t.Fatalf("%d steps", len(book.Steps))
	}
	for i, step := range book.Steps {
		if step.Name != want[i].name || !slices.Equal(step.Guards, want[i].guards) ||
			!slices.Equal(namesOf(step.Preconditions), want[i].preconditions) {
			t.Errorf("step %s: guards %q, preconditions %q", step.Name, step.Guards, namesOf(step.Preconditions))
		}
	}
	if got := namesOf(book.Guards); !slices.Equal(got, []string{"something-left", "selectors-select",
		"namespace-expendable", "operator-gone", "cascade-contained"}) {
		t.Errorf("guards %q", got)
	}
	if got := namesOf(book.Checks); !slices.Equal(got, []string{"no-definition-left", "no-object-left", "no-hook-left",
		"no-namespace-left", "nothing-owned-left", "nothing-exported-left"}) {
		t.Errorf("checks %q", got)
	}
}

// TestNothingIsDecidedOfWhatCanNotBeRead: each guard, precondition and check is unknown, no step is observed, and none
// acts.
func TestNothingIsDecidedOfWhatCanNotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, lost, begun := blindRemoval(t), errors.New("not readable"), errors.New("what was begun is not readable")
		run := &runbooktest.Run{Lost: map[string]error{"bundle": lost, "started": begun, "conversions": lost, "sizes": lost}}
		guards := slices.Concat(book.Guards, book.Checks)
		for _, step := range book.Steps {
			guards = append(guards, step.Preconditions...)
			if seen := step.Observe(t.Context(), run); seen.Err == nil {
				t.Errorf("step %s: %+v", step.Name, seen)
			}
			if err := step.Apply(t.Context(), run); err == nil || step.Irreversible && !errors.Is(err, begun) {
				t.Errorf("step %s acts: %v", step.Name, err)
			}
		}
		for _, guard := range guards {
			if found := guard.Evaluate(t.Context(), run); found.Answer != runbook.AnswerUnknown {
				t.Errorf("%s: %+v", guard.Name, found)
			}
		}
	})
}

// TestWhatGuardsDecide, by what was seen and by nothing else.
func TestWhatGuardsDecide(t *testing.T) {
	in, allowed := Inputs{Group: "example.io", Namespace: "op"}, Inputs{AllowCascade: "nobody needs them"}
	namespace := func(deleting bool, journal ...string) *cleanup.LeftNamespace {
		return &cleanup.LeftNamespace{LeftObject: cleanup.LeftObject{Deleting: deleting}, Journal: journal}
	}
	alive, along := cleanup.Liveness{Pods: []string{"op/a (Running)"}},
		cleanup.Cascade{Count: 1, Names: []string{"Pod team/a"}}
	foreign := backupState{Foreign: (&cleanup.ForeignError{What: "CRD a", By: "the bundle"}).Error()}
	for rule, row := range map[string]struct {
		found   runbook.Finding
		answer  runbook.Answer
		outcome runbook.Outcome
		locked  bool
		says    string
	}{
		"nothing is left": {in.somethingLeft(cleanup.Left{}), runbook.AnswerDoesNotHold, "", false, "there is no CRD"},
		"something is left": {in.somethingLeft(cleanup.Left{Namespace: namespace(false)}), runbook.AnswerHolds, "", false,
			"namespace"},
		"a selector is idle": {selectorsSelect([]string{"app=op"}), runbook.AnswerUnknown, "", false,
			"nothing has --selector \"app=op\""},
		"no selector is idle": {selectorsSelect(nil), runbook.AnswerHolds, "", false, "each selector"},
		"no namespace": {in.namespaceExpendable(nil), runbook.AnswerHolds, "", false,
			"there is no namespace op"},
		"a journal": {in.namespaceExpendable(namespace(true, "Secret op/a")), runbook.AnswerDoesNotHold,
			runbook.NeedsAttention, true, "holds a journal"},
		"somebody else is at it": {in.namespaceExpendable(namespace(true)), runbook.AnswerDoesNotHold, runbook.Deferred,
			false, "somebody else"},
		"nobody is at it":     {in.namespaceExpendable(namespace(false)), runbook.AnswerHolds, "", false, "nobody is"},
		"it is gone":          {operatorGone(cleanup.Liveness{}, false), runbook.AnswerHolds, "", false, "nothing of"},
		"it is stopped first": {operatorGone(alive, true), runbook.AnswerHolds, "", false, "stopped first"},
		"it is alive":         {operatorGone(alive, false), runbook.AnswerDoesNotHold, "", true, "delete the pods"},
		"nothing goes along":  {in.cascadeContained(cleanup.Cascade{}), runbook.AnswerHolds, "", false, "nothing outside"},
		"it may go along":     {allowed.cascadeContained(along), runbook.AnswerHolds, "", false, "nobody needs them"},
		"it goes along": {in.cascadeContained(along), runbook.AnswerDoesNotHold, runbook.NeedsAttention, true,
			"would go 1 object"},
		"a bundle of others": {foreign.bundleKept(), runbook.AnswerDoesNotHold, runbook.NeedsAttention, true, "not asked"},
		"a bundle":           {backupState{}.bundleKept(), runbook.AnswerHolds, "", false, "were read back"},
		"all is exported":    {namespaceExported(nil), runbook.AnswerHolds, "", false, "is in the bundle"},
		"one is not exported": {namespaceExported([]string{"a"}), runbook.AnswerDoesNotHold, runbook.NeedsAttention, false,
			"not in the bundle: a"},
		"none is left": {noneLeft(nil), runbook.AnswerHolds, "", false, "none is left"},
		"one is left":  {noneLeft([]string{"a"}), runbook.AnswerDoesNotHold, runbook.NeedsAttention, false, "still there: a"},
	} {
		got := row.found
		if got.Answer != row.answer || got.Outcome != row.outcome || got.Locked != row.locked ||
			!strings.Contains(got.Reason, row.says) {
			t.Errorf("%s: %+v", rule, got)
		}
	}
}
