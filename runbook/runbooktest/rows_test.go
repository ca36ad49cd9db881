package runbooktest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/runbook"
	"salve/runbook/runbooktest"
)

type lamp struct {
	Name  string    `json:"name"`
	Watts int       `json:"watts"`
	On    bool      `json:"on"`
	Rooms []string  `json:"rooms"`
	Seen  time.Time `json:"seen"`
	Bulb  string    `json:"bulb"`
}

func (lamp) read(context.Context, runbook.Run) (lamp, error) { return lamp{}, nil }

// glows decides by On, Watts and Rooms. It says the name, shows when it was seen, and leaves the bulb alone.
func glows(seen lamp) runbook.Finding {
	finding := runbook.No("%s is dark", seen.Name)
	if seen.On && seen.Watts > 40 && len(seen.Rooms) > 0 {
		finding = runbook.Yes("it glows")
	}
	return finding.WithEvidence(runbook.NewEvidence("lamp", "", seen.Seen, nil))
}

func lampBook(guard runbook.Guard) runbook.Runbook {
	return runbook.Runbook{Guards: []runbook.Guard{guard}}
}

// complaints is a test that collects what it is told.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Helper()           {}
func (c *complaints) Error(args ...any) { c.said = append(c.said, fmt.Sprint(args...)) }
func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

// expect checks that a sweep says one thing and nothing else; empty is nothing at all.
func expect(t *testing.T, name, want string, rows runbooktest.Rows, books ...runbook.Runbook) {
	t.Helper()
	told := &complaints{TB: t}
	runbooktest.SweepGuards(told, rows, books...)
	others := slices.DeleteFunc(told.said, func(said string) bool { return want != "" && strings.Contains(said, want) })
	if found := len(others) < len(told.said); found != (want != "") || len(others) > 0 {
		t.Errorf("%s: said %q, want %q", name, told.said, want)
	}
}

const (
	lampOn  = `{"name":"desk","watts":60,"on":true,"rooms":["study"],"seen":"2026-11-24T12:00:00Z","bulb":"E27"}`
	lampOff = `{"name":"desk","watts":60,"on":false,"rooms":["study"],"seen":"2026-11-24T12:00:00Z","bulb":"E27"}`
)

// row is the row of the guard as it has to be, with a change.
func row(change func(*runbooktest.Row)) runbooktest.Rows {
	row := runbooktest.Row{
		Readings: []string{lampOn, lampOff}, Said: []string{"name"}, Evidence: []string{"seen"},
		Answers: []runbook.Answer{runbook.AnswerHolds, runbook.AnswerDoesNotHold},
		Unused:  map[string]string{"bulb": "another guard's", "rooms[]": "only counted"},
	}
	change(&row)
	return runbooktest.Rows{"glows": row}
}

// TestSweepKnowsWhatEachFieldChanges: the decision, what is said, the evidence, or nothing.
func TestSweepKnowsWhatEachFieldChanges(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*runbooktest.Row)
		want   string
	}{
		"all as it is": {func(*runbooktest.Row) {}, ""},
		"said, and in no list": {func(r *runbooktest.Row) { r.Said = nil },
			"name decides nothing: what is said is the most that it changes"},
		"evidence, and in no list": {func(r *runbooktest.Row) { r.Evidence = nil },
			"seen decides nothing: evidence is the most that it changes"},
		"unused, and in no list": {func(r *runbooktest.Row) { delete(r.Unused, "bulb") },
			"bulb decides nothing: nothing is the most that it changes"},
		"an element that is only counted, and in no list": {func(r *runbooktest.Row) { delete(r.Unused, "rooms[]") },
			"rooms[] decides nothing"},
		"listed as said, and decides": {func(r *runbooktest.Row) { r.Said = append(r.Said, "on") },
			"on is listed, by on, as changing what is said, and changes the decision"},
		"listed as evidence, and said": {func(r *runbooktest.Row) { r.Said, r.Evidence = nil, []string{"name", "seen"} },
			"name is listed, by name, as changing evidence, and changes what is said"},
		"listed as unused, and evidence": {func(r *runbooktest.Row) { r.Evidence, r.Unused["seen"] = nil, "why" },
			"seen is listed, by seen, as changing nothing, and changes evidence"},
		"listed as said, and unused": {func(r *runbooktest.Row) {
			r.Said = append(r.Said, "bulb")
			delete(r.Unused, "bulb")
		}, "bulb is listed as changing what is said, and is not there, or changes less"},
		"listed, and in no reading": {func(r *runbooktest.Row) { r.Unused["switch"] = "why" },
			"switch is listed as changing nothing, and is not there"},
		"unused without a reason": {func(r *runbooktest.Row) { r.Unused["bulb"] = "" }, "nothing says why it is read"},
		"listed twice":            {func(r *runbooktest.Row) { r.Said = append(r.Said, "name") }, "a field is listed twice"},
		"below what is unused, and decides": {func(r *runbooktest.Row) {
			delete(r.Unused, "rooms[]")
			r.Unused["rooms"] = "why"
		}, "rooms is listed, by rooms, as changing nothing, and changes the decision"},
		"an answer that no reading has it give": {func(r *runbooktest.Row) {
			r.Answers = append(r.Answers, runbook.AnswerUnknown)
		}, "no reading has it answer unknown"},
		"an answer that is not listed": {func(r *runbooktest.Row) { r.Answers = r.Answers[:1] },
			"answers does-not-hold, which its row does not have"},
		"no readings":             {func(r *runbooktest.Row) { r.Readings = nil }, "no row with readings"},
		"a reading of no JSON":    {func(r *runbooktest.Row) { r.Readings = []string{`{`} }, "reading 0"},
		"a reading without field": {func(r *runbooktest.Row) { r.Readings = []string{`{}`} }, "requires name"},
	} {
		expect(t, name, test.want, row(test.change), lampBook(runbook.Ask("glows", "?", lamp{}.read, glows)))
	}
}

