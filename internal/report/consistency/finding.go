package consistency

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"salve/journal"
)

// The rules.
const (
	DurationContradictsTimes    = "duration-contradicts-times"
	DurationContradictsDuration = "duration-contradicts-duration"
	CountContradictsCount       = "count-contradicts-count"
	EventsOutOfOrder            = "events-out-of-order"
	DateOutsideIncident         = "date-outside-incident"
	PoorlyWithoutAction         = "poorly-without-action"
	ActionWithoutOwnerOrLink    = "action-without-owner-or-link"
	PlaceholderLeft             = "placeholder-left"
	ContradictsJournal          = "contradicts-journal"
	NoSuchTime                  = "no-such-time"
	// NotCompared is no contradiction: what can't be held against a journal.
	NotCompared = "not-compared"
)

// Rules names all rules.
func Rules() []string {
	return []string{
		DurationContradictsTimes, DurationContradictsDuration, CountContradictsCount, EventsOutOfOrder, DateOutsideIncident,
		PoorlyWithoutAction, ActionWithoutOwnerOrLink, PlaceholderLeft, ContradictsJournal,
		NoSuchTime, NotCompared,
	}
}

// Place is a line of the post-mortem, or of a journal when Source names its run; then Line is the entry's number.
type Place struct {
	Line   int    `json:"line"`
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
}

// Finding is one contradiction or gap.
type Finding struct {
	Rule string `json:"rule"`
	// Line is where a reader meets it first.
	Line    int    `json:"line"`
	Message string `json:"message"`
	// Quotes are the places that contradict each other.
	Quotes []Place `json:"quotes"`
}

// Options say what a post-mortem is held against.
type Options struct {
	// Runs are the journals of runs that it may tell of.
	Runs []*journal.History
	// Strict asks for each line of "went poorly" whether an action item takes it up.
	Strict bool
}

// Limits of what is read.
const (
	// MaxSize is the largest post-mortem, in bytes.
	MaxSize = 8 << 20
	// maxDepth is how deep lists and quotes may be nested.
	maxDepth = 100
	// maxLine is the longest line, in bytes.
	maxLine = 64 << 10
	// maxClaims bounds what is compared of each kind: each claim is compared with each other.
	maxClaims = 200
	// maxHeadings bounds the headings that are classified.
	maxHeadings = 2000
	// maxFindings bounds what is reported of one document.
	maxFindings = 1000
	// maxQuote is how much of a line is quoted, in characters.
	maxQuote = 160
)

// Check reads a post-mortem and finds where it contradicts itself or the journals. The findings are in the order of
// the lines. It fails when the post-mortem is too large, nested too deep or not text.
func Check(raw []byte, options Options) ([]Finding, error) {
	d, err := parse(raw)
	if err != nil {
		return nil, err
	}
	t := newTimeline(d)
	var found []Finding
	found = append(found, checkDurations(d, t)...)
	found = append(found, checkBeside(d, t, found)...)
	found = append(found, checkDetection(d, t, t.bounds())...)
	found = append(found, checkImpossible(d, t)...)
	found = append(found, checkCounts(d)...)
	found = append(found, checkOrder(d, t)...)
	found = append(found, checkDates(d, t)...)
	found = append(found, checkActions(d, options.Strict)...)
	found = append(found, checkPlaceholders(d)...)
	against, err := checkJournals(d, t, options.Runs)
	if err != nil {
		return nil, err
	}
	found = append(found, against...)
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	if len(found) > maxFindings {
		found = found[:maxFindings]
	}
	return found, nil
}

// clip shortens a quote.
func clip(text string) string {
	if utf8.RuneCountInString(text) <= maxQuote {
		return text
	}
	return string([]rune(text)[:maxQuote-1]) + "…"
}
