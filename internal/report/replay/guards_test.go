package replay_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"salve/engine"
	"salve/internal/report/replay"
	"salve/journal"
	"salve/runbook"
)

// evaluated adds to a record what an engine would: findings, and what is decided on them.
func evaluated(t *testing.T, history *journal.History, evaluation journal.Evaluation) {
	t.Helper()
	evaluation.Decision = engine.Decide(runbook.FailClosed, evaluation.Findings)
	raw, err := json.Marshal(evaluation)
	if err != nil {
		t.Fatal(err)
	}
	entry := journal.Entry{Seq: len(history.Entries) + 1, Kind: journal.Evaluated, Data: raw}
	history.Entries = append(history.Entries, entry)
}

// TestGuardThatIsNotAskedAnyMore is shown, and no program that still calls itself the same one may have dropped it.
func TestGuardThatIsNotAskedAnyMore(t *testing.T) {
	for name, row := range map[string]struct {
		recorded lamp
		version  string
		want     replay.Verdict
		reason   string
	}{
		"it held, in another program": {dark(), "2", replay.Same, ""},
		"it held, in the same program": {dark(), "1", replay.Void,
			"guard switchable, finding: holds → not asked"},
		"it refused, in another program": {lamp{Threshold: 40, Room: "study", world: dim{Watts: 10}}, "2", replay.Diverged,
			"guard switchable, finding: does-not-hold → not asked; recorded: nothing-to-do; now: go on"},
	} {
		history := recorded(t, row.recorded)
		options := replay.Options{Program: "v1 abc", Make: func(inputs json.RawMessage) (runbook.Runbook, error) {
			book, err := lamp{}.from(inputs)
			book.Version, book.Guards = row.version, book.Guards[:1]
			return book, err
		}}
		result, err := replay.Run(history, options)
		if err != nil || result.Verdict != row.want || !strings.Contains(result.Reason, row.reason) {
			t.Errorf("%s: %v: %s: %s", name, err, result.Verdict, result.Reason)
			continue
		}
		first := result.Decisions[0].Guards
		if last := first[len(first)-1]; last.Name != "switchable" || last.Now != nil || last.Recorded == nil {
			t.Errorf("%s: %+v", name, first)
		}
	}
}

// TestGuardsAfterARefusalAreNotMissed: where an earlier one refuses now, the later ones are no difference of their own.
func TestGuardsAfterARefusalAreNotMissed(t *testing.T) {
	result := replayed(t, recorded(t, dark()), lamp{}, "threshold=5")
	if guards := result.Decisions[0].Guards; len(guards) != 1 || guards[0].Name != "dark" {
		t.Errorf("%+v", guards)
	}
}

// TestFreshnessIsTheEnginesOwn finding: it stands alone, or after others, and is taken as it is recorded.
func TestFreshnessIsTheEnginesOwn(t *testing.T) {
	stale := runbook.Unknownf("evidence is stale").NotOverridable()
	stale.Guard = engine.Freshness
	history := recorded(t, dark())
	evaluated(t, history, journal.Evaluation{For: "step switch-on", Findings: []runbook.Finding{stale}})
	if err := replay.Verify(history, dark().book()); err != nil {
		t.Error(err)
	}
	result := replayed(t, history, lamp{version: "2"})
	last := result.Decisions[len(result.Decisions)-1]
	if last.Verdict != replay.Same || last.Now == nil || last.Now.Outcome != runbook.Undecided || len(last.Guards) != 1 {
		t.Errorf("%+v", last)
	}
}

// TestEvaluationWithoutFindings is nothing that an engine writes: its guards were not asked.
func TestEvaluationWithoutFindings(t *testing.T) {
	history := recorded(t, dark())
	evaluated(t, history, journal.Evaluation{For: "start"})
	err := replay.Verify(history, dark().book())
	if err == nil || !strings.Contains(err.Error(), "it was not asked then") {
		t.Errorf("%v", err)
	}
}

