package runbook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/runbook"
)

// room is what a guard reads, with parts of each kind.
type room struct {
	Name  string            `json:"name"`
	Lamps []bulb            `json:"lamps"`
	Plugs map[string]bulb   `json:"plugs"`
	Spare *bulb             `json:"spare"`
	Note  string            `json:"note,omitempty"`
	Tags  map[string]string `json:"tags"`
	Key   []byte            `json:"key"`
	At    time.Time         `json:"at"`
	Moved metav1.Time       `json:"moved,omitempty"`
	Wired *bulb             `json:"wired,omitzero"`
}

type bulb struct {
	Watts int `json:"watts"`
}

// TestEachFieldThatARecordLacksIsNamed, wherever it is; what may be left out, or is null, is not lacking.
func TestEachFieldThatARecordLacksIsNamed(t *testing.T) {
	guard := runbook.Ask("lit", "?", func(context.Context, runbook.Run) (room, error) { return room{}, nil },
		func(seen room) runbook.Finding { return runbook.Yes("%s", seen.Name) })
	const rest = `"spare":{"watts":1},"tags":{"a":"b"},"key":"AA==","at":"2026-11-24T12:00:00Z"`
	for name, row := range map[string]struct{ reading, lacks string }{
		"all is there": {`{"name":"a","lamps":[{"watts":1}],"plugs":{"p":{"watts":2}},` + rest + `}`, ""},
		"lists are null": {`{"name":"a","lamps":null,"plugs":null,"spare":null,"tags":null,"key":null,` +
			`"at":"2026-11-24T12:00:00Z","moved":null}`, ""},
		"a time is null":   {`{"name":"a","lamps":[],"plugs":{},"spare":null,"tags":{},"key":"","at":null}`, "at"},
		"a text is null":   {`{"name":null,"lamps":[],"plugs":{},` + rest + `}`, "name"},
		"a number is null": {`{"name":"a","lamps":[{"watts":null}],"plugs":{},` + rest + `}`, "lamps[0].watts"},
		"a part is null":   {`{"name":"a","lamps":[null],"plugs":{},` + rest + `}`, "lamps[0]"},
		"it is null":       {`null`, "its reading"},
		"a field":          {`{"lamps":[],"plugs":{},` + rest + `}`, "name"},
		"one in a list":    {`{"name":"a","lamps":[{"watts":1},{}],"plugs":{},` + rest + `}`, "lamps[1].watts"},
		"one in a map":     {`{"name":"a","lamps":[],"plugs":{"p":{}},` + rest + `}`, `plugs["p"].watts`},
		"one behind a pointer": {`{"name":"a","lamps":[],"plugs":{},"spare":{},"tags":{},"key":"","at":` +
			`"2026-11-24T12:00:00Z"}`, "spare.watts"},
		"nothing": {``, "its reading"},
	} {
		finding, err := guard.Decide(runbook.Reading{Value: json.RawMessage(row.reading)})
		var lacking *runbook.UnreplayableError
		switch {
		case row.lacks == "" && (err != nil || finding.Answer != runbook.AnswerHolds || finding.Guard != "lit"):
			t.Errorf("%s: %+v, %v", name, finding, err)
		case row.lacks != "" && (!errors.As(err, &lacking) || lacking.What != row.lacks || lacking.Unread):
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, reading := range map[string]string{
		"a list of another form": `{"name":"a","lamps":7,"plugs":{},` + rest + `}`,
		"a map of another form":  `{"name":"a","lamps":[],"plugs":7,` + rest + `}`,
		"no object":              `7`,
	} {
		var lacking *runbook.UnreplayableError
		if _, err := guard.Decide(runbook.Reading{Value: json.RawMessage(reading)}); !errors.As(err, &lacking) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := guard.Decide(runbook.Reading{Omitted: "too long"}); err == nil {
		t.Error("a reading that was not kept")
	}
}

// TestAbsenceIsNotEmpty: in which way nothing was read is kept, and its class, its words and its question.
func TestAbsenceIsNotEmpty(t *testing.T) {
	if runbook.FailureOf(nil) != nil {
		t.Error("no error is a failure")
	}
	for name, row := range map[string]struct {
		err     error
		absence runbook.Absence
		class   apierr.Class
	}{
		"denied":     {apierr.New(apierr.Denied, "403"), runbook.AbsentDenied, apierr.Denied},
		"throttled":  {apierr.New(apierr.Throttled, "429"), runbook.AbsentThrottled, apierr.Throttled},
		"missing":    {apierr.New(apierr.Missing, "404"), runbook.AbsentMissing, apierr.Missing},
		"timed out":  {fmt.Errorf("reading: %w", context.DeadlineExceeded), runbook.AbsentTimedOut, apierr.Transient},
		"unknown":    {errors.New("EOF"), runbook.AbsentUnread, apierr.Unclassified},
		"a conflict": {apierr.New(apierr.Conflict, "409"), runbook.AbsentUnread, apierr.Conflict},
	} {
		failure := runbook.FailureOf(fmt.Errorf("reading the pool: %w", row.err))
		raw, err := json.Marshal(failure)
		var back *runbook.Failure
		if err = errors.Join(err, json.Unmarshal(raw, &back)); err != nil {
			t.Fatal(err)
		}
		same := back.Absence == row.absence && apierr.ClassOf(back) == row.class
		if !same || back.Error() != "reading the pool: "+row.err.Error() {
			t.Errorf("%s: %+v", name, back)
		}
		guard := runbook.Ask("pool", "?", func(context.Context, runbook.Run) (int, error) { return 0, row.err },
			func(int) runbook.Finding { return runbook.Yes("seen") })
		live := guard.Evaluate(t.Context(), round{number: 1})
		again, err := guard.Decide(*live.Reading)
		if err != nil || again.Answer != runbook.AnswerUnknown || again.Reason != live.Reason {
			t.Errorf("%s: live %+v, again %+v, %v", name, live, again, err)
		}
	}
}

// TestWhatIsTooLongIsDecidedOnAndNotKept.
func TestWhatIsTooLongIsDecidedOnAndNotKept(t *testing.T) {
	guard := runbook.Ask("long", "?", func(context.Context, runbook.Run) ([]byte, error) {
		return make([]byte, runbook.MaxReading), nil
	}, func(seen []byte) runbook.Finding { return runbook.Yes("%d", len(seen)) })
	found := guard.Evaluate(t.Context(), round{number: 1})
	if found.Answer != runbook.AnswerHolds || found.Reading.Omitted == "" || found.Reading.Value != nil {
		t.Errorf("%s %s: omitted %q", found.Answer, found.Reason, found.Reading.Omitted)
	}
}

// mute is a value that can't be written, or not be read back.
type mute struct{ Deaf bool }

func (m mute) MarshalJSON() ([]byte, error) {
	if m.Deaf {
		return []byte(`"deaf"`), nil
	}
	return nil, errors.New("mute")
}

func (*mute) UnmarshalJSON([]byte) error { return errors.New("deaf") }

// TestWhatIsFoundIsFoundAgain: also where a decision gives no answer, and where a reading can't be kept.
func TestWhatIsFoundIsFoundAgain(t *testing.T) {
	of := func(seen mute) runbook.Guard {
		return runbook.Ask("lamp", "?", func(context.Context, runbook.Run) (mute, error) { return seen, nil },
			func(mute) runbook.Finding { return runbook.Yes("it is lit") })
	}
	says := func(finding runbook.Finding) runbook.Guard {
		return runbook.Ask("lamp", "?", func(context.Context, runbook.Run) (bool, error) { return true, nil },
			func(bool) runbook.Finding { return finding })
	}
	for name, row := range map[string]struct {
		guard runbook.Guard
		want  runbook.Answer
		says  string
	}{
		"an answer":                      {says(runbook.No("it is dark")), runbook.AnswerDoesNotHold, "it is dark"},
		"no answer":                      {says(runbook.Finding{}), runbook.AnswerUnknown, `the guard gave no answer ("")`},
		"an answer that there is not":    {says(runbook.Finding{Answer: "perhaps"}), runbook.AnswerUnknown, `("perhaps")`},
		"a reading that can't be kept":   {of(mute{}), runbook.AnswerUnknown, "recording what was read: json: error calling"},
		"one that can't be read back":    {of(mute{true}), runbook.AnswerUnknown, "reading back what was read: deaf"},
		"what can't be read is not No":   {says(runbook.Unknownf("403").NotOverridable()), runbook.AnswerUnknown, "403"},
		"no answer that nobody may pass": {says(runbook.Finding{Locked: true}), runbook.AnswerUnknown, "gave no answer"},
	} {
		live := row.guard.Evaluate(t.Context(), round{number: 1})
		if live.Answer != row.want || !strings.Contains(live.Reason, row.says) || live.Reading == nil {
			t.Errorf("%s: %+v", name, live)
			continue
		}
		again, err := row.guard.Decide(*live.Reading)
		if err != nil || again.Answer != live.Answer || again.Reason != live.Reason || again.Locked != live.Locked {
			t.Errorf("%s, again: %+v, %v", name, again, err)
		}
	}
}

// TestFailureKeepsThatNobodyMayPassOverIt.
func TestFailureKeepsThatNobodyMayPassOverIt(t *testing.T) {
	guard := runbook.Guard{Name: "lamp"}
	for _, locked := range []bool{true, false} {
		raw, err := json.Marshal(runbook.Failure{Absence: runbook.AbsentTimedOut, Reason: "late", Locked: locked})
		var failure runbook.Failure
		if err := errors.Join(err, json.Unmarshal(raw, &failure)); err != nil {
			t.Fatal(err)
		}
		finding, err := guard.Decide(runbook.Reading{Failure: &failure})
		if err != nil || finding.Answer != runbook.AnswerUnknown || finding.Locked != locked {
			t.Errorf("%+v, %v", finding, err)
		}
	}
}
