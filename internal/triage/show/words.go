package show

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"salve/internal/triage"
)

// percent writes a share of 1 as a percentage with one decimal.
func percent(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return "unknown"
	case share == 0, share == 1:
		return strconv.Itoa(int(100*share)) + " %"
	case share > 0 && share < 0.0005:
		return "< 0.1 %"
	case share < 1 && share > 0.9995:
		return "> 99.9 %"
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}

// share is a part of a whole, and 0 of nothing.
func share(part, whole int) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// number writes a ratio with three digits that count.
func number(value float64) string {
	switch {
	case math.IsNaN(value):
		return "unknown"
	case math.IsInf(value, 1):
		return "∞"
	case math.IsInf(value, -1):
		return "−∞"
	case math.Abs(value) >= 1000:
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'g', 3, 64)
}

// probability writes p from its natural logarithm: p may be smaller than a float64 can hold.
func probability(log float64) string {
	switch {
	case math.IsNaN(log):
		return "unknown"
	case log >= 0:
		return "1"
	case log < -1e6:
		return "< 1e-99999"
	case log > math.Log(0.001):
		return strconv.FormatFloat(math.Exp(log), 'f', 3, 64)
	}
	tens := log / math.Ln10
	exponent := math.Floor(tens)
	digits := math.Round(10*math.Pow(10, tens-exponent)) / 10
	if digits >= 10 {
		digits, exponent = digits/10, exponent+1
	}
	return fmt.Sprintf("%.1fe%d", digits, int(exponent))
}

// false discovery rate, which is 0 where it is too small to be held.
func discovery(q float64) string {
	if q <= 0 {
		return "< 1e-300"
	}
	return probability(math.Log(q))
}

// plural counts things.
func plural(count int, one, many string) string {
	if count == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", count, many)
}

// oneLine puts a text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// name is an attribute's value as it is written everywhere.
func name(attribute, value string) string {
	if value == "" {
		return "no " + attribute
	}
	return attribute + "=" + value
}

// named is a candidate with the other names that the same scenarios go by.
func named(c triage.Candidate) string {
	if len(c.Aliases) == 0 {
		return name(c.Attribute, c.Value)
	}
	return fmt.Sprintf("%s (= %s; can't be told apart here)", name(c.Attribute, c.Value), strings.Join(c.Aliases, ", "))
}

// aside is a value that goes with the failures and was not taken as a cause.
func aside(c triage.Candidate) string {
	if c.ExplainedBy == "" {
		return name(c.Attribute, c.Value) + " goes with them too, and the causes don't explain it"
	}
	return name(c.Attribute, c.Value) + " only seems to matter: explained by " + c.ExplainedBy
}

// title says what a group's failures have in common.
func title(g triage.Group) string {
	if text := oneLine(g.Message); text != "" {
		return text
	}
	return "failures without a message"
}

// size is how many failures a group has.
func size(g triage.Group) string {
	return fmt.Sprintf("%s in %s", plural(g.Failures, "failure", "failures"), plural(g.Tests, "test", "tests"))
}

// counted is the run in one sentence.
func counted(c triage.Counts) string {
	return fmt.Sprintf("%s of %s: %d passed, %d failed (%s), %d skipped; %d flaky",
		plural(c.Scenarios, "scenario", "scenarios"), plural(c.Tests, "test", "tests"),
		c.Passed, c.Failed, percent(share(c.Failed, c.Passed+c.Failed)), c.Skipped, c.Flaky)
}

// verdict is the overall verdict in words.
func verdict(doc triage.Document) string {
	text := string(doc.Verdict)
	if doc.Mixed {
		text += " (mixed: the worst of several)"
	}
	return text
}

// confidence is left out where there is none to have.
func confidence(c triage.Confidence) string {
	if c == "" {
		return ""
	}
	return ", " + string(c) + " confidence"
}

// cause is the sentence about what the failures go with.
func cause(c triage.Cause) string {
	if c.State == "found" && strings.TrimSpace(c.Text) != "" {
		return c.Text
	}
	return colon(c.State, c.Text)
}

