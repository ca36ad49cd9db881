package decision

import (
	"slices"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/alternative"
	"salve/internal/triage/history"
)

// Past is what was asked about earlier runs, with the answers.
type Past struct {
	Now     time.Time `json:"now"` // when it was asked
	History State     `json:"history"`
	// Hours is how far back runs of other changes were asked for.
	Hours int `json:"hours"`
	// Runs are the answers about other changes, Occurrences those about all runs.
	Runs        []Answer      `json:"runs"`
	Occurrences []Occurrences `json:"occurrences"`
	Sizes       *Sizes        `json:"sizes"` // null without a history
	// Omitted says why answers are left out; empty if none is.
	Omitted string `json:"omitted,omitempty"`
}

// lacks says which answer is not there, and why if that is known.
func (p Past) lacks(format string, values ...any) error {
	if p.Omitted != "" {
		format, values = format+" (%s)", append(values, p.Omitted)
	}
	return lacks(format, values...)
}

// State is whether there is a history, and what it can be asked.
type State string

// No history is not an empty one.
const (
	NoHistory     State = "none"
	ChangeUnknown State = "change-unknown" // which change is under test isn't known: no run counts as one of another
	Asked         State = "asked"
)

// Question is what other changes' runs are asked: in how many of them a group failed, on some of the scenarios.
type Question struct {
	Ways      []int  `json:"ways"`
	Signature string `json:"signature"` // one that stands for the group; empty for none
	// MayReach asks about the scenarios that may run what the change touches, Without those that have one of these values,
	// instead of the group's failures.
	MayReach bool     `json:"mayReach"`
	Without  []string `json:"without"`
}

func (q Question) equal(other Question) bool {
	return slices.Equal(q.Ways, other.Ways) && q.Signature == other.Signature && q.MayReach == other.MayReach &&
		slices.Equal(q.Without, other.Without)
}

// Answer is what the runs show, the oldest first, those of the baseline last.
type Answer struct {
	Question Question `json:"question"`
	Spans    []Span   `json:"spans"`
}

// Span is one run in which scenarios in question failed so, or several, one after the other within an hour, in which
// none did.
type Span struct {
	Hours  int    `json:"hours"` // whole ones, before Past.Now; -1: a run of the baseline, which has no time
	Runs   int    `json:"runs"`
	Change string `json:"change,omitempty"` // of one in which they failed
	// At is when it ran, of one in which they failed; null where the run has no time.
	At     *time.Time `json:"at,omitempty"`
	Failed int        `json:"failed,omitempty"`
	Of     int        `json:"of"` // scenarios
	// Otherwise are, of each run of a span without such failures that has any, the scenarios in question that failed in
	// another way.
	Otherwise []int `json:"otherwise,omitempty"`
}

// Occurrences are the runs with a signature, or with a group, this one included.
type Occurrences struct {
	Key       string `json:"key"`
	Signature string `json:"signature"`
	// Rule is what was asked, and what follows is the answer.
	Rule      Rule      `json:"rule"`
	Count     int       `json:"count"`
	Escalated bool      `json:"escalated"`
	First     time.Time `json:"first"`
	// Times are those of all of them, to ask by another rule; null if there are too many.
	Times []time.Time `json:"times"`
}

// Rule is when somebody must be told.
type Rule struct {
	Count int `json:"count"`
	Days  int `json:"days"`
	Calm  int `json:"calm"`
}

// MaxTimes is how many times of occurrences are recorded.
const MaxTimes = 50

// Sizes are how many scenarios earlier runs of the job had, in some days.
type Sizes struct {
	Days   int `json:"days"`
	Runs   int `json:"runs"`
	Fewest int `json:"fewest"` // 0 without a run
}

// prior is what runs of other changes show about one group.
type prior struct {
	runs, seen, otherwise int
	first                 time.Time
	rates                 []alternative.Rate
}

