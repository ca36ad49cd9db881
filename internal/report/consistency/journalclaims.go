package consistency

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"salve/internal/lazyregexp"
	"salve/journal"
)

// figures are what a journal says of its run as a whole.
type figures struct {
	// lengths are how long the run took: as a whole, until it was closed, and without the waits for an operator.
	lengths                       []time.Duration
	attempts, done, failed, again int
	sent, unlisted, refused       int
}

func figuresOf(run *journal.History) (figures, error) {
	f := figures{}
	first, last := run.Entries[0].At, run.Entries[len(run.Entries)-1].At
	f.lengths = append(f.lengths, last.Sub(first))
	open := map[string]bool{}
	var parked time.Time
	var waited time.Duration
	for _, entry := range run.Entries {
		if err := f.take(entry, open); err != nil {
			return f, fmt.Errorf("entry %d: %w", entry.Seq, err)
		}
		switch entry.Kind {
		case journal.Parked:
			parked = entry.At
		case journal.Resumed:
			if !parked.IsZero() {
				waited, parked = waited+entry.At.Sub(parked), time.Time{}
			}
		case journal.Closed:
			f.lengths = append(f.lengths, entry.At.Sub(first))
		default:
		}
	}
	f.lengths = append(f.lengths, f.lengths[len(f.lengths)-1]-waited)
	return f, nil
}

func (f *figures) take(entry journal.Entry, open map[string]bool) error {
	switch entry.Kind {
	case journal.Intended:
		var intent journal.Intent
		if err := unmarshal(entry, &intent); err != nil {
			return err
		}
		open[entry.Step] = true
		f.attempts++
		if intent.Attempt > 1 {
			f.again++
		}
	case journal.Outcome:
		var result journal.Result
		if err := unmarshal(entry, &result); err != nil {
			return err
		}
		switch {
		case !open[entry.Step]:
		case result.Result == journal.Done:
			f.done++
		case result.Result == journal.Failure || result.Result == journal.Unknown:
			f.failed++
		}
		delete(open, entry.Step)
	case journal.Requested:
		var sent journal.Requests
		if err := unmarshal(entry, &sent); err != nil {
			return err
		}
		f.unlisted += sent.More
		for _, one := range sent.Made {
			f.sent += one.Count
			if one.Status == 0 || one.Status >= http.StatusBadRequest {
				f.refused += one.Count
			}
		}
	default:
	}
	return nil
}

// unmarshal reads what an entry has; one without data has nothing.
func unmarshal(entry journal.Entry, into any) error {
	if len(entry.Data) == 0 {
		return nil
	}
	return json.Unmarshal(entry.Data, into)
}

const (
	figure = `(\d{1,3}(?:,\d{3})+|\d{1,9})`
	vaguer = `((?:about|around|approximately|roughly|nearly|almost|over|more than|at least|up to|some) )?`
)

var (
	attemptsText = lazyregexp.New(`(?i)` + vaguer + `\b` + figure + ` step attempts?( done)?(?:, ` + figure +
		` failed or not known)?(?:, ` + figure + ` retr(?:y|ies)\b)?`)
	sentText = lazyregexp.New(`(?i)` + vaguer + `\b` + figure + ` changing requests?\b(?:, of which ` + figure +
		` (?:was|were) refused or not answered)?`)
	ofStep    = lazyregexp.New(`(?i)\bsteps?\b`)
	ofRun     = lazyregexp.New(`(?i)^\W*(?:it|the run|this run)\b`)
	runTook   = lazyregexp.New(`^\W{0,3}(?:[\w-]+ ){0,3}?(?:took|lasted|ran for)(?: for)? $`)
	afterOpen = lazyregexp.New(`^ after it was opened\b`)
	endedIn   = lazyregexp.New(`\bended [\w-]+ within $`)
	fromTo    = lazyregexp.New(`\d{2}:\d{2}:\d{2} UTC to [\d-]{10} \d{2}:\d{2}:\d{2} UTC, $`)
	// lengthText is a duration as reports write it, or as people do.
	lengthText = lazyregexp.New(`\b(?:\d+h)?(?:\d+m)?\d+s\b|\b\d+h\d+m\b|\b\d+[hm]\b`)
)

// claimedFigures finds how long a run is said to have taken, and how much it is said to have done, where its journal
// says otherwise.
func claimedFigures(d *document, run *toldRun, told []*toldRun) ([]Finding, error) {
	truth, err := figuresOf(run.History)
	if err != nil {
		return nil, err
	}
	// A report that was made within bounds counts less than the journal has.
	bounded := slices.ContainsFunc(d.lines, func(line string) bool {
		return strings.Contains(line, "outside of the bounds and not told")
	})
	c := figureCheck{document: d, run: run, truth: truth, bounded: bounded}
	for _, b := range d.claiming() {
		if b.shape == heading || !mentions(b.text, run.name) || namesAnother(b.text, run, told) {
			continue
		}
		parts, starts := sentences(b.text)
		for i, sentence := range parts {
			c.line = b.line + strings.Count(b.text[:starts[i]], "\n")
			named := mentions(sentence, run.name)
			c.counts(sentence, named || b.shape != paragraph || ofRun.MatchString(sentence))
			c.durations(sentence, named, b.shape != paragraph)
			if len(c.found) >= maxFindings {
				return c.found, nil
			}
		}
	}
	return c.found, nil
}

