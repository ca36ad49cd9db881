package replay_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/internal/apierr"
	"salve/internal/report/replay"
	"salve/journal"
	"salve/runbook"
)

// dim is the reading of a room's lamps.
type dim struct {
	Watts  int              `json:"watts"`
	Switch bool             `json:"switch"`
	Fuse   *runbook.Failure `json:"fuse"`
}

// lamp is a runbook that brightens a room: it acts when the room is darker than a threshold.
type lamp struct {
	Threshold int    `json:"threshold"`
	Room      string `json:"room"`
	// Window chooses what is read; no decision takes it.
	Window string `json:"window"`
	// Attended and Later put a run off where it is bright; Grid bounds what a room may have, where it is not nil.
	Attended bool  `json:"attended"`
	Later    bool  `json:"later"`
	Grid     *grid `json:"grid"`
	// world is what is read; broken is why it can't be.
	world  dim
	broken error
	// version, and decide in place of the guard's own, are those of another program.
	version string
	decide  func(dim) runbook.Finding
}

type grid struct {
	Most int    `json:"most"`
	Name string `json:"name"`
}

func (l lamp) dark(seen dim) runbook.Finding {
	bright := runbook.No("%s has %d watts, of %d", l.Room, seen.Watts, l.Threshold)
	switch {
	case l.decide != nil:
		return l.decide(seen)
	case seen.Fuse != nil:
		return runbook.Unknown(seen.Fuse)
	case l.Grid != nil && seen.Watts > l.Grid.Most:
		return runbook.Unknownf("overload")
	case seen.Watts >= l.Threshold && (l.Later || l.Attended):
		return bright.WithOutcome(runbook.Deferred)
	case seen.Watts >= l.Threshold:
		return bright
	}
	return runbook.Yes("%s has %d watts, of %d", l.Room, seen.Watts, l.Threshold)
}

func (l lamp) switchable(seen dim) runbook.Finding {
	if !seen.Switch {
		return runbook.No("%s has no switch", l.Room)
	}
	return runbook.Yes("%s has a switch", l.Room)
}

func (l lamp) book() runbook.Runbook {
	read := func(context.Context, runbook.Run) (dim, error) { return l.world, l.broken }
	done := func(context.Context, runbook.Run) error { return nil }
	version := l.version
	if version == "" {
		version = "1"
	}
	return runbook.Runbook{
		Name: "lamp-on", Version: version, Inputs: l, Budget: time.Hour, Posture: runbook.FailClosed,
		Target: runbook.Target{Kind: "room", ID: "room/" + l.Room, Name: l.Room},
		Guards: []runbook.Guard{
			runbook.Ask("dark", "is it dark?", read, l.dark),
			runbook.Ask("switchable", "is there a switch?", read, l.switchable),
		},
		Steps: []runbook.Step{{
			Name: "switch-on", Changes: "switch the lamp on", Guards: []string{"dark"}, Apply: done,
			Observe: func(context.Context, runbook.Run) runbook.Observation { return runbook.NotStarted("it is off") },
		}},
		Checks: []runbook.Guard{runbook.Ask("glows", "does it glow?", read, func(dim) runbook.Finding {
			return runbook.Yes("it glows")
		})},
	}
}

// recorded runs a lamp and gives the record.
func recorded(t *testing.T, l lamp) *journal.History {
	t.Helper()
	return recordedBook(t, l.book())
}

