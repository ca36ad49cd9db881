package replay

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
	"salve/internal/triage/decision"
)

// Group is one group's verdict, then and now.
type Group struct {
	Key      string `json:"key"`
	Message  string `json:"message"`
	Failures int    `json:"failures"`
	State    State  `json:"state"`
	// Recorded and Now are absent where the failures were, or are, no group of their own, and Now where it is lacking.
	Recorded *Brief `json:"recorded,omitempty"`
	Now      *Brief `json:"now,omitempty"`
	// First is the first rule that comes out different; absent where none does.
	First *Difference `json:"first,omitempty"`
	// Because is the first threshold that alone makes the difference; absent where it takes several, or none changed and
	// the program itself decides otherwise.
	Because *Change `json:"because,omitempty"`
	// Lacks is what the record does not have.
	Lacks string `json:"lacks,omitempty"`
}

// Difference is what a rule came to, then and now.
type Difference struct {
	Rule string `json:"rule"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s → %s", d.Rule, d.Old, d.New) }

func groupOf(g *decision.Group, message string) Group {
	return Group{Key: g.Key, Message: message, Failures: g.Failures}
}

func brief(g *decision.Group) *Brief { return &Brief{g.Verdict, g.Confidence} }

// changed says whether a reader wants to know why.
func (g *Group) changed() bool { return g.State == Diverged || g.State == Reworded }

// like says whether another replay of the group comes to the same: the verdict, or else the first rule.
func (g *Group) like(other Group) bool {
	switch {
	case g.State == Diverged:
		return other.State == Diverged && (g.Now == nil && other.Now == nil ||
			g.Now != nil && other.Now != nil && g.Now.Verdict == other.Now.Verdict)
	case g.First == nil || other.First == nil:
		return false
	}
	return *g.First == *other.First
}

// reason is a sentence on a group that is not the same.
func (g *Group) reason() string {
	if g.State == Unreplayable {
		return fmt.Sprintf("group %s: unreplayable(%s)", g.Key, g.Lacks)
	}
	text := fmt.Sprintf("group %s: %s → %s%s", g.Key, g.Recorded.words(), g.Now.words(), because(g.Because))
	if g.First != nil {
		text += fmt.Sprintf("; first different: %s", g.First)
	}
	return text
}

func (b *Brief) words() string {
	if b == nil {
		return "no group"
	}
	return string(b.Verdict)
}

// comparison is a recorded decision beside the one that is made now.
type comparison struct {
	said, now decision.Decision
	ways      []decision.Way
}

// groups compares each recorded group, and then those that only are there now.
func (c comparison) groups() []Group {
	groups := []Group{}
	for i := range c.said.Groups {
		then := &c.said.Groups[i]
		now := find(c.now.Groups, then.Key)
		g := groupOf(then, c.message(then))
		switch {
		case now == nil:
			g.moved(then, holding(c.now.Groups, then))
		default:
			g.compare(then, now)
		}
		groups = append(groups, g)
	}
	for i := range c.now.Groups {
		now := &c.now.Groups[i]
		if find(c.said.Groups, now.Key) == nil {
			g := groupOf(now, c.message(now))
			g.split(holding(c.said.Groups, now), now)
			groups = append(groups, g)
		}
	}
	return groups
}

func (c comparison) message(g *decision.Group) string {
	if len(g.Ways) > 0 && g.Ways[0] >= 0 && g.Ways[0] < len(c.ways) {
		return c.ways[g.Ways[0]].Message
	}
	return ""
}

func find(groups []decision.Group, key string) *decision.Group {
	if i := slices.IndexFunc(groups, func(g decision.Group) bool { return g.Key == key }); i >= 0 {
		return &groups[i]
	}
	return nil
}

// holding is the group that has another one's first way of failing.
func holding(groups []decision.Group, of *decision.Group) *decision.Group {
	i := slices.IndexFunc(groups, func(g decision.Group) bool {
		return len(of.Ways) > 0 && slices.Contains(g.Ways, of.Ways[0])
	})
	if i < 0 {
		return nil
	}
	return &groups[i]
}

func (g *Group) compare(then, now *decision.Group) {
	g.Recorded = brief(then)
	if now.Lacks != "" {
		g.State, g.Lacks = Unreplayable, now.Lacks
		return
	}
	g.Now = brief(now)
	if first := difference(then, now); first.Rule != "" {
		g.First = &first
	}
	switch {
	case then.Verdict != now.Verdict:
		g.State = Diverged
	case g.First != nil:
		g.State = Reworded
	default:
		g.State = Same
	}
}

// moved is a group that is part of another one now.
func (g *Group) moved(then, into *decision.Group) {
	g.Recorded, g.State = brief(then), Diverged
	if into == nil { // the record is not of this evidence
		return
	}
	g.First = &Difference{"group", "its own", "part of " + into.Key}
	switch {
	case into.Lacks != "":
		g.State, g.Lacks = Unreplayable, into.Lacks
	case into.Verdict == then.Verdict:
		g.Now, g.State = brief(into), Reworded
	default:
		g.Now = brief(into)
	}
}

// split is a group that was part of another one.
func (g *Group) split(from, now *decision.Group) {
	g.State = Diverged
	if from != nil {
		g.Recorded = brief(from)
		g.First = &Difference{"group", "part of " + from.Key, "its own"}
	}
	switch {
	case now.Lacks != "":
		g.State, g.Lacks = Unreplayable, now.Lacks
	case from != nil && from.Verdict == now.Verdict:
		g.Now, g.State = brief(now), Reworded
	default:
		g.Now = brief(now)
	}
}

// run compares the verdicts on the run.
func (c comparison) run() Run {
	r := Run{State: Same, Recorded: Brief{c.said.Verdict, c.said.Confidence}}
	switch {
	case c.now.Lacks != "":
		r.State, r.Lacks = Unreplayable, c.now.Lacks
		return r
	case c.said.Verdict != c.now.Verdict:
		r.State = Diverged
	}
	r.Now = &Brief{c.now.Verdict, c.now.Confidence}
	return r
}

// difference is the first rule that comes out different, in the order in which they come to bear; a zero one for none.
func difference(then, now *decision.Group) Difference {
	for _, d := range append(rules(then, now),
		Difference{"verdict", string(then.Verdict), string(now.Verdict)},
		Difference{"confidence", string(then.Confidence), string(now.Confidence)},
	) {
		if d.Old != d.New {
			return d
		}
	}
	return Difference{}
}

// rules are what the rules came to, of groups that are kept whole.
func rules(then, now *decision.Group) []Difference {
	if then.Cause.State == "" { // one of very many
		return nil
	}
	all := []Difference{
		{"ways of failing", fmt.Sprint(len(then.Ways)), fmt.Sprint(len(now.Ways))},
		{"signature that decides", orNone(then.Decisive), orNone(now.Decisive)},
		{"flakiness", string(then.Flakiness), string(now.Flakiness)},
		{"cause", causes(then.Cause), causes(now.Cause)},
		{"cause state", then.Cause.State, now.Cause.State},
	}
	for i, check := range then.Alternative.Checks {
		if i < len(now.Alternative.Checks) {
			again := now.Alternative.Checks[i]
			all = append(all, Difference{"this change? " + check.Name, string(check.Stance), string(again.Stance)})
		}
	}
	return append(all,
		Difference{"this change?", then.Alternative.State, now.Alternative.State},
		Difference{"baseline", string(then.Baseline.Answer), string(now.Baseline.Answer)},
		Difference{"escalated", escalated(then.Occurrences), escalated(now.Occurrences)},
	)
}

func causes(c triage.Cause) string {
	var names []string
	for _, candidate := range c.Candidates {
		value := candidate.Value
		if value == "" {
			value = "(unknown)"
		}
		names = append(names, candidate.Attribute+"="+value)
	}
	return orNone(strings.Join(names, " and "))
}

func escalated(o *triage.Occurrences) string {
	if o != nil && o.Escalated {
		return "yes"
	}
	return "no"
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
