package consistency

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

var (
	begins = lazyregexp.New(`(?i)\b(?:outage|incident|impact|disruption|degradation|` +
		`downtime)\b[^.]{0,20}\b(?:begins?|began|starts?|started)\b|\b(?:start|beginning|onset) of (?:the )?(?:outage|` +
		`incident|impact|disruption|downtime)`)
	ends = lazyregexp.New(`(?i)\b(?:outage|incident|impact|disruption|degradation|` +
		`downtime)\b[^.]{0,20}\b(?:ends?|ended|over|resolved|closed)\b|\bend of (?:the )?(?:outage|incident|impact|` +
		`disruption|downtime)`)
	noted = lazyregexp.New(`(?i)\b(?:alert\w*|pag(?:e|ed|er)\b|pinged|notic\w+|report\w*|detect\w*|observ\w*|` +
		`see(?:s|ing)?\b|saw\b|complain\w*|page(?:s|d)\b)`)
	acted = lazyregexp.New(`(?i)\b(?:merged|deploy\w*|upload\w*|roll\w* out|rollout|push\w*|applied|releas\w*|` +
		`upgrad\w*|chang\w*|enabled|migrat\w*|updated)\b`)
	// mitigated: users may be served again, and the outage may be said to end here or later.
	mitigated = lazyregexp.New(`(?i)\b(?:outage|incident|impact|disruption|degradation|downtime)\b[^.]{0,20}` +
		`\bmitigated\b|^\W*mitigated\b`)
	bad    = lazyregexp.New(`(?i)\b(?:bad|broken|faulty|trigger\w*|fail\w*|error\w*|start\w*|begin\w*|began)\b`)
	healed = lazyregexp.New(`(?i)\b(?:confirm\w*|verif\w*|declar\w*)\b.*\b(?:healthy|functional|resol\w+|` +
		`complete\w*|recover\w*|normal)\b|\b(?:resolved|restored|back to normal|fully recovered|all clear|recovery ` +
		`complete|service recovered)\b|\bresolution is confirmed`)
	told = lazyregexp.New(`(?i)\b(?:notified|mailing list|status page|email|announcement)\b`)
)

// bounds are the events at which the outage may have begun and ended. marked: the timeline says so itself.
type bounds struct {
	begin, end             []event
	markedBegin, markedEnd bool
	// lengths are those from each begin to each end, and to where it was mitigated; longest is from the first to the last.
	lengths, longest []time.Duration
	// mitigated are the events at which users may have been served again.
	mitigated []event
}

func (t *timeline) bounds() bounds {
	var b bounds
	firstNoted, lastAct := -1, -1
	for i, e := range t.events {
		if !e.comparable {
			continue
		}
		if begins.MatchString(e.text) {
			b.begin, b.markedBegin = append(b.begin, e), true
		}
		if ends.MatchString(e.text) {
			b.end, b.markedEnd = append(b.end, e), true
		} else if mitigated.MatchString(e.text) {
			b.mitigated = append(b.mitigated, e)
		}
		if firstNoted < 0 && noted.MatchString(e.text) {
			firstNoted = i
		}
		if firstNoted < 0 && (acted.MatchString(e.text) || bad.MatchString(e.text)) {
			lastAct = i
		}
	}
	if !b.markedBegin && lastAct >= 0 && firstNoted > lastAct {
		b.begin = append(b.begin, t.events[lastAct])
		b.begin = append(b.begin, t.events[firstNoted])
	}
	if !b.markedEnd {
		for _, e := range t.events {
			if healed.MatchString(e.text) && !told.MatchString(e.text) && e.comparable {
				b.end = append(b.end, e)
			}
		}
	}
	// The last end is what a bound is compared with: of many, the first are left out.
	b.begin = b.begin[:min(len(b.begin), maxClaims)]
	if len(b.end) == 0 {
		b.end = b.mitigated
	}
	b.end = b.end[max(0, len(b.end)-maxClaims):]
	b.mitigated = b.mitigated[max(0, len(b.mitigated)-maxClaims):]
	b.measure(t)
	return b
}

func (b *bounds) measure(t *timeline) {
	if len(b.begin) == 0 || len(b.end) == 0 {
		return
	}
	for _, from := range b.begin {
		for _, to := range slices.Concat(b.end, b.mitigated) {
			if to.at.After(from.at) {
				b.lengths = append(b.lengths, t.lengths(from.at, to.at)...)
			}
		}
	}
	slices.Sort(b.lengths)
	b.lengths = slices.Compact(b.lengths)
	b.longest = t.lengths(b.begin[0].at, b.end[len(b.end)-1].at)
}

// checkDurations holds how long the outage is said to have been against the timeline, and against itself.
func checkDurations(d *document, t *timeline) []Finding {
	b := t.bounds()
	claims := claimsOfLength(d)
	claims = claims[:min(len(claims), maxClaims)]
	var found []Finding
	for _, c := range claims {
		if f, wrong := c.against(d, b); wrong {
			found = append(found, f)
		}
	}
	for i, c := range claims {
		for _, earlier := range claims[:i] {
			if !c.most && !c.least && !earlier.most && !earlier.least && len(found) == 0 &&
				(c.span-earlier.span).Abs() > max(c.tolerance, earlier.tolerance) {
				return append(checkRanges(d, t, b), d.finding(DurationContradictsDuration, []int{earlier.line, c.line},
					"the outage lasted %s in one place and %s in another", earlier.text, c.text))
			}
		}
	}
	return append(found, checkRanges(d, t, b)...)
}