// TestSweepIsOfAllGuards: those of steps and their rollbacks too, each with a row, and no row without a guard.
func TestSweepIsOfAllGuards(t *testing.T) {
	ask := func(name string) []runbook.Guard {
		return []runbook.Guard{runbook.Ask(name, "?", func(context.Context, runbook.Run) (bool, error) { return true, nil },
			func(seen bool) runbook.Finding {
				if seen {
					return runbook.Yes("so")
				}
				return runbook.No("not so")
			})}
	}
	back := runbook.Step{Name: "back", Preconditions: ask("before-back")}
	book := runbook.Runbook{
		Guards: ask("guard"), Checks: ask("check"), Preflight: []runbook.Step{{Name: "a", Preconditions: ask("before-a")}},
		Steps: []runbook.Step{{Name: "b", Preconditions: ask("before-b"), Rollback: &back}},
	}
	other := runbook.Runbook{Guards: ask("of-another")}
	all := func() runbooktest.Rows {
		rows := runbooktest.Rows{}
		for _, name := range []string{"guard", "check", "before-a", "before-b", "before-back", "of-another"} {
			rows[name] = runbooktest.Row{Readings: []string{"true"}}
		}
		return rows
	}
	expect(t, "all", "", all(), book, other)
	for name := range all() {
		rows := all()
		delete(rows, name)
		expect(t, "without "+name, "guard "+name+" has no row", rows, book, other)
	}
	expect(t, "another", "guard of-another has a row, and no runbook has the guard", all(), book)
	bare := runbooktest.Rows{"guard": all()["guard"]}
	expect(t, "one that decides while it reads", "decides while it reads", bare, lampBook(runbook.Guard{Name: "guard"}))
}

// TestSweepTriesOneReadingsValuesInAnother: what a field can be, the readings show.
func TestSweepTriesOneReadingsValuesInAnother(t *testing.T) {
	guard := runbook.Ask("ready", "?", func(context.Context, runbook.Run) (string, error) { return "", nil },
		func(state string) runbook.Finding {
			if state == "Ready" {
				return runbook.Yes("ready")
			}
			return runbook.No("not ready")
		})
	rows := func(readings ...string) runbooktest.Rows { return runbooktest.Rows{"ready": {Readings: readings}} }
	expect(t, "both", "", rows(`"Broken"`, `"Ready"`), lampBook(guard))
	expect(t, "one", "reading decides nothing", rows(`"Broken"`), lampBook(guard))
}

// TestGuardsOfOneNameShareARow: it is enough that one of them decides by a field.
func TestGuardsOfOneNameShareARow(t *testing.T) {
	of := func(wanted string) runbook.Guard {
		return runbook.Ask("glows", "?", lamp{}.read, func(seen lamp) runbook.Finding {
			if wanted == "bulb" && seen.Bulb == "" {
				return runbook.Unknownf("no bulb")
			}
			return glows(seen)
		})
	}
	decides := row(func(r *runbooktest.Row) { delete(r.Unused, "bulb") })
	expect(t, "neither", "bulb decides nothing", decides, lampBook(of("")), lampBook(of("")))
	expect(t, "one", "", decides, lampBook(of("")), lampBook(of("bulb")))
}

// asked is a guard that answers whether a reading is so.
func asked[T any](is func(T) bool) runbook.Runbook {
	read := func(context.Context, runbook.Run) (seen T, _ error) { return seen, nil }
	return lampBook(runbook.Ask("on", "?", read, func(seen T) runbook.Finding {
		if is(seen) {
			return runbook.Yes("on")
		}
		return runbook.No("off")
	}))
}

// whole is a value that reads its own JSON, of which no part may be missing.
type whole struct{ On bool }

func (w whole) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"on":%t}`, w.On), nil }
func (w *whole) UnmarshalJSON(raw []byte) error {
	if !strings.Contains(string(raw), "on") {
		return errors.New("it lacks something")
	}
	w.On = strings.Contains(string(raw), "true")
	return nil
}

// TestSweepTakesFieldsOut: a guard refuses without one, and names it. What is left out when it is empty, and what the
// decision says that it lacks, may be absent.
func TestSweepTakesFieldsOut(t *testing.T) {
	on := func(reading string) runbooktest.Rows { return runbooktest.Rows{"on": {Readings: []string{reading}}} }
	type loose struct {
		On bool `json:"on,omitempty"`
	}
	expect(t, "left out when empty", "", on(`{"on":true}`), asked(func(seen loose) bool { return seen.On }))
	expect(t, "without its name", `guard on without on lacks "a reading of another form: it lacks something"`,
		on(`{"on":true}`), asked(func(seen whole) bool { return seen.On }))
	expect(t, "a decision that can't do without", "guard on without desk: it panics", on(`{"desk":[true]}`),
		asked(func(seen map[string][]bool) bool { return seen["desk"][0] }))
	unread := runbook.Ask("on", "?", func(context.Context, runbook.Run) (bool, error) { return true, nil },
		func(seen bool) runbook.Finding {
			if seen {
				return runbook.Yes("on")
			}
			return runbook.Unread("the other lamp")
		})
	expect(t, "what was not read", "", on(`true`), lampBook(unread))
}
