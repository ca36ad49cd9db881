package replay_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"salve/internal/report/replay"
	"salve/runbook"
)

// TestInputsThatDiffer are listed, whether they were set, or have another default now.
func TestInputsThatDiffer(t *testing.T) {
	for name, row := range map[string]struct {
		now  any
		want []string
	}{
		"none": {json.RawMessage(`{"b":1,"a":[{"y":2,"x":1.0}],"c":{"d":true}}`), nil},
		"a value": {map[string]any{
			"a": []any{map[string]int{"x": 1, "y": 2}}, "b": 2, "c": map[string]bool{"d": true},
		}, []string{"b: 1 → 2"}},
		"below one":    {json.RawMessage(`{"a":[{"x":1,"y":2}],"b":1,"c":{"d":false}}`), []string{"c.d: true → false"}},
		"in a list":    {json.RawMessage(`{"a":[],"b":1,"c":{"d":true}}`), []string{`a: [{"x":1,"y":2}] → []`}},
		"a new one":    {json.RawMessage(`{"a":[{"x":1,"y":2}],"b":1,"c":{"d":true},"e":5}`), []string{"e: absent → 5"}},
		"one less":     {json.RawMessage(`{"a":[{"x":1,"y":2}],"c":{"d":true}}`), []string{"b: 1 → absent"}},
		"another form": {json.RawMessage(`{"a":[{"x":1,"y":2}],"b":1,"c":null}`), []string{`c: {"d":true} → null`}},
	} {
		book := dark().book()
		book.Inputs = json.RawMessage(`{"a":[{"x":1,"y":2}],"b":1,"c":{"d":true}}`)
		history := recordedBook(t, book)
		result, err := replay.Run(history, replay.Options{Make: func(json.RawMessage) (runbook.Runbook, error) {
			again := dark().book()
			again.Inputs = row.now
			return again, nil
		}})
		var got []string
		for _, change := range result.Inputs {
			got = append(got, change.Field+": "+change.Old+" → "+change.New)
		}
		if err != nil || !slices.Equal(got, row.want) || result.Verdict != replay.Same {
			t.Errorf("%s: %v: %q", name, err, got)
		}
	}
}

// TestSettingIsReadInTheFormOfWhatItReplaces: a text needs no quotes where a text stood, and may have them.
func TestSettingIsReadInTheFormOfWhatItReplaces(t *testing.T) {
	for setting, want := range map[string]string{
		"room=attic": `"attic"`, `room="the attic"`: `"the attic"`, "room=7": `"7"`, `room="a`: `"\"a"`,
		"threshold=41": "41", `grid={"most":100,"name":"a"}`: `{"most":100,"name":"a"}`,
	} {
		result := replayed(t, recorded(t, dark()), lamp{}, setting)
		if len(result.Inputs) != 1 || result.Inputs[0].New != want {
			t.Errorf("%s: %+v", setting, result.Inputs)
		}
	}
}

// TestInputThatMakesNoSenseAloneIsNotTheReason, nor the end of the search for it.
func TestInputThatMakesNoSenseAloneIsNotTheReason(t *testing.T) {
	bright := dark()
	bright.world.Watts = 60
	options := replay.Options{
		Set: []replay.Setting{{Field: "attended", Value: "true"}, {Field: "later", Value: "true"}},
		Make: func(inputs json.RawMessage) (runbook.Runbook, error) {
			var in lamp
			if err := json.Unmarshal(inputs, &in); err != nil {
				return runbook.Runbook{}, err
			}
			if in.Attended && !in.Later {
				return runbook.Runbook{}, errors.New("attended now")
			}
			return lamp{}.from(inputs)
		},
	}
	result, err := replay.Run(recorded(t, bright), options)
	if err != nil || !strings.Contains(result.Reason, "guard dark, later: false → true") {
		t.Errorf("%v: %s", err, result.Reason)
	}
}

// TestSettingsThatMakeNoSense are refused.
func TestSettingsThatMakeNoSense(t *testing.T) {
	history := recorded(t, dark())
	for setting, want := range map[string]string{
		"treshold=5":       `unknown input "treshold"`,
		"threshold.low=5":  "setting threshold.low: the inputs have no such level",
		"grid.most=5":      `unknown input "grid.most"`,
		"threshold=bright": "making runbook \"lamp-on\" with other inputs",
	} {
		field, value, _ := strings.Cut(setting, "=")
		_, err := replay.Run(history, replay.Options{
			Make: func(inputs json.RawMessage) (runbook.Runbook, error) { return lamp{}.from(inputs) },
			Set:  []replay.Setting{{Field: field, Value: value}},
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