// against compares a claim with every begin and end that may be meant. A bound is compared with the longest.
func (c claim) against(d *document, b bounds) (Finding, bool) {
	if len(b.begin) == 0 || len(b.end) == 0 {
		return Finding{}, false
	}
	begin, end := b.begin[0], b.end[len(b.end)-1]
	lengths := slices.Clone(b.longest)
	if !c.most || b.markedEnd {
		lengths = append(lengths, b.lengths...)
	}
	if b.longest[0] <= 0 || slices.ContainsFunc(lengths, c.agrees) {
		return Finding{}, false
	}
	says := "the timeline marks"
	if !b.markedBegin || !b.markedEnd {
		says = "the timeline implies"
	}
	return d.finding(DurationContradictsTimes, []int{c.line, begin.line, end.line}, "%q, and %s %s to %s, which is %s",
		c.text, says, shown(begin.at), shown(end.at), inWords(b.longest[0])), true
}

// inWords is a length as people write it: 1h20m, 30m, and seconds only where there is no minute.
func inWords(length time.Duration) string {
	if length < time.Minute {
		return length.Round(time.Second).String()
	}
	minutes := int(length.Round(time.Minute) / time.Minute)
	switch hours := minutes / 60; {
	case hours == 0:
		return fmt.Sprintf("%dm", minutes)
	case minutes%60 == 0:
		return fmt.Sprintf("%dh", hours)
	default:
		return fmt.Sprintf("%dh%dm", hours, minutes%60)
	}
}

var (
	rangeText = lazyregexp.New(`(?i)(?:\b(?:between|from)\s+)?` + rangeTime + `(?:\s*\([^()]{1,30}\))?` +
		`\s*(?:-|–|—|` +
		`to|until|till|and|through)\s*` + rangeTime)
	partial = lazyregexp.New(`(?i)\b(?:peak\w*|worst|brief\w*|mainly|intermittent\w*|maintenance|scheduled|` +
		`investigat\w*|cron|retried|some)\b`)
)

const rangeTime = `(\d{1,2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?(?: ?(?:UTC|GMT|PST|PDT|EST|EDT|CET|CEST))?)`

// checkRanges holds "between 13:46 and 17:30" of summary and impact against the begin and the end of the outage.
func checkRanges(d *document, t *timeline, b bounds) []Finding {
	if len(b.begin) == 0 || len(b.end) == 0 || t.mixed {
		return nil
	}
	var found []Finding
	for _, block := range d.claiming() {
		if len(found) >= maxClaims {
			return found
		}
		if d.kind(block) != summary && d.kind(block) != impact || block.shape == heading {
			continue
		}
		parts, starts := sentences(block.claims)
		for i, sentence := range parts {
			at := rangeText.FindStringSubmatchIndex(sentence)
			if at == nil || partial.MatchString(sentence) {
				continue
			}
			from, ok := timeAlone(sentence[at[2]:at[3]])
			to, also := timeAlone(sentence[at[4]:at[5]])
			if !ok || !also || from.zone != "" && from.zone != t.zone || to.zone != "" && to.zone != t.zone {
				continue
			}
			strict := outage.MatchString(sentence)
			late := t.offOf(from, b.begin, strict && b.markedBegin)
			early := t.offOf(to, slices.Concat(b.end, b.mitigated), strict && b.markedEnd)
			if !late && !early {
				continue
			}
			begin, end := b.begin[0], b.end[len(b.end)-1]
			found = append(found, d.finding(DurationContradictsTimes,
				[]int{block.lineAt(starts[i] + at[2]), begin.line, end.line}, "%q, and by the timeline it is %s to %s",
				strings.Join(strings.Fields(sentence[at[0]:at[1]]), " "), shown(begin.at), shown(end.at)))
		}
	}
	return found
}

func timeAlone(text string) (clock, bool) {
	at := timeOfDay.FindStringSubmatchIndex(text)
	if at == nil || at[0] != 0 {
		return clock{}, false
	}
	return readTime(text, at)
}

// offOf tells whether a time is none of the marks, nor of another event where a part of the outage may be meant.
func (t *timeline) offOf(when clock, marks []event, strict bool) bool {
	tolerance := 2 * 60
	if when.seconds%300 == 0 {
		tolerance = 5*60 - 1
	}
	near := func(e event) bool {
		at := e.at.Hour()*3600 + e.at.Minute()*60 + e.at.Second()
		off := (when.seconds - at + 86400) % 86400
		if when.ambiguous {
			off %= 43200
			return off <= tolerance || 43200-off <= tolerance
		}
		return off <= tolerance || 86400-off <= tolerance
	}
	for _, e := range marks {
		if near(e) {
			return false
		}
	}
	if strict {
		return true
	}
	for _, e := range t.events {
		at := e.at.Hour()*3600 + e.at.Minute()*60
		if at == when.seconds/60*60 {
			return false
		}
	}
	return true
}
