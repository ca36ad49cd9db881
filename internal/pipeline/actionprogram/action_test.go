package actionprogram_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/internal/pipeline"
	"salve/internal/pipeline/actionprogram"
	"salve/internal/pipeline/rollout"
	"salve/journal"
)

// situation is a program in shell, by what it does for each verb.
type situation struct {
	observe, plan, apply string
	timeout              time.Duration
}

const (
	isDone  = `echo '{"schema":"salve.action/v1","state":"done","outputs":{"id":7}}'`
	notDone = `test -e made && { ` + isDone + `; exit; }; echo '{"schema":"salve.action/v1","state":"not-done","reason":"no lamp"}'`
	makes   = `touch made; echo '{"schema":"salve.action/v1","result":"done","secretOutputs":{"key":"k-1"}}'`
)

// bench is a step with a program.
type bench struct {
	folder  string
	action  *actionprogram.Action
	attempt *rollout.Attempt
	log     bytes.Buffer
}

func newBench(t *testing.T, s situation) *bench {
	t.Helper()
	b := &bench{folder: t.TempDir()}
	path := filepath.Join(b.folder, actionprogram.Prefix+"Lamp")
	text := "#!/bin/sh\ncat >asked-$1\necho $1 >>verbs\ncase $1 in\nobserve) " + s.observe + ";;\nplan) " + s.plan + ";;\napply) " +
		s.apply + ";;\nesac\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := actionprogram.Find("Lamp", "", b.folder)
	if err != nil || program == nil {
		t.Fatalf("finding %s: %v, %v", path, program, err)
	}
	b.action = &actionprogram.Action{
		Program: *program, Folder: b.folder, Environment: []string{"PATH=" + os.Getenv("PATH"), "TOKEN=hers"},
		Grace: time.Second, Clock: clock.RealClock{},
	}
	group := &pipeline.ResourceGroup{Name: pipeline.Text{Value: "fleet"}, ResourceGroup: pipeline.Text{Value: "rg"}}
	step := &pipeline.Step{Group: group, Name: pipeline.Text{Value: "lamp"}, Action: pipeline.Text{Value: "Lamp"}}
	if s.timeout > 0 {
		step.Timeout = &pipeline.Duration{Duration: s.timeout}
	}
	b.attempt = &rollout.Attempt{
		Run: "run-1", Step: step, Number: 1, Log: &b.log,
		Mask: func(text string, _ ...string) string { return strings.ReplaceAll(text, "hunter2", "***") },
	}
	return b
}

func (b *bench) verbs(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.folder, "verbs"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(raw)), " ")
}

