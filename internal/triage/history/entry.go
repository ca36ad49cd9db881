package history

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Format is the version of a line.
const Format = "salve.triage.history/v1"

// Bounds of a line. What is beyond is cut when it is written, texts and lists alike, and refused when it is read.
const (
	maximumLine       = 4 << 20 // bytes
	maximumID         = 512     // bytes of a build, run, change or suite
	maximumText       = 4 << 10 // bytes of an example's text
	maximumMessage    = 1 << 10
	maximumGroups     = 1000
	maximumSignatures = 50 // of a group
	maximumNames      = 5  // of scenarios of a group
	maximumAttributes = 200
	maximumCount      = 1 << 30
)

// Entry is what one run had. It is one line.
type Entry struct {
	Format string `json:"format"`
	// Build and Run are the IDs that the CI system gave. A build is counted once; if it has several runs, such as jobs,
	// each has a line.
	Build string `json:"build"`
	Run   string `json:"run,omitempty"`
	// Triaged is 1 for the first line about a run, and one more each time that it was triaged again with another outcome:
	// the highest stands for the run.
	Triaged int `json:"triaged"`
	// Change is the change under test: a pull request or a revision. Runs that don't know theirs are nobody's baseline.
	Change string `json:"change,omitempty"`
	// Time is when the run began, by the CI system's clock.
	Time       time.Time `json:"time"`
	Totals     Totals    `json:"totals"`
	Attributes []Value   `json:"attributes,omitempty"`
	// Ran are all scenarios that were run, passing ones too.
	Ran    Set     `json:"ran,omitempty"`
	Groups []Group `json:"groups,omitempty"`
}

// Totals count scenarios, and tests.
type Totals struct {
	Scenarios int `json:"scenarios"`
	Tests     int `json:"tests,omitempty"`
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped,omitempty"`
}

// Value is how the scenarios with an attribute's value ended.
type Value struct {
	Attribute string `json:"attribute"`
	Value     string `json:"value"`
	Passed    int    `json:"passed"`
	Failed    int    `json:"failed"`
}

// Group is the failures of the run that look alike.
type Group struct {
	Key        string   `json:"key"`
	Signatures []string `json:"signatures,omitempty"` // IDs
	Failures   int      `json:"failures"`             // scenarios
	Tests      int      `json:"tests,omitempty"`
	Scenarios  Set      `json:"scenarios,omitempty"` // that failed
	Names      []string `json:"names,omitempty"`     // of the first of them
	Example    Example  `json:"example"`
}

