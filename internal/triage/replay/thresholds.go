package replay

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/triage"
)

// Setting is a threshold that is asked about instead of this program's.
type Setting struct{ Name, Value string }

// Set gives thresholds with other values: numbers, with or without their unit; a share is 0.2 or 20 %.
func Set(t triage.Thresholds, settings []Setting) (triage.Thresholds, error) {
	for _, setting := range settings {
		name, err := nameOf(t, setting.Name)
		if err != nil {
			return t, err
		}
		value, err := parse(name, setting.Value)
		if err != nil {
			return t, err
		}
		if t, err = t.With(name.Name, value); err != nil {
			return t, err
		}
	}
	return t, nil
}

func nameOf(t triage.Thresholds, text string) (triage.Named, error) {
	var names []string
	for _, n := range t.Named() {
		if strings.EqualFold(n.Name, text) {
			return n, nil
		}
		names = append(names, n.Name)
	}
	hint := diagnostic.DidYouMean(strings.ToLower(text), names)
	if hint == "" {
		hint = "there are " + strings.Join(names, ", ")
	}
	return triage.Named{}, fmt.Errorf("unknown threshold %q: %s", text, hint)
}

func parse(n triage.Named, text string) (float64, error) {
	number, scale := strings.TrimSpace(text), 1.0
	if rest, ok := strings.CutSuffix(number, string(n.Unit)); ok && n.Unit != triage.Number {
		number = strings.TrimSpace(rest)
		if n.Unit == triage.Share {
			scale = 100
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("threshold %s of %q: want a number, for example %s", n.Name, text, n.Unit.Print(n.Value))
	}
	return value / scale, nil
}

// Change is a threshold then and now, as it is printed.
type Change struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// recordedThresholds are those of a record. Strange are names that this program doesn't have, or that the record
// doesn't, and values that make no sense here: with them nothing can be checked.
func recordedThresholds(values map[string]float64) (t triage.Thresholds, strange []string) {
	t = triage.Default()
	known := map[string]bool{}
	for _, n := range t.Named() {
		known[n.Name] = true
		value, there := values[n.Name]
		with, err := t.With(n.Name, value)
		if !there || err != nil {
			strange = append(strange, n.Name)
			continue
		}
		t = with
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			strange = append(strange, name)
		}
	}
	return t, strange
}

// changes lists thresholds that are not as recorded: those that were set, and those that are others in this program.
func changes(values map[string]float64, now triage.Thresholds) []Change {
	var list []Change
	known := map[string]bool{}
	for _, n := range now.Named() {
		known[n.Name] = true
		switch old, there := values[n.Name]; {
		case !there:
			list = append(list, Change{n.Name, "absent", n.Unit.Print(n.Value)})
		case old != n.Value:
			list = append(list, Change{n.Name, n.Unit.Print(old), n.Unit.Print(n.Value)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			list = append(list, Change{name, fmt.Sprintf("%g", values[name]), "absent"})
		}
	}
	return list
}
