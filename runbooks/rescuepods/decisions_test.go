package rescuepods

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"salve/kube"
	"salve/runbook"
	"salve/runbook/runbooktest"
	"salve/runbooks/rescuepods/stranded"
)

// blindRescue is the runbook in a cluster of which nothing can be read.
func blindRescue(t *testing.T) (*rescue, runbook.Runbook) {
	t.Helper()
	in := Defaults()
	in.Selector, in.Expected = "app=web", []string{"home"}
	world := World{Cluster: &kube.Cluster{Client: fake.NewClientset(), Clock: clock.RealClock{}}, ClusterID: "x"}
	book, err := New(world, in)
	if err != nil {
		t.Fatal(err)
	}
	return &rescue{Search: search(world, in), in: in}, book
}

func namesOf(guards []runbook.Guard) (names []string) {
	for _, guard := range guards {
		names = append(names, guard.Name)
	}
	return names
}

// TestWhatEachStepIsGuardedBy: no deletion without that the source has stopped, that they are few, and that the record
// can be read back.
func TestWhatEachStepIsGuardedBy(t *testing.T) {
	_, book := blindRescue(t)
	before := []string{"namespaces-exist", "pods-elsewhere", "cannot-start", "source-stopped", "within-max"}
	want := []struct {
		name                  string
		guards, preconditions []string
	}{
		{"record", before, nil},
		{"delete-first", before, []string{"record-kept"}},
		{"delete-rest", []string{"namespaces-exist", "source-stopped", "within-max"}, []string{"record-kept"}},
		{"await-replacements", nil, nil},
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
	if got := namesOf(book.Guards); !slices.Equal(got, append([]string{"summary"}, before...)) {
		t.Errorf("guards %q", got)
	}
	if got := namesOf(book.Checks); !slices.Equal(got, []string{"recorded-gone", "running-untouched",
		"jobs-accounted-for"}) {
		t.Errorf("checks %q", got)
	}
}

// TestNothingIsDecidedOfWhatCanNotBeRead: each guard and check is unknown, no step is observed, and none acts.
func TestNothingIsDecidedOfWhatCanNotBeRead(t *testing.T) {
	lost := errors.New("not readable")
	for name, run := range map[string]*runbooktest.Run{
		"the pods":   {},
		"the record": {Lost: map[string]error{"pods": lost, "replacement": lost}},
	} {
		_, book := blindRescue(t)
		for _, guard := range slices.Concat(book.Guards, book.Checks) {
			if guard.Name == "namespaces-exist" {
				continue // it asks for the namespaces alone
			}
			if found := guard.Evaluate(t.Context(), run); found.Answer != runbook.AnswerUnknown {
				t.Errorf("%s: %s: %+v", name, guard.Name, found)
			}
		}
		for _, step := range book.Steps {
			if err := step.Apply(t.Context(), run); err == nil {
				t.Errorf("%s: step %s acts", name, step.Name)
			}
			if step.Await != nil && step.Await(t.Context(), run) == nil {
				t.Errorf("%s: step %s is over", name, step.Name)
			}
			if seen := step.Observe(t.Context(), run); step.Inputs != nil && seen.Err == nil {
				t.Errorf("%s: step %s: %+v", name, step.Name, seen)
			}
		}
	}
}

// TestStatusOfPodsThatCanNotBeSeenIsUnknown: a pod of which it can't be told what it waits for may be a recorded one.
func TestStatusOfPodsThatCanNotBeSeenIsUnknown(t *testing.T) {
	r, _ := blindRescue(t)
	run, blind := &runbooktest.Run{}, errors.New("secrets are denied")
	if _, err := r.seen.Get(t.Context(), run, func(context.Context) (*stranded.Reading, error) {
		return &stranded.Reading{Blind: blind}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.status(t.Context(), run, all); !errors.Is(err, blind) {
		t.Errorf("it is %v", err)
	}
}

// TestRecordThatIsLostHasNoStatus, though the pods can be read.
func TestRecordThatIsLostHasNoStatus(t *testing.T) {
	r, _ := blindRescue(t)
	lost := errors.New("not readable")
	run := &runbooktest.Run{Lost: map[string]error{"pods": lost}}
	if _, err := r.seen.Get(t.Context(), run, func(context.Context) (*stranded.Reading, error) {
		return &stranded.Reading{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.status(t.Context(), run, all); !errors.Is(err, lost) {
		t.Errorf("it is %v", err)
	}
}

// TestWaitingReadsAgain: what was seen before the deletion says nothing of what became of it.
func TestWaitingReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := blindRescue(t)
		run := &runbooktest.Run{}
		if _, err := r.seen.Get(t.Context(), run, func(context.Context) (*stranded.Reading, error) {
			return &stranded.Reading{Left: []stranded.Misplaced{{Pod: stranded.Pod{UID: "1", Deleting: true}}}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := r.deletion(all).Await(t.Context(), run); err == nil {
			t.Error("what was seen before was believed")
		}
	})
}

// TestWhatGuardsDecide, by what was seen and by nothing else.
func TestWhatGuardsDecide(t *testing.T) {
	now := time.Now()
	in := Inputs{Selector: "app=web", Expected: []string{"home"}, Max: 1}
	in.MinAge.Duration = time.Minute
	aged := func(age time.Duration) *stranded.Reading {
		pod := stranded.Pod{Namespace: "away", Name: "a", UID: "1", Created: now.Add(-age)}
		return &stranded.Reading{Now: now, Stranded: []stranded.Misplaced{{Pod: pod}}}
	}
	none, two := &stranded.Reading{}, &stranded.Reading{Stranded: make([]stranded.Misplaced, 2)}
	foreign := &stranded.ForeignError{What: "pod home/a"}
	touched := stranded.Status{Terminating: []stranded.Pod{{Namespace: "away", Name: "a", Began: "c"}}}
	for rule, row := range map[string]struct {
		found   runbook.Finding
		answer  runbook.Answer
		outcome runbook.Outcome
		locked  bool
		says    string
	}{
		"a record of others": {record{Found: true, Foreign: foreign.Error()}.kept(), runbook.AnswerDoesNotHold,
			runbook.NeedsAttention, true, "not asked to touch"},
		"no record": {record{}.kept(), runbook.AnswerUnknown, "", false, "no record of pods"},
		"a record":  {record{Found: true, Pods: 3}.kept(), runbook.AnswerHolds, "", false, "read back: 3"},
		"pods that are left": {recordedGone(fateOf(stranded.Status{Stranded: []stranded.Pod{{}}})), runbook.AnswerDoesNotHold,
			"", false, "still stranded"},
		"no pod is left": {recordedGone(fateOf(stranded.Status{})), runbook.AnswerHolds, "", false, "gone: 0"},
		"a pod was touched": {
			runningUntouched(leftAlone{fate: fateOf(touched), Left: 1}), runbook.AnswerDoesNotHold, "", false, "has started"},
		"none was touched": {runningUntouched(leftAlone{Left: 1}), runbook.AnswerHolds, "", false, "elsewhere: 1"},
		"a job waits": {in.jobsAccountedFor(accountsOf(stranded.Replacement{Waiting: []string{"a"}})),
			runbook.AnswerDoesNotHold, "", false, "job a"},
		"no job waits": {in.jobsAccountedFor(accountsOf(stranded.Replacement{})), runbook.AnswerHolds,
			"", false, "jobs with new pods: 0"},
		"a namespace is missing": {in.namespacesExist("there is no namespace"), runbook.AnswerDoesNotHold,
			runbook.NeedsAttention, false, "there is no"},
		"the namespaces are there": {in.namespacesExist(""), runbook.AnswerHolds, "", false, "there: home"},
		"pods elsewhere": {in.podsElsewhere(pods{tally: tallyOf(two)}), runbook.AnswerHolds,
			"", false, "outside of home: 2"},
		"no pod, and jobs that run": {
			in.podsElsewhere(pods{tallyOf(none), stranded.Others{RunningJobs: 1}}), runbook.AnswerUnknown,
			"", false, "1 jobs say"},
		"no pod, and others that live": {
			in.podsElsewhere(pods{tallyOf(none), stranded.Others{LivePods: 1}}), runbook.AnswerUnknown,
			"", false, "there are 1 without it"},
		"no pod": {in.podsElsewhere(pods{tally: tallyOf(none)}), runbook.AnswerDoesNotHold, "", true, "none; inside: 0"},
		"one unseen": {in.cannotStart(tallyOf(&stranded.Reading{Blind: foreign, Stranded: two.Stranded})),
			runbook.AnswerUnknown, "", true, ""},
		"none lacks":  {in.cannotStart(tallyOf(none)), runbook.AnswerDoesNotHold, "", true, "none lacks"},
		"some lack":   {in.cannotStart(tallyOf(two)), runbook.AnswerHolds, "", false, "stranded for lack"},
		"none to age": {in.sourceStopped(tallyOf(none)), runbook.AnswerHolds, "", false, "no pod is left"},
		"one is new": {in.sourceStopped(tallyOf(aged(59 * time.Second))), runbook.AnswerDoesNotHold, runbook.Deferred, false,
			"is 59s old, less than 1m0s"},
		"all are old": {in.sourceStopped(tallyOf(aged(time.Minute))), runbook.AnswerHolds, "", false, "is 1m0s old"},
		"too many": {in.withinMax(tallyOf(two)), runbook.AnswerDoesNotHold,
			runbook.NeedsAttention, true, "stranded: 2; --max is 1"},
		"as few as it": {in.withinMax(tallyOf(aged(0))), runbook.AnswerHolds, "", false, "stranded: 1; --max is 1"},
	} {
		got := row.found
		if got.Answer != row.answer || got.Outcome != row.outcome || got.Locked != row.locked ||
			!strings.Contains(got.Reason, row.says) {
			t.Errorf("%s: %+v", rule, got)
		}
	}
}

// TestWatchOfInvalidInputsIsRefused.
func TestWatchOfInvalidInputsIsRefused(t *testing.T) {
	err := Watch(t.Context(), World{}, Inputs{Selector: "a b"}, nil)
	if err == nil || !strings.Contains(err.Error(), "--selector") {
		t.Errorf("it ended with %v", err)
	}
}