func TestRun(t *testing.T) {
	const answers = `echo '{"schema":"salve.action/v1",`
	for rule, test := range map[string]struct {
		situation
		result  journal.ResultKind
		refused bool
		reason  string
		verbs   string
	}{
		"what lacks is applied, and observed again": {situation{observe: notDone, apply: makes}, journal.Done, false,
			"done, and observed", "observe apply observe"},
		"what is done is not applied": {situation{observe: isDone, apply: makes}, journal.Done, false, "it was done already",
			"observe"},
		"what can't be seen is not changed": {situation{observe: answers + `"state":"unknown","reason":"403"}'`, apply: makes},
			journal.Failure, true, "can't be seen, and nothing was begun: 403", "observe"},
		"a blind program may fail": {situation{observe: answers + `"state":"unknown","reason":"403"}'; exit 3`, apply: makes},
			journal.Failure, true, "nothing was begun: 403", "observe"},
		"an observation that fails says nothing": {situation{observe: isDone + "; exit 1", apply: makes}, journal.Failure, true,
			"exit code 1, and its answer says that all went well", "observe"},
		"an empty answer is no answer": {situation{observe: "true", apply: makes}, journal.Failure, true, "it answers nothing",
			"observe"},
		"an observation that hangs is ended": {situation{observe: "sleep 3600", apply: makes}, journal.Failure, true,
			"it was ended after an interrupt", "observe"},
		"what failed has failed": {situation{observe: notDone, apply: answers + `"result":"failed","reason":"quota of hunter2"}'; exit 1`},
			journal.Failure, false, "quota of ***", "observe apply"},
		"an apply without an answer may have happened": {situation{observe: notDone, apply: "exit 1"}, journal.Unknown, false,
			"exit code 1; it answers nothing", "observe apply"},
		"an apply that is killed may have happened": {situation{observe: notDone, apply: "kill -9 $$"}, journal.Unknown, false,
			"it was cut off: killed by signal 9", "observe apply"},
		"an apply beyond its timeout may have happened": {situation{observe: notDone, apply: "sleep 3600",
			timeout: 300 * time.Millisecond}, journal.Unknown, false, "it was ended after 300ms", "observe apply"},
		"an apply that says it doesn't know": {situation{observe: notDone, apply: answers + `"result":"unknown","reason":"504"}'`},
			journal.Unknown, false, "504", "observe apply"},
		"done is what is observed": {situation{observe: notDone, apply: answers + `"result":"done"}'`}, journal.Unknown, false,
			"is observed as not-done: no lamp", "observe apply observe"},
		"an answer with more behind it is none": {situation{observe: isDone + "; echo also this", apply: makes}, journal.Failure,
			true, "more than one JSON object", "observe"},
		"an unknown field is not passed over": {situation{observe: answers + `"state":"done","stat":"x"}'`}, journal.Failure, true,
			`unknown field "stat"`, "observe"},
		"a field that is given twice is not read": {situation{observe: answers + `"state":"done","State":"unknown"}'`},
			journal.Failure, true, `"State" is given twice`, "observe"},
		"another schema is not understood": {situation{observe: `echo '{"schema":"salve.action/v2","state":"done"}'`},
			journal.Failure, true, `the schema is "salve.action/v2"`, "observe"},
		"an unknown state is none": {situation{observe: answers + `"state":"fine"}'`}, journal.Failure, true,
			`the state is "fine"`, "observe"},
		"not done without a reason is not understood": {situation{observe: answers + `"state":"not-done"}'`}, journal.Failure, true,
			"no reason is given", "observe"},
		"an endless answer is cut": {situation{observe: "head -c 3000000 /dev/zero | tr '\\0' x"}, journal.Failure, true,
			"more than 1048576 bytes", "observe"},
		"outputs are bounded": {situation{observe: answers + `"state":"done","outputs":{"a":"'$(head -c 300000 /dev/zero | tr '\0' x)'"}}'`},
			journal.Failure, true, "at most 262144 are kept", "observe"},
		"an output's name is one": {situation{observe: answers + `"state":"done","outputs":{"a b":1}}'`}, journal.Failure, true,
			`"a b" has a name that is none`, "observe"},
		"a secret is not given openly as well": {situation{observe: answers + `"state":"done","outputs":{"a":1},"secretOutputs":{"a":1}}'`},
			journal.Failure, true, "given as a secret and not as one", "observe"},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.situation)
			ctx := t.Context()
			if strings.Contains(test.observe, "sleep") {
				limited, cancel := context.WithCancel(ctx)
				timer := time.AfterFunc(time.Second, cancel)
				defer timer.Stop()
				ctx = limited
			}
			outcome := b.action.Run(ctx, b.attempt)
			if outcome.Result != test.result || outcome.Refused != test.refused || !strings.Contains(outcome.Reason, test.reason) {
				t.Errorf("%s (refused: %v): %s", outcome.Result, outcome.Refused, outcome.Reason)
			}
			if verbs := b.verbs(t); verbs != test.verbs {
				t.Errorf("it was asked to %q, want %q", verbs, test.verbs)
			}
		})
	}
}

func TestOutputsAreThoseObservedAndWhatApplyAloneCanTell(t *testing.T) {
	b := newBench(t, situation{observe: notDone, apply: makes})
	outcome := b.action.Run(t.Context(), b.attempt)
	if id := outcome.Outputs["id"]; id.Secret || (pipeline.Value{Literal: id.Value}).Plain() != "7" {
		t.Errorf("the output id is %v", id)
	}
	if key := outcome.Outputs["key"]; !key.Secret || key.Value != "k-1" {
		t.Errorf("the output key is %v", key)
	}
}

