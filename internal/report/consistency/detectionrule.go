package consistency

import (
	"slices"
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

var (
	detectedIn = lazyregexp.New(`(?i)\b(?:detect(?:ed|ion)|noticed|alerted|paged|alerts? fired)\b[^.;,\d]{0,30}` +
		`\b(?:within|after|in)(?: the first| only| just| about| around)? $|\btime to detect(?:ion)?\W{0,4}$`)
	// sinceOther binds it to something else than the begin: "within 5 minutes of the deploy".
	sinceOther = lazyregexp.New(`(?i)^\s*(?:of|after|from|following|since)\s+(?:(?:the|its|when|it) )*([a-z]+)`)
	sinceBegin = lazyregexp.New(`(?i)^(?:start\w*|beg\w+|onset|outage|incident|impact|disruption|fault)$`)
	// noticing may be how it was detected, or what follows that it was.
	noticing = lazyregexp.New(`(?i)\b(?:ack\w*|investigat\w*|triag\w*|declar\w*|escalat\w*|call\w*|look\w*|join\w*|` +
		`respon\w*|ticket\w*|ask\w*|ping\w*|incident|on-?call)\b`)
	alerted = lazyregexp.New(`(?i)\b(?:alerts?|alerted|paged?|pager|detected|noticed)\b`)
)

// checkDetection holds how soon it is said to have been detected against the first notice of the timeline, where that
// marks the begin.
func checkDetection(d *document, t *timeline, b bounds) []Finding {
	if !b.markedBegin {
		return nil
	}
	var found []Finding
	for _, block := range d.claiming() {
		if d.kind(block) == actions || d.kind(block) == events || block.shape == heading || len(found) >= maxClaims {
			continue
		}
		text := block.claims
		if block.shape == row {
			text = strings.Join(block.cells, ": ")
		}
		parts, starts := sentences(text)
		for i, sentence := range parts {
			for _, at := range duration.FindAllStringSubmatchIndex(sentence, -1) {
				begin := at[4]
				if at[2] >= 0 {
					begin = at[2]
				}
				since := sinceOther.FindStringSubmatch(sentence[at[1]:])
				if !detectedIn.MatchString(sentence[:begin]) || since != nil && !sinceBegin.MatchString(since[1]) {
					continue
				}
				line := block.line
				if block.shape != row {
					line = block.lineAt(starts[i] + begin)
				}
				if f, wrong := readDuration(sentence, at).tooSoon(d, t, b, line); wrong {
					found = append(found, f)
				}
			}
		}
	}
	return found
}

// tooSoon tells whether nothing was noticed in the time in which it is said to have been detected, but later.
func (c claim) tooSoon(d *document, t *timeline, b bounds, line int) (Finding, bool) {
	if c.least {
		return Finding{}, false
	}
	begin := b.begin[0]
	for _, e := range t.events {
		notices := noted.MatchString(e.text) || noticing.MatchString(e.text)
		if !notices || e.line == begin.line && !alerted.MatchString(e.text) {
			continue
		}
		for _, mark := range b.begin {
			soon := slices.Min(t.lengths(mark.at, e.at)) <= c.span+max(c.tolerance, time.Minute)
			if !e.comparable || soon && (mark.line == begin.line || !e.at.Before(mark.at)) {
				return Finding{}, false
			}
		}
		if !alerted.MatchString(e.text) {
			continue
		}
		return d.finding(DurationContradictsTimes, []int{line, begin.line, e.line},
			"detected in %q, and by the timeline the first notice came %s after the begin", c.text,
			inWords(t.lengths(begin.at, e.at)[0])), true
	}
	return Finding{}, false
}
