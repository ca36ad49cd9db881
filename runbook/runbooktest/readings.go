package runbooktest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/runbook"
)

// whole is the path of a reading that has no fields.
const whole = "reading"

// difference is what another value of a field changes at most.
type difference int

const (
	nothing difference = iota
	// evidence: the record shows something else, and nothing else follows.
	evidence
	// said: the operator is told something else, and the run goes the same way.
	said
	decision
)

func (d difference) String() string {
	return [...]string{"nothing", "evidence", "what is said", "the decision"}[d]
}

// fieldSweep is at work on the guards of one name.
type fieldSweep struct {
	t   testing.TB
	row Row
	// made is the greatest difference that each field made.
	made map[string]difference
	// values are those that a field has in the readings: each is tried in the place of the others.
	values map[string][]any
	// guard is the one at work, before what it finds on the reading that is changed.
	guard  runbook.Guard
	before runbook.Finding
}

// collect takes the values of a reading's fields.
func (s *fieldSweep) collect(value any, path string) {
	same := func(other any) bool { return reflect.DeepEqual(value, other) }
	if at := cmp.Or(path, whole); !slices.ContainsFunc(s.values[at], same) {
		s.values[at] = append(s.values[at], value)
	}
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			s.collect(member, strings.TrimPrefix(path+"."+key, "."))
		}
	case []any:
		for _, element := range value {
			s.collect(element, path+"[]")
		}
	}
}

// reading sweeps one reading, on which a guard finds what is given.
func (s *fieldSweep) reading(guard runbook.Guard, finding runbook.Finding, value any) {
	s.guard, s.before = guard, finding
	itself := func(other any) any { return other }
	if _, isObject := value.(map[string]any); !isObject { // that a reading has no fields at all is no difference
		s.tried(whole, value, itself)
	}
	s.value(value, "", itself)
}

// differs compares a finding with the one on the reading as it is.
func (s *fieldSweep) differs(now runbook.Finding) difference {
	then := s.before
	switch {
	case then.Answer != now.Answer, then.Outcome != now.Outcome, then.Locked != now.Locked:
		return decision
	case then.Reason != now.Reason:
		return said
	}
	thenRaw, thenErr := json.Marshal(then.Evidence)
	nowRaw, nowErr := json.Marshal(now.Evidence)
	if errors.Join(thenErr, nowErr) == nil && bytes.Equal(thenRaw, nowRaw) {
		return nothing
	}
	return evidence
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
	s.tried(path, value, with)
	s.value(value, path, with)
}

func (s *fieldSweep) tried(path string, value any, with func(any) any) {
	s.made[path] = max(s.made[path], nothing) // it is there
	for _, other := range append(others(value), s.values[path]...) {
		if s.made[path] == decision {
			return
		}
		s.made[path] = max(s.made[path], s.try(with(other)))
	}
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
		return []any{"", value + "x"}
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

// try says what another reading makes of the decision; one that can't be makes nothing.
func (s *fieldSweep) try(reading any) difference {
	raw, err := json.Marshal(reading)
	if err != nil {
		return nothing
	}
	finding, err := s.decide(raw)
	var lacking *runbook.UnreplayableError
	switch {
	case err == nil:
		return s.differs(finding)
	case errors.As(err, &lacking) && lacking.Unread:
		return decision
	}
	return nothing
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
		s.made[path] = max(s.made[path], s.differs(finding))
	case errors.As(err, &lacking) && lacking.Unread:
		s.made[path] = decision
	case lacking == nil:
		s.t.Errorf("guard %s without %s: %v", s.guard.Name, path, err)
	default:
		last := path[strings.LastIndex(path, ".")+1:]
		if !strings.HasSuffix(lacking.What, last) {
			s.t.Errorf("guard %s without %s lacks %q", s.guard.Name, path, lacking.What)
		}
	}
}

// report says what the lists of the row lack, and what they have too much.
func (s *fieldSweep) report(name string) {
	s.t.Helper()
	lists := s.row.lists()
	needed := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(s.made)) {
		made := max(s.made[path], s.below(path))
		entry, as := nearest(lists, path)
		switch {
		case entry == "" && made != decision:
			s.t.Errorf("guard %s: %s decides nothing: %s is the most that it changes, and no list has it", name, path, made)
		case entry != "" && made > as:
			s.t.Errorf("guard %s: %s is listed, by %s, as changing %s, and changes %s", name, path, entry, as, made)
		}
		needed[entry] = needed[entry] || made >= as
	}
	for _, entry := range slices.Sorted(maps.Keys(lists)) {
		if !needed[entry] {
			s.t.Errorf("guard %s: %s is listed as changing %s, and is not there, or changes less", name, entry, lists[entry])
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(s.row.Unused)) {
		if s.row.Unused[entry] == "" {
			s.t.Errorf("guard %s: %s is unused, and nothing says why it is read", name, entry)
		}
	}
	if all := len(s.row.Said) + len(s.row.Evidence) + len(s.row.Unused); all != len(lists) {
		s.t.Errorf("guard %s: a field is listed twice", name)
	}
}

// below is the greatest difference of what stands below a path.
func (s *fieldSweep) below(path string) difference {
	made := nothing
	for other := range s.made {
		if isBelow(other, path) {
			made = max(made, s.made[other])
		}
	}
	return made
}

func isBelow(path, above string) bool {
	return above == whole && path != whole || strings.HasPrefix(path, above+".") || strings.HasPrefix(path, above+"[")
}

// lists are the fields that decide nothing, with the most that they change.
func (r Row) lists() map[string]difference {
	lists := map[string]difference{}
	for _, path := range r.Said {
		lists[path] = said
	}
	for _, path := range r.Evidence {
		lists[path] = evidence
	}
	for path := range r.Unused {
		lists[path] = nothing
	}
	return lists
}

// nearest is the entry that a path is, or else the nearest that it stands below; empty when there is none.
func nearest(lists map[string]difference, path string) (entry string, as difference) {
	for name, changes := range lists {
		if (path == name || isBelow(path, name)) && len(name) > len(entry) {
			entry, as = name, changes
		}
	}
	return entry, as
}
