package consistency

import (
	"strconv"
	"strings"
	"time"

	"salve/internal/lazyregexp"
)

// claim is how long the outage lasted, as a sentence says it.
type claim struct {
	span, tolerance time.Duration
	line            int
	text            string
	// most and least: it is a bound.
	most, least bool
}

const (
	amount = `(\d+(?:[.,]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|` +
		`thirty|forty|forty-five|fifty|sixty|ninety|half an)`
	unit   = `(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)`
	howFar = `(at most|at maximum|at maximum of|a maximum of|at the most|no more than|up to|under|less than|at least|` +
		`over|more than|about|around|approximately|approx\.?|roughly|nearly|almost|some|~|≈|just under|just over)?`
)

var (
	duration = lazyregexp.New(`(?i)(?:\b|^|\s)` + howFar + `[ \t\n]?\b` + amount + `(?: |-|\n)?` +
		unit + `\b(?:,? ?(?:and )?(\d+)[ -]?(minutes?|mins?|m)\b)?`)
	outage = lazyregexp.New(`(?i)\b(?:outage|incident|downtime|disruption|degradation|unavailability|impact|` +
		`interruption|event)\b`)
	// lasting binds a duration to the outage by what stands before it, trailing by what stands after.
	lasting = lazyregexp.New(`(?i)(?:\blast(?:ed|ing|s)(?: for)?|\b(?:outage|incident|downtime|disruption|` +
		`degradation|unavailability|interruption)\b[^.;]{0,60}?\b(?:of|was|for|took|spann(?:ed|ing)|total(?:led|ed|` +
		`ing)?)|\bbounded (?:to|by)|\b(?:down|unavailable|unreachable|offline|degraded) for(?: a total of)?|` +
		`\b(?:resolved|mitigated|restored|recovered|fixed) after|for a total of|(?:outage |incident |impact |total ` +
		`)?(?:duration|downtime|length(?: of outage)?)\W{0,4})\s*$`)
	trailing = lazyregexp.New(`(?i)^[ \n-]*(?:long )?(?:complete |full |total |partial |production )?(?:outage|` +
		`downtime|disruption|degradation|incident|interruption|(?:period|window) (?:during|in) which)\b`)
	numerals = map[string]float64{ //nolint:gochecknoglobals // a table
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
		"seven": 7,
		"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
		"forty-five": 45, "fifty": 50, "sixty": 60, "ninety": 90, "half an": 0.5}
)

// claimsOfLength are the durations of the outage itself.
func claimsOfLength(d *document) []claim {
	var claims []claim
	for _, b := range d.claiming() {
		if d.kind(b) == actions || d.kind(b) == events || d.kind(b) == cause || b.shape == heading {
			continue
		}
		text := b.claims
		if b.shape == row {
			text = strings.Join(b.cells, ": ")
		}
		parts, starts := sentences(text)
		for i, sentence := range parts {
			for _, at := range duration.FindAllStringSubmatchIndex(sentence, -1) {
				before := sentence[:at[0]]
				if !lasting.MatchString(before) && !trailing.MatchString(sentence[at[1]:]) {
					continue
				}
				c := readDuration(sentence, at)
				c.line = b.line + strings.Count(text[:starts[i]+at[4]], "\n")
				if b.shape == row {
					c.line = b.line
				}
				claims = append(claims, c)
			}
		}
	}
	return claims
}

func readDuration(text string, at []int) claim {
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return strings.ToLower(text[at[2*i]:at[2*i+1]])
	}
	value, known := numerals[group(2)]
	if !known {
		value, _ = strconv.ParseFloat(strings.Replace(group(2), ",", ".", 1), 64)
	}
	value = min(value, 1e6)
	scale := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[group(3)[0]]
	c := claim{span: time.Duration(value * float64(scale)), text: strings.Join(strings.Fields(text[at[0]:at[1]]), " ")}
	more, _ := strconv.Atoi(group(4))
	c.span += time.Duration(more) * time.Minute
	c.tolerance = rounding(c.span, scale, more > 0 || group(4) != "")
	switch group(1) {
	case "":
	case "at most", "at maximum", "at maximum of", "a maximum of", "at the most", "no more than", "up to",
		"under", "less than":
		c.most, c.tolerance = true, time.Minute
	case "at least", "over", "more than", "just over":
		c.least, c.tolerance = true, time.Minute
	default:
		c.tolerance = max(c.tolerance, c.span/5)
	}
	return c
}

// rounding is how far a duration may be off because people round: more where the unit is coarse.
func rounding(span, unit time.Duration, exact bool) time.Duration {
	minutes := int(span / time.Minute)
	switch {
	case exact || unit == time.Second:
		return time.Minute
	case unit == time.Minute && minutes%5 != 0:
		return time.Minute
	case unit == time.Minute:
		return 3 * time.Minute
	case unit == time.Hour && span%time.Hour != 0:
		return 8 * time.Minute
	case unit == time.Hour:
		return min(max(span*15/100, 10*time.Minute), 30*time.Minute)
	}
	return span * 15 / 100
}

// agrees tells whether a claim and a length may be the same.
func (c claim) agrees(length time.Duration) bool {
	switch {
	case c.most:
		return length <= c.span+c.tolerance
	case c.least:
		return length >= c.span-c.tolerance
	}
	return (length - c.span).Abs() <= c.tolerance
}