// TestStepsAskedByTheirPreconditionsAlone: a preflight step is looked at before its guards are asked.
func TestStepsAskedByTheirPreconditionsAlone(t *testing.T) {
	book := func(l lamp) runbook.Runbook {
		made := l.book()
		first := made.Steps[0]
		first.Name, first.Preconditions = "dust", []runbook.Guard{made.Guards[1]}
		first.Observe = func(context.Context, runbook.Run) runbook.Observation { return runbook.Done("it is clean") }
		made.Preflight = []runbook.Step{first}
		return made
	}
	if err := replay.Verify(recordedBook(t, book(dark())), book(lamp{Threshold: 40, Room: "study"})); err != nil {
		t.Error(err)
	}
}

// made gives options by which a record is replayed with a runbook that is changed.
func made(now lamp, program string, change func(*runbook.Runbook)) replay.Options {
	return replay.Options{Program: program, Make: func(inputs json.RawMessage) (runbook.Runbook, error) {
		book, err := now.from(inputs)
		change(&book)
		return book, err
	}}
}

// TestRecordThatDecidesOtherwiseThanItsFindingsIsVoid.
func TestRecordThatDecidesOtherwiseThanItsFindingsIsVoid(t *testing.T) {
	history := recorded(t, dark())
	stale := runbook.Unknownf("evidence is stale")
	stale.Guard = engine.Freshness
	evaluated(t, history, journal.Evaluation{For: "start", Findings: []runbook.Finding{stale}})
	last := &history.Entries[len(history.Entries)-1]
	last.Data = json.RawMessage(strings.Replace(string(last.Data), `"outcome":"undecided"`, `"outcome":"failed"`, 1))
	if err := replay.Verify(history, dark().book()); err == nil ||
		!strings.Contains(err.Error(), "decided undecided, recorded failed") {
		t.Errorf("%v", err)
	}
}

// TestChecksAreAllAsked, and fail closed whatever the guards do.
func TestChecksAreAllAsked(t *testing.T) { synctest.Test(t, checksAreAllAsked) } // they are asked again for a while

func checksAreAllAsked(t *testing.T) {
	open := func(book *runbook.Runbook) {
		read := func(context.Context, runbook.Run) (dim, error) { return dim{}, nil }
		book.Posture = runbook.FailOpen
		book.Checks = []runbook.Guard{
			runbook.Ask("glows", "?", read, func(dim) runbook.Finding { return runbook.Unknownf("nobody looked") }),
			runbook.Ask("hums", "?", read, func(dim) runbook.Finding { return runbook.No("it is silent") }),
		}
	}
	book := dark().book()
	open(&book)
	history := recordedBook(t, book)
	result, err := replay.Run(history, made(lamp{}, "v1 abc", open))
	if err != nil || result.Verdict != replay.Same {
		t.Fatalf("%v: %s: %s", err, result.Verdict, result.Reason)
	}
	last := result.Decisions[len(result.Decisions)-1]
	if last.For != "checks" || len(last.Guards) != 2 || last.Now.Outcome != runbook.Undecided {
		t.Errorf("%+v", last)
	}
}

// TestStepThatThereIsNotAnyMore can't be asked about.
func TestStepThatThereIsNotAnyMore(t *testing.T) {
	options := made(lamp{version: "2"}, "v2 def", func(book *runbook.Runbook) { book.Steps[0].Name = "another" })
	result, err := replay.Run(recorded(t, dark()), options)
	if err != nil || result.Verdict != replay.Unreplayable ||
		!strings.Contains(result.Reason, "step switch-on: unreplayable(the runbook as it is now does not ask for this)") {
		t.Errorf("%v: %s: %s", err, result.Verdict, result.Reason)
	}
}

// TestOnlyTheSameProgramChecksItself: the runbook's version alone does not tell.
func TestOnlyTheSameProgramChecksItself(t *testing.T) {
	for program, want := range map[string]bool{"v1 abc": true, "v2 def": false, "": false} {
		result, err := replay.Run(recorded(t, dark()), made(lamp{}, program, func(*runbook.Runbook) {}))
		if err != nil || result.Checked != want || result.Verdict != replay.Same {
			t.Errorf("%q: %v: checked %v, %s", program, err, result.Checked, result.Verdict)
		}
	}
}