// namesAnother tells whether a text tells of another run too.
func namesAnother(text string, run *toldRun, told []*toldRun) bool {
	for _, name := range runLike.FindAllString(text, -1) {
		if name != run.name && !strings.Contains(run.name, name) {
			return true
		}
	}
	return slices.ContainsFunc(told, func(other *toldRun) bool {
		return other.name != run.name && mentions(text, other.name)
	})
}

type figureCheck struct {
	*document
	run     *toldRun
	truth   figures
	bounded bool
	line    int
	found   []Finding
}

func (c *figureCheck) wrong(format string, args ...any) {
	f := c.finding(ContradictsJournal, []int{c.line}, format, args...)
	f.Quotes = append(f.Quotes, quoteEntry(c.run.History, c.run.Entries[len(c.run.Entries)-1]))
	c.found = append(c.found, f)
}

// counts holds counts that Salve's reports make; of: the sentence is about the run.
func (c *figureCheck) counts(sentence string, of bool) {
	if !of {
		return
	}
	for _, at := range attemptsText.FindAllStringSubmatch(sentence, -1) {
		if at[1] != "" {
			continue
		}
		if at[3] != "" {
			c.count(at[2], "step attempts done", c.truth.done)
		} else {
			c.count(at[2], "step attempts", c.truth.attempts, c.truth.done)
		}
		c.count(at[4], "failed or not known", c.truth.failed)
		c.count(at[5], "retries", c.truth.again)
	}
	if ofStep.MatchString(sentence) || slices.ContainsFunc(c.run.order, func(step string) bool {
		return namesStep(sentence, step, true)
	}) {
		return // it counts the requests of a step
	}
	for _, at := range sentText.FindAllStringSubmatch(sentence, -1) {
		if at[1] == "" {
			c.count(at[2], "changing requests", c.truth.sent, c.truth.sent+c.truth.unlisted)
			c.count(at[3], "refused or not answered", c.truth.refused)
		}
	}
}

func (c *figureCheck) count(text, of string, truth ...int) {
	said, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil || slices.Contains(truth, said) || c.bounded && said <= slices.Max(truth) {
		return
	}
	c.wrong("said to be %d %s; by the journal of run %s it is %d", said, of, c.run.name, truth[0])
}

// durations holds what is said of how long the run took. cited: the block has the run as its source.
func (c *figureCheck) durations(sentence string, named, cited bool) {
	for _, said := range lengthsIn(sentence) {
		before, after := sentence[:said.begin], sentence[said.end:]
		bound := cited && fromTo.MatchString(before) ||
			named && (afterOpen.MatchString(after) || endedIn.MatchString(before) || c.took(before))
		// How long an open run takes isn't known yet; a report says how far its record goes.
		if !bound || c.run.Closed == nil && !said.precise || slices.ContainsFunc(c.truth.lengths, said.agrees) ||
			c.bounded && said.span <= slices.Max(c.truth.lengths) {
			continue
		}
		c.wrong("%q; by its journal run %s took %s", said.text, c.run.name, c.truth.lengths[0].Round(time.Second))
	}
}

// took tells whether what stands before a duration says that the run, and not one of its steps, took it.
func (c *figureCheck) took(before string) bool {
	for _, at := range mentionsOf(before, c.run.name) {
		rest := before[at+len(c.run.name):]
		if runTook.MatchString(rest) && !ofStep.MatchString(rest) &&
			!slices.ContainsFunc(c.run.order, func(step string) bool { return mentions(rest, step) }) {
			return true
		}
	}
	return false
}

// saidLength is a duration in a sentence. precise: it is written to the second.
type saidLength struct {
	claim
	begin, end int
	precise    bool
}

func lengthsIn(sentence string) []saidLength {
	var said []saidLength
	for _, at := range lengthText.FindAllStringIndex(sentence, -1) {
		text := sentence[at[0]:at[1]]
		span, err := time.ParseDuration(text)
		if err != nil {
			continue
		}
		one := saidLength{claim{span: span, tolerance: time.Minute, text: text}, at[0], at[1], strings.HasSuffix(text, "s")}
		if one.precise {
			one.tolerance = time.Second
		}
		said = append(said, one)
	}
	for _, at := range duration.FindAllStringSubmatchIndex(sentence, -1) {
		begin, end := at[4], at[1]
		if at[2] >= 0 {
			begin = at[2]
		}
		if !slices.ContainsFunc(said, func(one saidLength) bool { return begin < one.end && one.begin < end }) {
			said = append(said, saidLength{readDuration(sentence, at), begin, end, false})
		}
	}
	return said
}
