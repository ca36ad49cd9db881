package consistency

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"salve/journal"
)

// toldRun is a run that the post-mortem names.
type toldRun struct {
	*journal.History
	name string
	// steps are the entries of each step; order are its steps in the order of the journal.
	steps map[string][]journal.Entry
	order []string
	// cites finds citations of the journal's entries, as reports write them.
	cites *regexp.Regexp
}

func toldRuns(d *document, runs []*journal.History) []*toldRun {
	var told []*toldRun
	for _, run := range runs {
		name := run.Header.Run
		if len(run.Entries) == 0 || !slices.ContainsFunc(d.lines, func(line string) bool { return mentions(line, name) }) {
			continue
		}
		r := &toldRun{History: run, name: name, steps: map[string][]journal.Entry{},
			cites: regexp.MustCompile(regexp.QuoteMeta(name) + `#(\d{1,9})\b`)}
		for _, entry := range run.Entries {
			if entry.Step == "" {
				continue
			}
			if r.steps[entry.Step] == nil {
				r.order = append(r.order, entry.Step)
			}
			r.steps[entry.Step] = append(r.steps[entry.Step], entry)
		}
		told = append(told, r)
	}
	return told
}

// checkJournals holds what tells of runs against their journals.
func checkJournals(d *document, t *timeline, runs []*journal.History) ([]Finding, error) {
	told := toldRuns(d, runs)
	found := misplaced(d, t, told)
	found = append(found, misplaced(d, appended(d, t, told), told)...)
	for _, run := range told {
		found = append(found, missingSources(d, run)...)
		outcome, err := claimedOutcome(d, run.History)
		if err != nil {
			return nil, fmt.Errorf("reading the journal of run %q: %w", run.name, err)
		}
		figures, err := claimedFigures(d, run, told)
		if err != nil {
			return nil, fmt.Errorf("reading the journal of run %q: %w", run.name, err)
		}
		found = append(append(found, outcome...), figures...)
	}
	return found, nil
}

// misplaced are the events of a timeline that a journal has at another time.
func misplaced(d *document, t *timeline, told []*toldRun) []Finding {
	var found []Finding
	var blind []event
	for _, e := range t.events {
		meant := meantBy(e, told)
		if len(meant) == 0 {
			continue
		}
		if !e.comparable || len(t.walls(time.Time{})) == 0 {
			blind = append(blind, e)
		} else if f, wrong := contradicting(d, t, e, meant); wrong {
			found = append(found, f)
		}
	}
	if len(blind) > 0 {
		found = append(found, notCompared(d, t, blind))
	}
	return found
}

// appended are the rows of the appendix that cite an entry: reports list all events there.
func appended(d *document, t *timeline, told []*toldRun) *timeline {
	list := &timeline{incident: t.incident, date: t.incident}
	for _, b := range d.blocks {
		cites := func(run *toldRun) bool { return run.cites.MatchString(b.text) }
		if b.shape != row || d.kind(b) != appendix || !slices.ContainsFunc(told, cites) {
			continue
		}
		// Its times are in the zone of its own head.
		if zone := zoneText.FindString(strings.Join(b.columns, " ")); list.zone == "" || list.zone == zone {
			list.zone = zone
			list.take(b)
		}
	}
	return list
}

// notCompared says once what could not be held against the journals, and why.
func notCompared(d *document, t *timeline, blind []event) Finding {
	zone := blind[0].zone
	if zone == "" {
		zone = t.zone
	}
	why := "the post-mortem names no time zone"
	if zone != "" {
		why = fmt.Sprintf("the time zone %q is unknown", zone)
	}
	lines := "1 line of the timeline"
	if len(blind) > 1 {
		lines = fmt.Sprintf("%d lines of the timeline", len(blind))
	}
	return d.finding(NotCompared, []int{blind[0].line}, "%s can't be held against the journals: %s", lines, why)
}

// meant is an entry that a line of the timeline may mean. cited: the line names that entry as its source.
type meant struct {
	run   *toldRun
	entry journal.Entry
	cited bool
}

// meantBy are the entries that a line may mean: those that it cites; or those of the step that it names; or all of the
// run that it names. A line that names no run may mean any.
func meantBy(e event, told []*toldRun) []meant {
	var cited, steps, whole []meant
	named := slices.ContainsFunc(told, func(run *toldRun) bool { return mentions(e.text, run.name) })
	if !named && runLike.MatchString(e.text) {
		return nil // it tells of another run
	}
	for _, run := range told {
		here := mentions(e.text, run.name)
		if named && !here {
			continue
		}
		sources := run.cites.FindAllStringSubmatch(e.text, -1)
		for _, source := range sources {
			if entry, found := run.entry(source[1]); found {
				cited = append(cited, meant{run, entry, true})
			}
		}
		if len(sources) > 0 {
			continue // a source that there is not is a finding of its own
		}
		for _, step := range run.order {
			if namesStep(e.text, step, here) {
				for _, entry := range run.steps[step] {
					steps = append(steps, meant{run, entry, false})
				}
			}
		}
		if here {
			for _, entry := range run.Entries {
				whole = append(whole, meant{run, entry, false})
			}
		}
	}
	switch {
	case len(cited) > 0:
		return cited
	case len(steps) > 0:
		return steps
	}
	return whole
}

// roundedOff is how far an event may be off the entry, as people write minutes; precisely when it cites the entry and
// has seconds.
const (
	roundedOff = 90 * time.Second
	precisely  = 2 * time.Second
)

func contradicting(d *document, t *timeline, e event, entries []meant) (Finding, bool) {
	nearest, least := entries[0], time.Duration(1<<62)
	for _, one := range entries {
		for _, wall := range t.walls(one.entry.At) {
			off := e.at.Sub(wall).Abs()
			if e.at.Year() < 1970 { // only the time of day is known
				off = e.at.Sub(beforeZero.Add(wall.Sub(wall.Truncate(24*time.Hour)))).Abs() % (24 * time.Hour)
				off = min(off, 24*time.Hour-off)
			}
			if off < least {
				nearest, least = one, off
			}
		}
	}
	if least <= precisely || least <= roundedOff && !(nearest.cited && e.precise) {
		return Finding{}, false
	}
	at := nearest.entry.At.UTC().Format("2006-01-02 15:04:05 MST")
	f := d.finding(ContradictsJournal, []int{e.line}, "the journal of run %s has it at %s", nearest.run.name, at)
	if nearest.cited {
		f = d.finding(ContradictsJournal, []int{e.line}, "the journal of run %s has its source, entry %d, at %s",
			nearest.run.name, nearest.entry.Seq, at)
	}
	f.Quotes = append(f.Quotes, quoteEntry(nearest.run.History, nearest.entry))
	return f, true
}

// walls are what clocks of the timeline's zone may have shown; none when its zone is not known.
func (t *timeline) walls(at time.Time) []time.Time {
	var shown []time.Time
	if offset, known := offsetOf(t.zone); known {
		shown = append(shown, at.UTC().Add(offset))
	}
	places, exact := t.seasons()
	if !exact && (regions[familyOf(t.zone)] == "" || t.zone == "CST") {
		return shown
	}
	for _, place := range places {
		_, offset := at.In(place).Zone()
		shown = append(shown, at.UTC().Add(time.Duration(offset)*time.Second))
	}
	return shown
}

func quoteEntry(run *journal.History, entry journal.Entry) Place {
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", entry.At.UTC().Format(time.RFC3339), entry.Kind, entry.Step))
	return Place{Source: run.Header.Run, Line: entry.Seq, Text: clip(text)}
}