// TestWhatWasMaskedIsNoDifference of a guard: it has seen more than the record shows.
func TestWhatWasMaskedIsNoDifference(t *testing.T) {
	type login struct {
		Arguments string `json:"arguments"`
	}
	const secret = "--password=hunter2"
	masked := func(decide func(login) runbook.Finding) func(*runbook.Runbook) {
		return func(book *runbook.Runbook) {
			read := func(context.Context, runbook.Run) (login, error) { return login{secret}, nil }
			book.Guards[1], book.Steps[0].Guards = runbook.Ask("logs-in", "?", read, decide), nil
		}
	}
	says := func(seen login) runbook.Finding { return runbook.Yes("by %s", seen.Arguments) }
	compares := func(seen login) runbook.Finding {
		if seen.Arguments == secret {
			return runbook.Yes("it may")
		}
		return runbook.No("it may not")
	}
	for name, row := range map[string]struct {
		decide func(login) runbook.Finding
		want   replay.Verdict
		lacks  string
	}{
		"said":     {says, replay.Same, ""},
		"compared": {compares, replay.Unreplayable, "unreplayable(logs-in: what was masked in its reading)"},
	} {
		change := masked(row.decide)
		book := dark().book()
		change(&book)
		result, err := replay.Run(recordedBook(t, book), made(lamp{}, "v1 abc", change))
		if err != nil || result.Verdict != row.want || !strings.Contains(result.Reason, row.lacks) {
			t.Errorf("%s: %v: %s: %s", name, err, result.Verdict, result.Reason)
		}
	}
	room := dark()
	room.Room = secret // inputs are given back as they were, and the record shows them masked
	if err := replay.Verify(recorded(t, room), room.book()); err != nil {
		t.Error(err)
	}
}

// TestOverrideIsOfARefusalThatMayBePassed: it is carried to the same one, and not to what holds or is locked now.
func TestOverrideIsOfARefusalThatMayBePassed(t *testing.T) {
	bright := dark()
	bright.world.Watts = 60
	history := recordedBook(t, bright.book(), "dark")
	if err := replay.Verify(history, bright.book()); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		now  runbook.Finding
		want string
	}{
		"it refuses":       {runbook.No("it is bright"), "the test says so"},
		"it holds":         {runbook.Yes("it is dark"), ""},
		"nobody may pass":  {runbook.No("it is bright").NotOverridable(), ""},
		"it is not known":  {runbook.Unknownf("403"), "the test says so"},
		"nobody may guess": {runbook.Unknownf("403").NotOverridable(), ""},
	} {
		result := replayed(t, history, lamp{version: "2", decide: func(dim) runbook.Finding { return row.now }})
		if got := result.Decisions[0].Guards[0].Now.Override; got != row.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestGuardThatNobodyMayPassAnyMoreIsDifferent, and shown, though nobody passed it.
func TestGuardThatNobodyMayPassAnyMoreIsDifferent(t *testing.T) {
	bright := dark()
	bright.world.Watts = 60
	result := replayed(t, recorded(t, bright), lamp{version: "2", decide: func(dim) runbook.Finding {
		return runbook.No("study has 60 watts, of 40").NotOverridable()
	}})
	if guard := result.Decisions[0].Guards[0]; guard.State != replay.Different || result.Verdict != replay.Same {
		t.Errorf("%s: %+v", result.Verdict, guard)
	}
}

// TestReadingThatCannotBePutTogetherIsNoReplay.
func TestReadingThatCannotBePutTogetherIsNoReplay(t *testing.T) {
	history := recorded(t, dark())
	held := runbook.Yes("it is dark")
	held.Guard = "dark"
	evaluated(t, history, journal.Evaluation{
		For: "start", Findings: []runbook.Finding{held},
		Readings: []journal.Reading{{Guard: "dark", Value: json.RawMessage(`{}`), Parts: map[string]string{"watts": "none"}}},
	})
	if err := replay.Verify(history, dark().book()); err == nil || !strings.Contains(err.Error(), "is not in the record") {
		t.Errorf("%v", err)
	}
	history = recorded(t, dark())
	history.Entries = append(history.Entries, journal.Entry{Seq: 9, Kind: journal.Evaluated, Data: json.RawMessage(`7`)})
	err := replay.Verify(history, dark().book())
	if err == nil || !strings.Contains(err.Error(), "entry 9 of the journal") {
		t.Errorf("%v", err)
	}
}
