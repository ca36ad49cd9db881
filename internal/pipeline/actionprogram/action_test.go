package actionprogram_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	fastclock "salve/internal/clock"
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

// says is an answer with these fields.
func says(fields string) string { return `echo '{"schema":"salve.action/v1",` + fields + `}'` }

var (
	isDone  = says(`"state":"done","outputs":{"id":7}`)
	absent  = says(`"state":"not-done","reason":"no lamp"`)
	blind   = says(`"state":"unknown","reason":"403"`)
	notDone = "test -e made && { " + isDone + "; exit; }; " + absent
	makes   = "touch made; " + says(`"result":"done","secretOutputs":{"key":"k-1"}`)
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
	text := "#!/bin/sh\necho $1 >>verbs\ncase $1 in\nobserve) " + s.observe + ";;\nplan) " + s.plan + ";;\napply) " +
		s.apply +
		";;\nesac\n"
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
	for rule, test := range map[string]struct {
		situation
		result  journal.ResultKind
		refused bool
		reason  string
		verbs   string
	}{
		"what lacks is applied, and observed again": {
			situation: situation{observe: notDone, apply: makes},
			result:    journal.Done, reason: "done, and observed", verbs: "observe apply observe",
		},
		"what is done is not applied": {
			situation: situation{observe: isDone, apply: makes},
			result:    journal.Done, reason: "it was done already", verbs: "observe",
		},
		"what can't be seen is not changed": {
			situation: situation{observe: blind, apply: makes},
			result:    journal.Failure, refused: true, reason: "can't be seen, and nothing was begun: 403", verbs: "observe",
		},
		"a blind program may fail": {
			situation: situation{observe: blind + "; exit 3", apply: makes},
			result:    journal.Failure, refused: true, reason: "nothing was begun: 403", verbs: "observe",
		},
		"an observation that fails says nothing": {
			situation: situation{observe: isDone + "; exit 1", apply: makes},
			result:    journal.Failure, refused: true, reason: "exit code 1, and its answer says that all went well",
			verbs: "observe",
		},
		"an empty answer is no answer": {
			situation: situation{observe: "true", apply: makes},
			result:    journal.Failure, refused: true, reason: "it answers nothing", verbs: "observe",
		},
		"an observation that hangs is ended": {
			situation: situation{observe: "sleep 3600", apply: makes},
			result:    journal.Failure, refused: true, reason: "it was ended after an interrupt", verbs: "observe",
		},
		"what failed has failed": {
			situation: situation{observe: notDone, apply: says(`"result":"failed","reason":"quota of hunter2"`) + "; exit 1"},
			result:    journal.Failure, reason: "quota of ***", verbs: "observe apply",
		},
		"an apply without an answer may have happened": {
			situation: situation{observe: notDone, apply: "exit 1"},
			result:    journal.Unknown, reason: "exit code 1; it answers nothing", verbs: "observe apply",
		},
		"an apply that is killed may have happened": {
			situation: situation{observe: notDone, apply: "kill -9 $$"},
			result:    journal.Unknown, reason: "it was cut off: killed by signal 9", verbs: "observe apply",
		},
		"an apply beyond its timeout may have happened": {
			situation: situation{observe: notDone, apply: "sleep 3600", timeout: 300 * time.Millisecond},
			result:    journal.Unknown, reason: "it was ended after 300ms", verbs: "observe apply",
		},
		"an apply that says it doesn't know": {
			situation: situation{observe: notDone, apply: says(`"result":"unknown","reason":"504"`)},
			result:    journal.Unknown, reason: "504", verbs: "observe apply",
		},
		"done is what is observed": {
			situation: situation{observe: notDone, apply: says(`"result":"done"`)},
			result:    journal.Unknown, reason: "is observed as not-done: no lamp", verbs: "observe apply observe",
		},
		"what can't be seen afterwards is not done": {
			situation: situation{observe: "test -e made && { " + blind + "; exit; }; " + absent, apply: makes},
			result:    journal.Unknown, reason: "is observed as unknown: 403", verbs: "observe apply observe",
		},
		"an answer with blanks without end behind it": {
			situation: situation{observe: isDone + `; head -c 3000000 /dev/zero | tr '\0' ' '`, apply: makes},
			result:    journal.Failure, refused: true, reason: "more than 1048576 bytes", verbs: "observe",
		},
		"an answer with more behind it is none": {
			situation: situation{observe: isDone + "; echo also this", apply: makes},
			result:    journal.Failure, refused: true, reason: "more than one JSON object", verbs: "observe",
		},
		"an unknown field is not passed over": {
			situation: situation{observe: says(`"state":"done","stat":"x"`), apply: makes},
			result:    journal.Failure, refused: true, reason: "unknown field \"stat\"", verbs: "observe",
		},
		"a field that is given twice is not read": {
			situation: situation{observe: says(`"state":"done","State":"unknown"`), apply: makes},
			result:    journal.Failure, refused: true, reason: "\"State\" is given twice", verbs: "observe",
		},
		"another schema is not understood": {
			situation: situation{observe: `echo '{"schema":"salve.action/v2","state":"done"}'`, apply: makes},
			result:    journal.Failure, refused: true, reason: "the schema is \"salve.action/v2\"", verbs: "observe",
		},
		"an unknown state is none": {
			situation: situation{observe: says(`"state":"fine"`), apply: makes},
			result:    journal.Failure, refused: true, reason: "the state is \"fine\"", verbs: "observe",
		},
		"not done without a reason is not understood": {
			situation: situation{observe: says(`"state":"not-done"`), apply: makes},
			result:    journal.Failure, refused: true, reason: "no reason is given", verbs: "observe",
		},
		"an endless answer is cut": {
			situation: situation{observe: `head -c 3000000 /dev/zero | tr '\0' x`, apply: makes},
			result:    journal.Failure, refused: true, reason: "more than 1048576 bytes", verbs: "observe",
		},
		"outputs are bounded": {
			situation: situation{observe: says(`"state":"done","outputs":{"a":"'$(head -c 300000 /dev/zero | tr '\0' x)'"}`),
				apply: makes},
			result: journal.Failure, refused: true, reason: "at most 262144 are kept", verbs: "observe",
		},
		"an output's name is one": {
			situation: situation{observe: says(`"state":"done","outputs":{"a b":1}`), apply: makes},
			result:    journal.Failure, refused: true, reason: "\"a b\" has a name that is none", verbs: "observe",
		},
		"a secret is not given openly as well": {
			situation: situation{observe: says(`"state":"done","outputs":{"a":1},"secretOutputs":{"a":1}`), apply: makes},
			result:    journal.Failure, refused: true, reason: "given as a secret and not as one", verbs: "observe",
		},
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
			if outcome.Result != test.result || outcome.Refused != test.refused ||
				!strings.Contains(outcome.Reason, test.reason) {
				t.Errorf("%s (refused: %v): %s", outcome.Result, outcome.Refused, outcome.Reason)
			}
			if verbs := b.verbs(t); verbs != test.verbs {
				t.Errorf("it was asked to %q, want %q", verbs, test.verbs)
			}
		})
	}
}

