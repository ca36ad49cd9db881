package consistency

import (
	"slices"
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

var (
	// rangeAfter is what may stand between a duration and a range of times that says the same; rangeBefore is it where
	// the range comes first.
	rangeAfter  = lazyregexp.New(`(?i)^[\s,:]*\(?(?:(?:from|between|about|approximately) )*$`)
	rangeBefore = lazyregexp.New(`^\s*(?:UTC|GMT)?,?\s*\((?:about |around |~|a total of )?$`)
)

// checkBeside holds a duration against the range of times that stands beside it in the same sentence.
func checkBeside(d *document, t *timeline, found []Finding) []Finding {
	known := map[int]bool{}
	for _, f := range found {
		for _, place := range f.Quotes {
			known[place.Line] = true
		}
	}
	var beside []Finding
	for _, b := range d.claiming() {
		if d.kind(b) == actions || d.kind(b) == events || b.shape == heading || len(beside) >= maxClaims {
			continue
		}
		parts, starts := sentences(b.claims)
		for i, sentence := range parts {
			line := b.lineAt(starts[i])
			if f, wrong := d.besideIn(t, sentence, line); wrong && !known[f.Line] {
				beside = append(beside, f)
			}
		}
	}
	return beside
}

func (d *document) besideIn(t *timeline, sentence string, line int) (Finding, bool) {
	ranges := rangeText.FindAllStringSubmatchIndex(sentence, -1)
	if len(ranges) != 1 || !outage.MatchString(sentence) && !lasting.MatchString(sentence) ||
		partial.MatchString(sentence) {
		return Finding{}, false
	}
	r := ranges[0]
	from, ok := timeAlone(sentence[r[2]:r[3]])
	to, also := timeAlone(sentence[r[4]:r[5]])
	if !ok || !also || !strings.Contains(sentence[r[2]:r[5]], ":") || from.zone != "" && to.zone != from.zone {
		return Finding{}, false
	}
	for _, at := range duration.FindAllStringSubmatchIndex(sentence, -1) {
		begin, end := at[4], at[1]
		if at[2] >= 0 {
			begin = at[2]
		}
		bound := lasting.MatchString(sentence[:at[0]])
		if of := trailing.FindStringIndex(sentence[end:]); of != nil {
			bound, end = true, end+of[1]
		}
		if !(bound && end <= r[2] && rangeAfter.MatchString(sentence[end:r[2]]) ||
			begin >= r[5] && rangeBefore.MatchString(sentence[r[5]:begin]) && strings.HasPrefix(sentence[end:], ")")) {
			continue
		}
		c := readDuration(sentence, at)
		lengths := t.lengthsOfDay(from, to)
		if slices.ContainsFunc(lengths, func(length time.Duration) bool {
			days := (c.span + c.tolerance) / (24 * time.Hour) * (24 * time.Hour) // the range may end days later
			return c.agrees(length) || c.agrees(length+days) || c.agrees(length+days-24*time.Hour)
		}) {
			return Finding{}, false
		}
		text := strings.Join(strings.Fields(sentence[r[2]:r[5]]), " ")
		return d.finding(DurationContradictsTimes, []int{line + strings.Count(sentence[:begin], "\n"),
			line + strings.Count(sentence[:r[2]], "\n")}, "%q, and %s is %s", c.text, text, inWords(lengths[0])), true
	}
	return Finding{}, false
}

// lengthsOfDay are how long it may be from one time of day to another, past midnight where it goes back.
func (t *timeline) lengthsOfDay(from, to clock) []time.Duration {
	day := t.incident
	if day.IsZero() {
		day = beforeZero
	}
	var all []time.Duration
	for _, first := range from.halves() {
		for _, last := range to.halves() {
			if last <= first {
				last += 24 * time.Hour
			}
			all = append(all, t.lengths(day.Add(first), day.Add(last))...)
		}
	}
	return all
}

// halves are the times of day that a time may mean.
func (c clock) halves() []time.Duration {
	at := time.Duration(c.seconds) * time.Second
	if c.ambiguous {
		return []time.Duration{at, (at + 12*time.Hour) % (24 * time.Hour)}
	}
	return []time.Duration{at}
}