// Example is one failure of a group, with all that its key is made of: a later way of grouping makes its own key of it.
type Example struct {
	Type    string `json:"type,omitempty"`
	Message string `json:"message,omitempty"`
	Text    string `json:"text,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// id tells runs apart.
func (e *Entry) id() runID { return runID{e.Build, e.Run} }

type runID struct{ build, run string }

// bounded is the entry as it is written: in order, and within bounds. It fails for one that no reader would take.
func (e Entry) bounded() (Entry, error) {
	e.Format, e.Time = Format, e.Time.UTC().Truncate(time.Second)
	e.Triaged = max(e.Triaged, 1)
	e.Attributes = slices.Clone(e.Attributes[:min(len(e.Attributes), maximumAttributes)])
	for i, v := range e.Attributes {
		e.Attributes[i].Attribute, e.Attributes[i].Value = cut(v.Attribute, maximumID), cut(v.Value, maximumID)
	}
	groups := slices.Clone(e.Groups)
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Key, b.Key))
	})
	e.Groups = groups[:min(len(groups), maximumGroups)]
	for i := range e.Groups {
		e.Groups[i] = e.Groups[i].bounded()
	}
	return e, e.check()
}

func (g Group) bounded() Group {
	g.Signatures = slices.Compact(slices.Sorted(slices.Values(g.Signatures)))
	g.Signatures = g.Signatures[:min(len(g.Signatures), maximumSignatures)]
	g.Names = slices.Clone(g.Names[:min(len(g.Names), maximumNames)])
	for i, name := range g.Names {
		g.Names[i] = cut(name, maximumID)
	}
	x := &g.Example
	x.Type, x.Message, x.Text = cut(x.Type, maximumID), cut(x.Message, maximumMessage), cut(x.Text, maximumText)
	x.File = cut(x.File, maximumID)
	return g
}

// check is whether an entry is within bounds.
func (e *Entry) check() error {
	counts := []int{
		e.Totals.Scenarios, e.Totals.Tests, e.Totals.Passed, e.Totals.Failed, e.Totals.Skipped, e.Triaged,
	}
	for _, v := range e.Attributes {
		counts = append(counts, v.Passed, v.Failed)
	}
	for _, g := range e.Groups {
		counts = append(counts, g.Failures, g.Tests, g.Example.Line)
	}
	switch {
	case e.Format != Format:
		return fmt.Errorf("format %q is not known, only %s", cut(e.Format, 40), Format)
	case e.Build == "":
		return errors.New("no build")
	case e.Time.IsZero() || e.Time.Year() < 2000 || e.Time.Year() > 9999:
		return errors.New("no time, or none that a run can have")
	case slices.Min(counts) < 0:
		return errors.New("a count below 0")
	case slices.Max(counts) > maximumCount:
		return fmt.Errorf("a count beyond %d", maximumCount)
	case e.Triaged == 0:
		return errors.New("triaged is 0")
	case len(e.Groups) > maximumGroups || len(e.Attributes) > maximumAttributes:
		return errors.New("too many groups or attributes")
	}
	return e.checkTexts()
}

func (e *Entry) checkTexts() error {
	ids := []string{e.Build, e.Run, e.Change}
	for _, g := range e.Groups {
		if g.Key == "" {
			return errors.New("a group without a key")
		}
		if len(g.Signatures) > maximumSignatures {
			return errors.New("too many signatures")
		}
		ids = append(append(ids, g.Key), g.Signatures...)
		if err := g.Scenarios.check(); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if len(id) > maximumID || clean(id) != id || strings.ContainsAny(id, "\n\t") {
			return fmt.Errorf("%q is too long for an ID, or has characters that none has", cut(id, 40))
		}
	}
	return e.Ran.check()
}

// cut is the text without what can't be shown, and not longer than so many bytes.
func cut(text string, bytes int) string {
	text = clean(text)
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// clean has U+FFFD for a control character, a change of direction, and what is not UTF-8.
func clean(text string) string {
	if plain(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		turns := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		if unicode.IsControl(r) && r != '\n' && r != '\t' || turns {
			return utf8.RuneError
		}
		return r
	}, text)
}

// plain is whether a text has none but the commonest characters.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// regrouped is the entry with the keys that the reader's way of grouping gives, and without what nobody asks for
// afterwards.
// Groups that get the same key are one.
func (e Entry) regrouped(g Grouping) Entry {
	byKey := map[string]Group{}
	for _, group := range e.Groups {
		if key := g.key(group); key != "" {
			group.Key = key
		}
		group.Example = Example{Message: group.Example.Message, File: group.Example.File, Line: group.Example.Line}
		if same, there := byKey[group.Key]; there {
			group = same.with(group)
		}
		byKey[group.Key] = group
	}
	e.Groups, e.Attributes = nil, nil
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		e.Groups = append(e.Groups, byKey[key])
	}
	return e
}

// with is two groups as one.
func (g Group) with(other Group) Group {
	g.Signatures = slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.Signatures, other.Signatures))))
	g.Failures += other.Failures
	g.Tests += other.Tests
	g.Scenarios = g.Scenarios.union(other.Scenarios)
	g.Names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.Names, other.Names))))
	g.Names = g.Names[:min(len(g.Names), maximumNames)]
	return g
}

// Grouping is the reader's way of grouping.
type Grouping struct {
	// Version begins its keys, such as g1: keys of another version are made anew.
	Version string
	// Key makes a key of an example; empty for none, and then the old one stays. Nil: keys stay as they are.
	Key func(Example) string
}

// key is a group's new key; empty for the one that it has.
func (g Grouping) key(group Group) string {
	if g.Key == nil || strings.HasPrefix(group.Key, g.Version+"-") {
		return ""
	}
	return g.Key(group.Example)
}