// TestAnEndlessAnswerIsNotKept: a program that says more than anybody reads takes no memory for it.
func TestAnEndlessAnswerIsNotKept(t *testing.T) {
	b := newBench(t, situation{observe: "head -c 200000000 /dev/zero"})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	outcome := b.action.Run(t.Context(), b.attempt)
	runtime.ReadMemStats(&after)
	if !outcome.Refused || !strings.Contains(outcome.Reason, "more than 1048576 bytes") {
		t.Errorf("%s: %s", outcome.Result, outcome.Reason)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 20<<20 {
		t.Errorf("%d MiB were taken", took>>20)
	}
}

// TestADeepAnswerTakesNoMemory: an answer within its limit, of objects in objects, is refused without a path for each
// of them.
func TestADeepAnswerTakesNoMemory(t *testing.T) {
	b := newBench(t, situation{observe: `yes '{"schema":' | head -n 30000; exit 1`})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	outcome := b.action.Run(t.Context(), b.attempt)
	runtime.ReadMemStats(&after)
	if !outcome.Refused || !strings.Contains(outcome.Reason, "nested more than 64 levels") {
		t.Errorf("%s: %s", outcome.Result, outcome.Reason)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 20<<20 {
		t.Errorf("%d MiB were taken", took>>20)
	}
}

// TestAReasonIsShort, whatever a program calls its fields.
func TestAReasonIsShort(t *testing.T) {
	b := newBench(t, situation{observe: `printf '{"'; head -c 100000 /dev/zero | tr '\0' a; echo '":1}'`})
	outcome := b.action.Run(t.Context(), b.attempt)
	if !outcome.Refused || !strings.Contains(outcome.Reason, "unknown field") || len(outcome.Reason) > 5000 {
		t.Errorf("%s: %d bytes", outcome.Result, len(outcome.Reason))
	}
}

// TestAStepsTimeoutIsSaid where it ends before the two minutes of an observation.
func TestAStepsTimeoutIsSaid(t *testing.T) {
	b := newBench(t, situation{observe: "sleep 3600"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	outcome := b.action.Run(ctx, b.attempt)
	if !outcome.Refused || strings.Contains(outcome.Reason, "2m0s") ||
		!strings.Contains(outcome.Reason, "s, without an answer") {
		t.Errorf("%s: %s", outcome.Result, outcome.Reason)
	}
}

// TestAnObservationHasTwoMinutes, on a clock that runs as fast as a test can wait.
func TestAnObservationHasTwoMinutes(t *testing.T) {
	b := newBench(t, situation{observe: "sleep 3600"})
	b.action.Clock = fastclock.NewScaled(240)
	outcome := b.action.Run(t.Context(), b.attempt)
	if !outcome.Refused || !strings.Contains(outcome.Reason, "it was ended after 2m0s, without an answer") {
		t.Errorf("%s: %s", outcome.Result, outcome.Reason)
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
	for rule, test := range map[string]struct {
		observe string
		want    journal.ResultKind
	}{
		"done is done":                      {isDone, journal.Done},
		"not done has failed":               {notDone, journal.Failure},
		"unknown is unknown":                {blind, journal.Unknown},
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
		plan: says(`"changes":[{"kind":"create","resource":"lamp","summary":"of glass"}]`)})
	says, err := b.action.Preview(t.Context(), b.attempt)
	if err != nil || says != "not done: no lamp\nwould create lamp: of glass" {
		t.Errorf("%q, %v", says, err)
	}
	if verbs := b.verbs(t); verbs != "observe plan" {
		t.Errorf("it was asked to %q", verbs)
	}
}

// TestPreviewOfWhatCannotBeSeenIsNone: no plan is made of a state that nobody knows.
func TestPreviewOfWhatCannotBeSeenIsNone(t *testing.T) {
	b := newBench(t, situation{observe: blind, plan: says(`"changes":[{"kind":"create","resource":"lamp"}]`)})
	said, err := b.action.Preview(t.Context(), b.attempt)
	if said != "" || err == nil || !strings.Contains(err.Error(), "whether its work is done can't be seen: 403") {
		t.Errorf("%q, %v", said, err)
	}
	if verbs := b.verbs(t); verbs != "observe" {
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
			if found != test.want || (err != nil) != (test.wrong != "") ||
				err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("found %q, %v", found, err)
			}
		})
	}
}