// recordedBook runs a runbook, whatever some of its guards say.
func recordedBook(t *testing.T, book runbook.Runbook, overridden ...string) *journal.History {
	t.Helper()
	store, overrides := journal.NewMemory(), map[string]string{}
	for _, guard := range overridden {
		overrides[guard] = "the test says so"
	}
	machine := &engine.Engine{Journal: store, Clock: clock.RealClock{}, Program: "v1 abc"}
	result, err := machine.Run(t.Context(), book, engine.Options{Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	record, err := journal.Load(t.Context(), store, result.Run)
	if err != nil {
		t.Fatal(err)
	}
	return record.History
}

// replayed replays a record with a lamp that has other code, or inputs.
func replayed(t *testing.T, history *journal.History, now lamp, settings ...string) replay.Result {
	t.Helper()
	options := replay.Options{Program: "v1 abc", Make: func(inputs json.RawMessage) (runbook.Runbook, error) {
		made := now
		return made.from(inputs)
	}}
	if now.version != "" {
		options.Program = "v2 def"
	}
	for _, text := range settings {
		setting, err := replay.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		options.Set = append(options.Set, setting)
	}
	result, err := replay.Run(history, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (l lamp) from(inputs json.RawMessage) (runbook.Runbook, error) {
	if err := json.Unmarshal(inputs, &l); err != nil {
		return runbook.Runbook{}, err
	}
	l.world, l.broken = dim{Watts: -1}, apierr.New(apierr.Terminal, "a replay has looked at the world")
	return l.book(), nil
}

func dark() lamp {
	return lamp{Threshold: 40, Room: "study", world: dim{Watts: 10, Switch: true}}
}

func TestReplay(t *testing.T) {
	bright, noSwitch, blown, denied := dark(), dark(), dark(), dark()
	bright.world.Watts, noSwitch.world.Switch = 60, false
	wired := dark()
	wired.Grid = &grid{Most: 50, Name: "street"}
	blown.world.Fuse = runbook.FailureOf(apierr.New(apierr.Throttled, "too many requests"))
	denied.broken = apierr.New(apierr.Denied, "forbidden")
	other := func(decide func(dim) runbook.Finding) lamp { return lamp{decide: decide, version: "2"} }
	never := func(dim) runbook.Finding { return runbook.No("never") }
	always := func(dim) runbook.Finding { return runbook.Yes("dark") }
	for name, row := range map[string]struct {
		recorded lamp
		now      lamp
		set      []string
		want     replay.Verdict
		reason   string
	}{
		"the same program decides the same":  {recorded: dark(), want: replay.Same},
		"a refusal is the same":              {recorded: bright, want: replay.Same},
		"what could not be read is the same": {recorded: denied, want: replay.Same},
		"a failure in a reading is the same": {recorded: blown, want: replay.Same},
		"with a lower threshold it is refused": {dark(), lamp{}, []string{"threshold=5"}, replay.Diverged,
			"guard dark, threshold: 40 → 5"},
		"with a higher threshold it would act": {bright, lamp{}, []string{"threshold=70"}, replay.Unreplayable, "switchable"},
		"an input that makes no difference":    {dark(), lamp{}, []string{"room=attic"}, replay.Same, ""},
		"of two inputs the one that matters": {dark(), lamp{}, []string{"room=attic", "threshold=5"},
			replay.Diverged, "threshold: 40 → 5"},
		"what nothing was read for is no default": {denied, lamp{}, []string{"threshold=70"}, replay.Unreplayable,
			"unreplayable(input threshold): no decision takes it"},
		"an input that chooses what is read": {dark(), lamp{}, []string{"window=1m"}, replay.Unreplayable,
			"unreplayable(input window): no decision takes it"},
		"one that does beside one that is taken": {dark(), lamp{}, []string{"window=1m", "room=attic"},
			replay.Unreplayable, "unreplayable(input window)"},
		"a divergence is told all the same": {dark(), lamp{}, []string{"window=1m", "threshold=5"}, replay.Diverged,
			"threshold: 40 → 5"},
		"another program refuses": {dark(), other(never), nil, replay.Diverged,
			"guard dark, answer: holds (study has 10 watts, of 40) → does-not-hold (never)"},
		"another program ends otherwise": {bright, other(func(dim) runbook.Finding {
			return runbook.No("later").WithOutcome(runbook.Deferred)
		}), nil, replay.Diverged, "outcome: none → deferred"},
		"the same program that decides otherwise": {dark(), lamp{decide: never}, nil, replay.Void, "this very program"},
		"the same program with other words": {dark(), lamp{decide: always}, nil, replay.Void,
			"reason: study has 10 watts, of 40 → dark"},
		"another program with other words":            {dark(), other(always), nil, replay.Same, ""},
		"another program that refuses in other words": {bright, other(never), nil, replay.Same, ""},
		"the same program that lets nobody pass over it": {bright, lamp{decide: func(dim) runbook.Finding {
			return runbook.No("study has 60 watts, of 40").NotOverridable()
		}}, nil, replay.Void, "notOverridable: false → true"},
		"a setting of any case": {dark(), lamp{}, []string{"THRESHOLD=5"}, replay.Diverged, "threshold: 40 → 5"},
		"a setting below another": {wired, lamp{}, []string{"grid.most=5"}, replay.Diverged,
			"guard dark, grid.most: 50 → 5"},
		"a text that is a number": {dark(), lamp{}, []string{"room=7"}, replay.Same, ""},
		"a text in quotes":        {dark(), lamp{}, []string{`room="the attic"`}, replay.Same, ""},
		"the first of two that would each be enough": {bright, lamp{}, []string{"later=true", "attended=true"},
			replay.Diverged, "guard dark, attended: false → true"},
		"not the one that changes nothing": {bright, lamp{}, []string{`grid={"most":100}`, "later=true"},
			replay.Diverged, "guard dark, later: false → true"},
		"not the one that changes something else": {bright, lamp{}, []string{"later=true", "threshold=70"},
			replay.Unreplayable, "switchable"},
	} {
		t.Run(name, func(t *testing.T) {
			result := replayed(t, recorded(t, row.recorded), row.now, row.set...)
			if result.Verdict != row.want || !strings.Contains(result.Reason, row.reason) {
				t.Errorf("%s: %s, want %s: %s", result.Verdict, result.Reason, row.want, row.reason)
			}
			if result.Checked != (row.now.version == "") {
				t.Errorf("checked against itself: %v", result.Checked)
			}
		})
	}
}

// TestAfterADivergenceAllIsConditional: what the world did then, it did after another decision.
func TestAfterADivergenceAllIsConditional(t *testing.T) {
	result := replayed(t, recorded(t, dark()), lamp{}, "threshold=5")
	if len(result.Decisions) < 3 {
		t.Fatalf("%d decisions", len(result.Decisions))
	}
	if !strings.HasPrefix(result.Reason, "entry 2, start: ") {
		t.Errorf("the first is not the reason: %s", result.Reason)
	}
	for i, decision := range result.Decisions {
		if decision.Conditional != (i > 0) {
			t.Errorf("decision %d, %s: conditional %v", i, decision.For, decision.Conditional)
		}
	}
}

// TestWhatARecordLacksIsNoDefault: a guard that takes more than its version then had is not asked.
func TestWhatARecordLacksIsNoDefault(t *testing.T) {
	history := recorded(t, dark())
	type more struct {
		dim
		Colour string `json:"colour"`
	}
	for name, row := range map[string]struct {
		guard runbook.Guard
		want  string
	}{
		"a field that is not there": {runbook.Ask("dark", "?", func(context.Context, runbook.Run) (more, error) {
			return more{}, nil
		}, func(more) runbook.Finding { return runbook.Yes("dark") }), "colour"},
		"a guard that was not there": {runbook.Ask("new", "?", func(context.Context, runbook.Run) (dim, error) {
			return dim{}, nil
		}, func(dim) runbook.Finding { return runbook.Yes("new") }), "it was not asked then"},
		"a guard that asks the world": {runbook.Guard{
			Name:     "dark",
			Evaluate: func(context.Context, runbook.Run) runbook.Finding { return runbook.Yes("dark") },
		}, "the world itself"},
		"a reading of another form": {runbook.Ask("dark", "?", func(context.Context, runbook.Run) ([]string, error) {
			return nil, nil
		}, func([]string) runbook.Finding { return runbook.Yes("dark") }), "another form"},
		"a guard that panics": {runbook.Ask("dark", "?", func(context.Context, runbook.Run) (dim, error) {
			return dim{}, nil
		}, func(dim) runbook.Finding { panic("no world") }), "the guard panics: no world"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := replay.Run(history, replay.Options{Make: func(json.RawMessage) (runbook.Runbook, error) {
				book := dark().book()
				book.Version, book.Guards[0], book.Steps[0].Guards = "2", row.guard, nil
				return book, nil
			}})
			if err != nil || result.Verdict != replay.Unreplayable || !strings.Contains(result.Reason, row.want) {
				t.Errorf("%v: %s: %s", err, result.Verdict, result.Reason)
			}
		})
	}
}

// TestInputsThatThereAreNot are refused, with what there is.
func TestInputsThatThereAreNot(t *testing.T) {
	history := recorded(t, dark())
	_, err := replay.Run(history, replay.Options{
		Make: func(inputs json.RawMessage) (runbook.Runbook, error) { return lamp{}.from(inputs) },
		Set:  []replay.Setting{{Field: "treshold", Value: "5"}},
	})
	if err == nil || !strings.Contains(err.Error(), `did you mean "threshold"?`) {
		t.Errorf("%v", err)
	}
	for _, text := range []string{"threshold", "=5", ""} {
		if _, err := replay.ParseSetting(text); err == nil {
			t.Errorf("%q is a setting", text)
		}
	}
}

// TestVerify is the self-check alone.
func TestVerify(t *testing.T) {
	history := recorded(t, dark())
	if err := replay.Verify(history, dark().book()); err != nil {
		t.Error(err)
	}
	impure := dark()
	impure.decide = func(dim) runbook.Finding { return runbook.Yes("it is %s", time.Now()) }
	if err := replay.Verify(history, impure.book()); err == nil || !strings.Contains(err.Error(), "reading alone") {
		t.Errorf("a guard that asks the clock: %v", err)
	}
	bare := dark().book()
	bare.Guards[1] = runbook.Guard{Name: "switchable", Evaluate: bare.Guards[1].Evaluate}
	if err := replay.Verify(history, bare); err == nil || !strings.Contains(err.Error(), "unreplayable(switchable") {
		t.Errorf("a guard that keeps no reading: %v", err)
	}
}

// TestInputThatMakesAnotherDifferenceIsNotTheReason: alone it would have put the run off, and the guard holds now.
func TestInputThatMakesAnotherDifferenceIsNotTheReason(t *testing.T) {
	bright := dark()
	bright.world.Watts = 60
	result := replayed(t, recorded(t, bright), lamp{}, "later=true", "threshold=70")
	guard := result.Decisions[0].Guards[0]
	if guard.State != replay.Different || guard.Because == nil || guard.Because.Field != "threshold" {
		t.Errorf("%+v", guard.Because)
	}
}
