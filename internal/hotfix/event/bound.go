package event

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"salve/internal/hotfix"
)

// Largest bounds an event, in bytes; ordinary ones have some hundred.
const Largest = 8 << 10

// The bounds of an event's parts, in bytes, as people read them.
const (
	largestProblem = 2 << 10
	largestText    = 512
	largestWarning = 300
	mostWarnings   = 8
	mostParts      = 16
)

// encode gives an event of at most Largest bytes. What has to go, and says that it
// went, are long texts first, then warnings, and then what is not needed to know how
// the command ended.
func encode(e Event) ([]byte, error) {
	e = e.bounded(mostWarnings, largestProblem)
	for _, smaller := range []func(){
		func() {},
		func() { e = e.bounded(1, largestText) },
		func() { e.Decision, e.Milliseconds = nil, map[string]float64{"all": e.Milliseconds["all"]} },
		func() { e.Problem, e.Scripts = cut(e.Problem, 64), nil },
	} {
		smaller()
		raw, err := json.Marshal(e)
		if err != nil || len(raw) < Largest {
			return append(raw, '\n'), err
		}
	}
	return nil, fmt.Errorf("the event of %.40q is larger than %d bytes", e.Command, Largest)
}

// bounded is the event with every part of it bounded. What it was made of stays as it
// is.
func (e Event) bounded(warnings, problem int) Event {
	for _, text := range []*string{&e.Command, &e.Outcome, &e.Reason, &e.Target, &e.Source, &e.Path} {
		*text = cut(*text, largestText)
	}
	e.Level = Level(cut(string(e.Level), largestText))
	e.Problem = cut(e.Problem, problem)
	if e.Scripts != nil {
		scripts := *e.Scripts
		for _, text := range []*string{&scripts.Outcome, &scripts.Target, &scripts.Source} {
			*text = cut(*text, largestText)
		}
		scripts.Problem = cut(scripts.Problem, problem/2)
		e.Scripts = &scripts
	}
	if e.Decision != nil {
		decision := *e.Decision
		decision.Current = cut(decision.Current, largestText)
		decision.Warnings = boundedWarnings(decision.Warnings, warnings)
		e.Decision = &decision
	}
	if len(e.Milliseconds) > mostParts {
		e.Milliseconds = maps.Clone(e.Milliseconds)
		for _, part := range slices.Sorted(maps.Keys(e.Milliseconds))[mostParts:] {
			delete(e.Milliseconds, part)
		}
	}
	return e
}

func boundedWarnings(given []hotfix.Warning, most int) []hotfix.Warning {
	kept := make([]hotfix.Warning, 0, min(len(given), most)+1)
	for _, one := range given[:min(len(given), most)] {
		kept = append(kept, hotfix.Warning{Field: cut(one.Field, largestWarning), Problem: cut(one.Problem, largestWarning)})
	}
	if more := len(given) - most; more > 0 {
		kept = append(kept, hotfix.Warning{Problem: fmt.Sprintf("and %d more; «salve hotfix lint» lists them all", more)})
	}
	return kept
}

// cut gives the beginning of a text, and says that it was cut. What JSON writes as an
// escape counts as that.
func cut(text string, most int) string {
	size := 0
	for i, c := range text {
		size += escaped(c)
		if size > most {
			return strings.ToValidUTF8(text[:i], "") + "…"
		}
	}
	return text
}

// escaped is how many bytes a character takes in JSON.
func escaped(c rune) int {
	switch {
	case c == '\n', c == '\r', c == '\t', c == '"', c == '\\':
		return 2
	case c < ' ', c == '<', c == '>', c == '&', c == '\u2028', c == '\u2029', c == utf8.RuneError:
		return 6
	}
	return utf8.RuneLen(c)
}
