package runbooktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/runbook"
)

// SweepReadings takes each field out of each reading of a guard, and changes each. Without a field the guard must
// refuse to decide and name it; with another value of it the guard must answer otherwise in at least one reading, or
// the field is listed in unused, with the reason why it is read at all. Paths are such as "pool.tags[*]" and
// "nodes[].name"; what stands below an unused path is unused too.
func SweepReadings(t testing.TB, guard runbook.Guard, readings []json.RawMessage, unused map[string]string) {
	t.Helper()
	sweep := &fieldSweep{t: t, guard: guard, flips: map[string]bool{}, unused: unused}
	if !guard.Recorded() || len(readings) == 0 {
		t.Fatalf("guard %s: recorded %v, %d readings", guard.Name, guard.Recorded(), len(readings))
	}
	for i, reading := range readings {
		finding, err := guard.Decide(runbook.Reading{Value: reading})
		if err != nil {
			t.Fatalf("guard %s, reading %d: %v", guard.Name, i, err)
		}
		var value any
		if err := json.Unmarshal(reading, &value); err != nil {
			t.Fatal(err)
		}
		sweep.root, sweep.before = value, verdictOf(finding)
		sweep.value(value, "", func(other any) any { return other })
	}
	sweep.report()
}

// fieldSweep is at work on one guard. root is the reading, before what it decides on it.
type fieldSweep struct {
	t      testing.TB
	guard  runbook.Guard
	root   any
	before string
	flips  map[string]bool
	unused map[string]string
}

// verdictOf is what of a finding a run rests on, and what an operator reads.
func verdictOf(finding runbook.Finding) string {
	return fmt.Sprintf("%s %s %t %s", finding.Answer, finding.Outcome, finding.Locked, finding.Reason)
}

// value visits a value; with puts another one in its place and gives the whole reading.
func (s *fieldSweep) value(value any, path string, with func(any) any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			put := func(other any, there bool) any {
				changed := maps.Clone(value)
				if changed[key] = other; !there {
					delete(changed, key)
				}
				return with(changed)
			}
			s.removed(at, put(nil, false))
			s.changed(at, value[key], func(other any) any { return put(other, true) })
		}
	case []any:
		for i := range value {
			s.changed(path+"[]", value[i], func(other any) any {
				changed := slices.Clone(value)
				changed[i] = other
				return with(changed)
			})
		}
	}
}

func (s *fieldSweep) changed(path string, value any, with func(any) any) {
	if _, seen := s.flips[path]; !seen {
		s.flips[path] = false
	}
	for _, other := range others(value) {
		s.flips[path] = s.flips[path] || s.differs(with(other))
	}
	s.value(value, path, with)
}

// others are values that might stand in a value's place.
func others(value any) []any {
	switch value := value.(type) {
	case nil:
		return []any{true, 1.0, "x", []any{}, []any{"x"}, map[string]any{}, map[string]any{"reason": "x", "class": "denied",
			"absence": "denied"}}
	case bool:
		return []any{!value}
	case float64:
		return []any{0.0, value + 1, value - 1, -value, value + 1000}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			var times []any
			for _, by := range []time.Duration{time.Minute, time.Hour, 1e4 * time.Hour} {
				times = append(times, at.Add(-by).Format(time.RFC3339Nano))
				times = append(times, at.Add(by).Format(time.RFC3339Nano))
			}
			return append(times, "0001-01-01T00:00:00Z")
		}
		return []any{"", value + "x", "Succeeded", "Failed", "Updating"}
	case []any:
		more := []any{[]any{}, nil}
		if len(value) > 0 {
			more = append(more, append(slices.Clone(value), value[0]), value[1:])
		}
		return append(more, []any{"x"}, []any{map[string]any{}})
	case map[string]any:
		return []any{nil, map[string]any{}}
	}
	return nil
}

// differs tells whether the guard answers otherwise; a value that can't stand there tells nothing.
func (s *fieldSweep) differs(reading any) bool {
	raw, err := json.Marshal(reading)
	if err != nil {
		return false
	}
	finding, err := s.decide(raw)
	var lacking *runbook.UnreplayableError
	return err == nil && verdictOf(finding) != s.before || errors.As(err, &lacking) && lacking.Unread
}

func (s *fieldSweep) decide(raw json.RawMessage) (finding runbook.Finding, err error) {
	defer func() {
		if value := recover(); value != nil { // such a value never comes from reading
			err = fmt.Errorf("it panics: %v", value)
		}
	}()
	return s.guard.Decide(runbook.Reading{Value: raw})
}

// removed checks that the guard names what it lacks. A field that is left out when it is empty, and a map's entry,
// may be absent: then the guard decides on its absence, and changed asks about that.
func (s *fieldSweep) removed(path string, reading any) {
	raw, err := json.Marshal(reading)
	if err != nil {
		s.t.Fatal(err)
	}
	finding, err := s.decide(raw)
	var lacking *runbook.UnreplayableError
	switch {
	case err == nil:
		s.flips[path] = s.flips[path] || verdictOf(finding) != s.before
	case errors.As(err, &lacking) && lacking.Unread:
		s.flips[path] = true
	case lacking == nil:
		s.t.Errorf("guard %s without %s: %v", s.guard.Name, path, err)
	default:
		last := path[strings.LastIndex(path, ".")+1:]
		if !strings.HasSuffix(lacking.What, last) {
			s.t.Errorf("guard %s without %s lacks %q", s.guard.Name, path, lacking.What)
		}
	}
}

func (s *fieldSweep) report() {
	s.t.Helper()
	listed := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(s.flips)) {
		name, known := s.listed(path)
		listed[name] = true
		below := slices.ContainsFunc(slices.Collect(maps.Keys(s.flips)), func(other string) bool {
			return s.flips[other] && (strings.HasPrefix(other, path+".") || strings.HasPrefix(other, path+"["))
		})
		if !s.flips[path] && !known && !below {
			s.t.Errorf("guard %s: no value of %s makes a difference: list it as unused, or don't read it", s.guard.Name, path)
		}
		if s.flips[path] && known && name == path {
			s.t.Errorf("guard %s: %s is listed as unused and makes a difference", s.guard.Name, path)
		}
	}
	for path := range s.unused {
		if !listed[path] {
			s.t.Errorf("guard %s: no reading has the unused %s", s.guard.Name, path)
		}
	}
}

// listed finds the unused path that a path is, or is below.
func (s *fieldSweep) listed(path string) (string, bool) {
	for name := range s.unused {
		if path == name || strings.HasPrefix(path, name+".") || strings.HasPrefix(path, name+"[") {
			return name, true
		}
	}
	return "", false
}