// colon joins a word and the sentence that explains it.
func colon(word, text string) string { return strings.Join(present(word, text), ": ") }

// present are the texts that say something.
func present(texts ...string) []string {
	var there []string
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			there = append(there, text)
		}
	}
	return there
}

// flakiness says what attempts say.
func flakiness(f triage.Flakiness) string {
	if f == triage.FlakinessUnknown || f == "" {
		return "flaky or not: unknown"
	}
	return string(f)
}

// alternative is the state and the bound of the alternative that the change did it.
func alternative(a triage.Alternative) string {
	text := state(a)
	if a.MaxShare != nil {
		text += fmt.Sprintf(", at most %s of the failures can be its doing", percent(*a.MaxShare))
	}
	return text
}

// state is what is said of the change, in words.
func state(a triage.Alternative) string {
	if a.State == "no-change" {
		return "not asked"
	}
	return a.State
}

// because is the sentence on the alternative without what its state has said already.
func because(a triage.Alternative) string {
	if _, rest, found := strings.Cut(a.Text, " did it is open: "); found && a.State == "open" {
		return rest
	}
	return a.Text
}

// seen is how often the failure was seen, this run included; empty without a history.
func seen(o *triage.Occurrences) string {
	if o == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d in %d days, as %s", o.Count, o.Threshold, o.Days, o.Of)
	if o.Count > o.Threshold {
		text = fmt.Sprintf("%d in %d days (the limit is %d), as %s", o.Count, o.Days, o.Threshold, o.Of)
	}
	if !o.First.IsZero() {
		text += ", first on " + o.First.UTC().Format("2006-01-02")
	}
	switch {
	case o.Escalated && o.Owner != "":
		text += "; must be escalated to " + o.Owner
	case o.Escalated:
		text += "; must be escalated, and no owner is known"
	}
	return text
}

// aborted says that a run did not get to its end; empty if it did.
func aborted(a *triage.Aborted) string {
	if a == nil {
		return ""
	}
	text := a.Reason + ": " + a.Text
	if a.Expected > 0 {
		text += fmt.Sprintf(" (%d of %d expected scenarios)", a.Found, a.Expected)
	}
	return text
}

// change is the change under test in one sentence; empty if there is none.
func change(c *triage.Change) string {
	if c == nil {
		return ""
	}
	text := plural(c.Files, "file", "files")
	switch {
	case !c.Mapped:
		text += "; no map says which components they belong to"
	case len(c.Components) == 0:
		text += " of no component"
	default:
		text += " in " + strings.Join(c.Components, ", ")
	}
	if len(c.Unmapped) > 0 {
		text += "; in no component: " + strings.Join(c.Unmapped, ", ")
	}
	return text
}

// known is a signature in one sentence.
func known(s triage.Signature) string {
	text := fmt.Sprintf("%s (%s), shown by %s and %d that pass", s.Title, s.ID,
		plural(s.Failures, "failure", "failures"), s.Passing)
	if s.Expired {
		text += "; expired on " + s.ValidUntil + " and no longer decides"
	}
	if s.Owner != "" {
		text += "; owner " + s.Owner
	}
	return text
}

// place is a file with its line.
func place(file string, line int) string {
	if line > 0 && file != "" {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}

// compact is the thresholds in one paragraph.
func compact(thresholds []triage.Threshold) string {
	texts := make([]string, 0, len(thresholds))
	for _, t := range thresholds {
		texts = append(texts, t.Name+" "+t.Value)
	}
	return strings.Join(texts, " · ")
}

// figures is a candidate's 2×2 in one sentence.
func figures(c triage.Candidate) string {
	return fmt.Sprintf("%d of %d failed (%s), %d of %d without it (%s); risk ratio %s [%s, %s], p %s",
		c.FailedWith, c.FailedWith+c.PassedWith, percent(c.RateWith.Estimate),
		c.FailedWithout, c.FailedWithout+c.PassedWithout, percent(c.RateWithout.Estimate),
		number(c.RiskRatio.Estimate), number(c.RiskRatio.Lower), number(c.RiskRatio.Upper), probability(c.LogP))
}
