package show

import (
	"fmt"
	"slices"
	"strings"
)

// part is one piece of a comment in its forms, from the fullest to the shortest.
type part struct {
	forms []form
	form  int // which of them is written
}

// form is a text, and what it leaves out of what the fullest form says.
type form struct {
	text string
	left tally
}

// tally counts what was left out.
type tally struct {
	examples, scenarios, evidence, tables, texts, thresholds, remarks, groups, failures int
}

// plus is both together; times is -1 to take the other one off.
func (t tally) plus(other tally, times int) tally {
	return tally{
		examples: t.examples + times*other.examples, scenarios: t.scenarios + times*other.scenarios,
		evidence: t.evidence + times*other.evidence, tables: t.tables + times*other.tables,
		texts: t.texts + times*other.texts, thresholds: t.thresholds + times*other.thresholds,
		remarks: t.remarks + times*other.remarks, groups: t.groups + times*other.groups,
		failures: t.failures + times*other.failures,
	}
}

// String says what was left out; empty if nothing was.
func (t tally) String() string {
	var said []string
	say := func(count int, one, many string) {
		if count > 0 {
			said = append(said, plural(count, one, many))
		}
	}
	say(t.groups, "group", "groups")
	say(t.failures, "of their failures", "of their failures")
	say(t.texts, "group's texts in part", "groups' texts in part")
	say(t.tables, "table", "tables")
	say(t.evidence, "line of evidence", "lines of evidence")
	say(t.examples, "example", "examples")
	say(t.scenarios, "scenario's name", "scenarios' names")
	say(t.remarks, "remark", "remarks")
	say(t.thresholds, "threshold's meaning", "thresholds' meanings")
	return strings.Join(said, ", ")
}

// step is a part that can be brought to one of its shorter forms.
type step struct {
	part *part
	form int
}

// sum is what parts have together as they stand.
type sum struct {
	bytes int
	left  tally
}

func (s *sum) count(p *part, times int) {
	s.bytes += times * len(p.forms[p.form].text)
	s.left = s.left.plus(p.forms[p.form].left, times)
}

// fit joins the parts so that they have at most limit bytes: the steps are taken in their order until they do. What was
// left out is said at the end.
func fit(parts []*part, steps []step, limit int) string {
	var all sum
	for _, p := range parts {
		all.count(p, 1)
	}
	for _, s := range steps {
		if all.bytes+len(all.left.remark(limit)) <= limit {
			break
		}
		if s.form < len(s.part.forms) && s.form > s.part.form {
			all.count(s.part, -1)
			s.part.form = s.form
			all.count(s.part, 1)
		}
	}
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.forms[p.form].text)
	}
	return strings.TrimRight(out.String()+all.left.remark(limit), "\n") + "\n"
}

// remark says what was left out; empty if nothing was.
func (t tally) remark(limit int) string {
	if t == (tally{}) {
		return ""
	}
	return fmt.Sprintf("Left out, for this comment holds %d bytes: %s. The JSON and the HTML have them.\n", limit, t)
}

// plainly is a part of one form.
func plainly(text string) *part { return &part{forms: []form{{text: text}}} }

// optional is a part that can be left out.
func optional(text string, left tally) *part {
	if text == "" {
		return plainly("")
	}
	return &part{forms: []form{{text: text}, {left: left}}}
}

// backwards are the steps that bring parts to a form, the last part first.
func backwards(parts []*part, form int) []step {
	var steps []step
	for _, p := range slices.Backward(parts) {
		steps = append(steps, step{part: p, form: form})
	}
	return steps
}