// before answers a question about a number of scenarios.
func (e Evidence) before(q Question, scenarios int, t triage.Thresholds) (prior, error) {
	var p prior
	if !e.asked() {
		return p, nil
	}
	if e.Past.History == Asked && t.BaselineHours > e.Past.Hours {
		return p, lacks("runs of other changes of more than %d h before", e.Past.Hours)
	}
	at := slices.IndexFunc(e.Past.Runs, func(a Answer) bool { return a.Question.equal(q) })
	if at < 0 {
		return p, e.Past.lacks("what runs of other changes show of %s", e.about(q))
	}
	var changes []string
	for _, span := range e.Past.Runs[at].Spans {
		if span.Hours >= t.BaselineHours {
			continue
		}
		p.runs += span.Runs
		p.rates = append(p.rates, alternative.Rate{Change: span.Change, Failed: span.Failed, Of: span.Of})
		for _, failed := range span.Otherwise {
			p.otherwise += one(float64(failed) >= t.OtherReason*float64(scenarios))
		}
		if span.Failed == 0 {
			continue
		}
		changes = union(changes, []string{span.Change})
		if span.At != nil && (p.first.IsZero() || span.At.Before(p.first)) {
			p.first = *span.At
		}
	}
	p.seen = len(changes)
	return p, nil
}

// asked says whether there was anybody to ask about runs of other changes.
func (e Evidence) asked() bool {
	return e.Past.History == Asked || slices.ContainsFunc(e.Observed.Baselines, func(n *int) bool { return n != nil })
}

func (e Evidence) about(q Question) string {
	text := "group " + e.Observed.Ways[q.Ways[0]].Key
	if len(q.Ways) > 1 {
		text += " together with others"
	}
	if q.Signature != "" {
		text += " by signature " + q.Signature
	}
	if q.MayReach {
		text += ", on scenarios that may run the change"
	}
	return text
}

// occurrences are of the signature that decides, or else of the group.
func (e Evidence) occurrences(
	key string, decisive *triage.Signature, t triage.Thresholds,
) (*triage.Occurrences, error) {
	if e.Past.History == NoHistory {
		return nil, nil //nolint:nilnil // without a history nothing was counted
	}
	rule, id, owner := Rule{t.EscalateAt, t.EscalateDays, t.CalmBelow}, "", ""
	if decisive != nil {
		id, owner = decisive.ID, decisive.Owner
		rule = e.Observed.rule(id, rule)
	}
	at := slices.IndexFunc(e.Past.Occurrences, func(o Occurrences) bool { return o.Key == key && o.Signature == id })
	if at < 0 {
		return nil, e.Past.lacks("in how many runs %s was seen", or(id, key))
	}
	counted := e.Past.Occurrences[at]
	if counted.Rule != rule {
		if counted.Times == nil {
			return nil, lacks("when %s was seen: it was more than %d times", or(id, key), MaxTimes)
		}
		again := history.Rule{At: rule.Count, Days: rule.Days, Below: rule.Calm}.Escalation(counted.Times, e.Past.Now)
		counted.Count, counted.Escalated = again.Count, again.Escalated
	}
	return &triage.Occurrences{
		Of: or(id, key), Count: counted.Count, Threshold: rule.Count, Days: rule.Days, First: counted.First,
		Escalated: counted.Escalated, Owner: owner,
	}, nil
}

// RuleOf is when somebody must be told of a group with a signature that decides, or with none.
func (o Observed) RuleOf(signature string, t triage.Thresholds) Rule {
	return o.rule(signature, Rule{t.EscalateAt, t.EscalateDays, t.CalmBelow})
}

// rule is that of a signature, or else the general one.
func (o Observed) rule(signature string, general Rule) Rule {
	for _, s := range o.Signatures {
		if s.ID == signature && s.Escalation != nil {
			return Rule{s.Escalation.Count, s.Escalation.Days, min(general.Calm, s.Escalation.Count-1)}
		}
	}
	return general
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
