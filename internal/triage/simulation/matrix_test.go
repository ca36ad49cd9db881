package simulation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"salve/internal/triage"
)

// matrix counts verdicts by kind of run and cause.
type matrix struct {
	rows   map[string]map[triage.Verdict]int
	order  []string
	scores []score

	answers, right, undecided, wrong int
	knowable, knowableUndecided      int
	high, highRight                  int
}

func newMatrix(scores []score) *matrix {
	m := &matrix{rows: map[string]map[triage.Verdict]int{}, scores: scores}
	for _, s := range scores {
		for _, a := range s.answers {
			row := fmt.Sprintf("%-16s %s", s.kind, a.about)
			if a.about != "whole" && !a.knowable {
				row += " (not knowable)"
			}
			if m.rows[row] == nil {
				m.rows[row] = map[triage.Verdict]int{}
				m.order = append(m.order, row)
			}
			m.rows[row][a.verdict]++
			m.count(a)
		}
	}
	slices.Sort(m.order)
	return m
}

func (m *matrix) count(a answer) {
	m.answers++
	switch {
	case a.right:
		m.right++
	case a.undecided:
		m.undecided++
	default:
		m.wrong++
	}
	if a.knowable {
		m.knowable++
		if a.undecided {
			m.knowableUndecided++
		}
	}
	if a.confidence == triage.High {
		m.high++
		if a.right {
			m.highRight++
		}
	}
}

func (m *matrix) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-46s", "")
	for _, v := range triage.Verdicts() {
		fmt.Fprintf(&out, "%21s", v)
	}
	out.WriteByte('\n')
	for _, row := range m.order {
		fmt.Fprintf(&out, "%-46s", row)
		for _, v := range triage.Verdicts() {
			fmt.Fprintf(&out, "%21d", m.rows[row][v])
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%d runs, %d answers: %d right, %d undecided, %d wrong; %d knowable, of which %d undecided; "+
		"%d high, of which %d right\n", len(m.scores), m.answers, m.right, m.undecided, m.wrong, m.knowable,
		m.knowableUndecided, m.high, m.highRight)
	return out.String()
}

// check holds the matrix against what issue 13 asks for.
func (m *matrix) check(t *testing.T) {
	for _, s := range m.scores {
		at := fmt.Sprintf("seed %d, %s", s.seed, s.kind)
		for _, text := range s.blamed {
			t.Errorf("%s: an innocent change is blamed: %s", at, text)
		}
		for _, text := range s.waved {
			t.Errorf("%s: a regression is waved through: %s", at, text)
		}
		if s.unmarked {
			t.Errorf("%s: it was aborted, and the document doesn't say so", at)
		}
		for _, a := range s.answers {
			switch {
			case !a.right && !a.undecided:
				t.Logf("%s: %s is wrong: %s (%s): %s", at, a.about, a.verdict, a.confidence, a.text)
			case a.knowable && a.undecided:
				t.Logf("%s: %s is undecided: %s", at, a.about, a.text)
			}
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	if got := share(m.wrong, m.answers); got > 0.03 {
		t.Errorf("%.1f %% of answers are wrong", 100*got)
	}
	if got := share(m.knowableUndecided, m.knowable); got > 0.08 {
		t.Errorf("%.1f %% of what can be known is undecided", 100*got)
	}
	if got := share(m.highRight, m.high); m.high > 0 && got < 0.99 {
		t.Errorf("%.1f %% of what is highly confident is right", 100*got)
	}
}
