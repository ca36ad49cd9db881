package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Sample is what is known of a group of failures that no signature is for. Texts are taken as they are: what is secret
// in them has to be masked before.
type Sample struct {
	Message string   // of the group, masked or not
	Failing []string // texts of failures: messages with their logs
	Passing []string // texts of scenarios that pass
	Place   string   // that all of them fail at; empty: several, or not known
	Kind    string   // of the files that the texts are from; empty: any
	Class   Class    // if it is known; empty: for somebody to say
	Mask    string   // what stands for secrets in the texts: no literal goes over it; empty: nothing does
}

// ErrNothingSpecific says that no text of eight bytes or more is in all failures and in no scenario that passes.
var ErrNothingSpecific = errors.New("no text of at least 8 bytes is in all failures and in no scenario that passes")

const (
	minLearned    = 8 // bytes of a literal
	maxLearned    = 3 // literals
	maxWords      = 64
	maxLinesTaken = 20
	maxTitle      = 120
)

// proposal is an entry as it is written.
type proposal struct {
	ID       string           `yaml:"id"`
	Title    string           `yaml:"title"`
	Class    yaml.Node        `yaml:"class"`
	Owner    string           `yaml:"owner"`
	Action   string           `yaml:"action"`
	Kind     string           `yaml:"kind,omitempty"`
	All      []string         `yaml:"all"`
	Place    string           `yaml:"place,omitempty"`
	Examples proposedExamples `yaml:"examples"`
}

type proposedExamples struct {
	Match   []string `yaml:"match"`
	NoMatch []string `yaml:"noMatch,omitempty"`
}

// Propose is a catalogue's entry for a group, to be completed by somebody who knows: the longest texts of the message
// that all failures have, and that no scenario which passes has.
func Propose(of Sample) (string, error) {
	s := of.plain()
	literals, rejected := s.literals()
	if len(literals) == 0 {
		return "", ErrNothingSpecific
	}
	title := shorten(clean(firstLine(s.Message)), maxTitle)
	entry := proposal{
		ID: slug(literals[0]), Title: cmp.Or(title, literals[0]), Owner: "TODO: who is told", Action: "TODO: what to do",
		Class: s.class(),
		Kind:  s.Kind, All: literals, Place: s.Place,
		Examples: proposedExamples{Match: []string{s.example(literals)}, NoMatch: s.counterexamples(rejected)},
	}
	text, err := yaml.Marshal(map[string][]proposal{"signatures": {entry}})
	if err != nil {
		return "", fmt.Errorf("write entry: %w", err)
	}
	return string(text), nil
}

// class is what the entry is proposed to be.
func (s Sample) class() yaml.Node {
	if s.Class != "" {
		return yaml.Node{Kind: yaml.ScalarNode, Value: string(s.Class)}
	}
	return yaml.Node{Kind: yaml.ScalarNode, Value: string(Test), LineComment: "TODO: infrastructure, product or test"}
}

// plain is the sample as a catalogue searches it: without colours.
func (s Sample) plain() Sample {
	s.Message = plain(s.Message)
	s.Failing, s.Passing = slices.Clone(s.Failing), slices.Clone(s.Passing)
	for _, texts := range [][]string{s.Failing, s.Passing} {
		for i := range texts {
			texts[i] = plain(texts[i])
		}
	}
	return s
}

// literals are those to search for, longest first, and those that passing scenarios have as well.
func (s Sample) literals() (chosen, rejected []string) {
	var runs []string
	for i, line := range strings.Split(s.Message, "\n") {
		if i < maxLinesTaken {
			runs = append(runs, s.runs(line)...)
		}
	}
	slices.SortStableFunc(runs, func(a, b string) int { return len(b) - len(a) })
	for _, run := range runs {
		within := func(longer string) bool { return strings.Contains(longer, run) }
		switch {
		case slices.ContainsFunc(s.Passing, within):
			rejected = append(rejected, run)
		case len(chosen) < maxLearned && !slices.ContainsFunc(chosen, within):
			chosen = append(chosen, run)
		}
	}
	return chosen, rejected
}

// runs are the longest parts of a line, in whole words, that all failures have.
func (s Sample) runs(line string) []string {
	words := splitWords(line)
	var runs []string
	for from := 0; from < len(words); {
		end := from
		for end < len(words) && s.shared(line[words[from].begin:words[end].end]) {
			end++
		}
		if end > from {
			run := strings.Trim(line[words[from].begin:words[end-1].end], " \t,;:.")
			if len(run) >= minLearned && strings.ContainsFunc(run, unicode.IsLetter) && clean(run) == run {
				runs = append(runs, run[:min(len(run), maxText)])
			}
		}
		from = max(end, from+1)
	}
	return runs
}

type word struct{ begin, end int }

func splitWords(line string) []word {
	var words []word
	begin := -1
	for i, r := range line {
		switch space := unicode.IsSpace(r); {
		case space && begin >= 0:
			words = append(words, word{begin, i})
			begin = -1
		case !space && begin < 0:
			begin = i
		}
	}
	if begin >= 0 {
		words = append(words, word{begin, len(line)})
	}
	return words[:min(len(words), maxWords)]
}

// shared says whether all failures have a text. One failure alone can't tell what changes from run to run: what has a
// digit is taken for that.
func (s Sample) shared(text string) bool {
	if s.Mask != "" && strings.Contains(text, s.Mask) {
		return false
	}
	if len(s.Failing) < 2 && strings.ContainsFunc(text, unicode.IsDigit) {
		return false
	}
	return len(s.Failing) > 0 && all(s.Failing, func(of string) bool { return strings.Contains(of, text) })
}

// example is the lines of the first failure that have the literals.
func (s Sample) example(literals []string) string {
	var lines []string
	for line := range strings.Lines(s.Failing[0]) {
		if has := func(text string) bool { return strings.Contains(line, text) }; slices.ContainsFunc(literals, has) {
			lines = append(lines, exampleLine(line, literals))
			literals = slices.DeleteFunc(slices.Clone(literals), has)
		}
	}
	return strings.Join(lines, "\n")
}

// exampleLine is a line, or what is around the literals that a long one has.
func exampleLine(line string, literals []string) string {
	if line = strings.TrimSpace(line); len(line) <= maxExcerpt && clean(line) == line {
		return line
	}
	var parts []string
	for _, literal := range literals {
		if strings.Contains(line, literal) {
			parts = append(parts, literal)
		}
	}
	return strings.Join(parts, " … ")
}

// counterexamples are lines of passing scenarios that have something of the message, but not what was chosen.
func (s Sample) counterexamples(rejected []string) []string {
	var lines []string
	for _, run := range rejected {
		for _, text := range s.Passing {
			if i := strings.Index(text, run); i >= 0 && len(lines) < 2 {
				begin := strings.LastIndexByte(text[:i], '\n') + 1
				if line := exampleLine(firstLine(text[begin:]), []string{run}); !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
				break
			}
		}
	}
	return lines
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// slug is an ID made of the words of a text.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	id := strings.Join(words, "-")
	if len(id) > 40 {
		id = id[:40]
		if cut := strings.LastIndexByte(id, '-'); cut > 20 {
			id = id[:cut]
		}
	}
	return cmp.Or(strings.Trim(id, "-"), "todo")
}