func TestObserve(t *testing.T) {
	const unknown = `echo '{"schema":"salve.action/v1","state":"unknown","reason":"504"}'`
	for rule, test := range map[string]struct {
		observe string
		want    journal.ResultKind
	}{
		"done is done":                      {isDone, journal.Done},
		"not done has failed":               {notDone, journal.Failure},
		"unknown is unknown":                {unknown, journal.Unknown},
		"no answer is unknown":              {"exit 0", journal.Unknown},
		"a program that fails says nothing": {notDone + "; exit 1", journal.Unknown},
	} {
		t.Run(rule, func(t *testing.T) {
			b := newBench(t, situation{observe: test.observe})
			if outcome := b.action.Observe(t.Context(), b.attempt); outcome.Result != test.want {
				t.Errorf("%s: %s", outcome.Result, outcome.Reason)
			}
		})
	}
}

func TestPreviewAppliesNothing(t *testing.T) {
	b := newBench(t, situation{observe: notDone, apply: makes,
		plan: `echo '{"schema":"salve.action/v1","changes":[{"kind":"create","resource":"lamp","summary":"of glass"}]}'`})
	says, err := b.action.Preview(t.Context(), b.attempt)
	if err != nil || says != "not done: no lamp\nwould create lamp: of glass" {
		t.Errorf("%q, %v", says, err)
	}
	if verbs := b.verbs(t); verbs != "observe plan" {
		t.Errorf("it was asked to %q", verbs)
	}
}

func TestAProgramThatWasChangedIsNotRun(t *testing.T) {
	b := newBench(t, situation{observe: isDone})
	if err := os.WriteFile(b.action.Program.Path, []byte("#!/bin/sh\ntouch ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	outcome := b.action.Run(t.Context(), b.attempt)
	if !outcome.Refused || !strings.Contains(outcome.Reason, "is not the program any more") {
		t.Errorf("%v: %s", outcome.Result, outcome.Reason)
	}
	if err := b.action.Check(t.Context(), b.attempt.Step); err == nil {
		t.Error("it passes the check")
	}
	if _, err := os.Stat(filepath.Join(b.folder, "ran")); err == nil {
		t.Error("it ran")
	}
}

func TestAProgramSeesWhatItIsGivenAlone(t *testing.T) {
	b := newBench(t, situation{observe: "env >environment; " + isDone})
	b.action.Run(t.Context(), b.attempt)
	raw, err := os.ReadFile(filepath.Join(b.folder, "environment"))
	if err != nil || strings.Contains(string(raw), "TOKEN") || !strings.Contains(string(raw), "SALVE_STEP=fleet/lamp") {
		t.Errorf("%v\n%s", err, raw)
	}
}

func TestFind(t *testing.T) {
	folder, path := t.TempDir(), t.TempDir()
	t.Setenv("PATH", path)
	for place, mode := range map[string]os.FileMode{
		filepath.Join(path, "salve-action-A"): 0o700, filepath.Join(folder, "salve-action-A"): 0o700,
		filepath.Join(path, "salve-action-B"): 0o700, filepath.Join(folder, "salve-action-C"): 0o600,
		filepath.Join(folder, "mine"): 0o700,
	} {
		if err := os.WriteFile(place, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for rule, test := range map[string]struct{ action, named, want, wrong string }{
		"the pipeline's folder comes before PATH": {"A", "", filepath.Join(folder, "salve-action-A"), ""},
		"one that is named comes before both":     {"A", filepath.Join(folder, "mine"), filepath.Join(folder, "mine"), ""},
		"then PATH":                               {"B", "", filepath.Join(path, "salve-action-B"), ""},
		"none is none":                            {"D", "", "", ""},
		"what can't be executed is said":          {"C", "", "", "is not executable"},
		"what is named has to be there":           {"D", filepath.Join(folder, "gone"), "", "no such file"},
		"a folder is no program":                  {"D", folder, "", "is no regular file"},
	} {
		t.Run(rule, func(t *testing.T) {
			program, err := actionprogram.Find(test.action, test.named, folder)
			found := ""
			if program != nil {
				found = program.Path
			}
			if found != test.want || (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("found %q, %v", found, err)
			}
		})
	}
}
