package postmortem

import (
	"fmt"
	"time"

	"salve/internal/triage"
	"salve/runbook"
)

func candidate(source Source, format string, args ...any) Item {
	return Item{Kind: Candidate, Text: line(format, args...), Sources: []Source{source}}
}

func (s *story) wentWell() []Item {
	list := items(Candidate, "A guard stopped what was not safe to do: ", s.facts.refusals)
	for _, m := range s.facts.resumptions {
		if run, ok := s.run(m.run); ok && runbook.Outcome(run.State).Successful() {
			list = append(list, candidate(m.source, "The run was resumed from its journal and came to its end: %s", m.text))
		}
	}
	for _, m := range s.facts.undoneTo {
		list = append(list, candidate(m.source, "A run that failed took back what it had done (%s): %s",
			s.undone(m.run), m.text))
	}
	for _, run := range s.runs {
		if runbook.Outcome(run.State).Successful() && s.follows(run) {
			list = append(list, candidate(run.source(), "Run %s ended %s within %s.", run.Run, run.State,
				span(run.Last.Sub(run.Opened))))
		}
	}
	return append(list, question("What else went well? Keep, reword or delete the candidates."))
}

func (s *story) undone(run string) string {
	n := 0
	for _, m := range s.facts.undone {
		if m.run == run {
			n++
		}
	}
	if n == 1 {
		return "1 step of undoing done"
	}
	return fmt.Sprintf("%d steps of undoing done", n)
}

func (s *story) run(name string) (Run, bool) {
	for _, run := range s.runs {
		if run.Run == name {
			return run, true
		}
	}
	return Run{}, false
}

// slow is from when a gap is worth a line.
const slow = time.Minute

func (s *story) wentPoorly() []Item {
	var list []Item
	if onset, noticed, gap, found := s.gap(); found && gap >= slow {
		list = append(list, Item{Kind: Candidate, Sources: []Source{onset.Source, noticed.Source},
			Text: line("It was noticed %s after the first sign in the record.", span(gap))})
	}
	list = append(list, items(Candidate, "A person passed over a guard: ", s.facts.overrides)...)
	list = append(list, items(Candidate, "A guard could not see: ", s.facts.unknowns)...)
	list = append(list, s.attemptsGone()...)
	list = append(list, items(Candidate, "The run had to wait for an operator: ", s.facts.parks)...)
	list = append(list, items(Candidate, "The run warned: ", s.facts.warnings)...)
	return append(list, question("What else went poorly? Each line that stays needs an action item."))
}

// attemptsGone are attempts that failed, were made again, or took longer than they were to.
func (s *story) attemptsGone() []Item {
	type gone struct {
		failed, tries int
		last          Span
	}
	steps, order := map[string]*gone{}, []string{}
	var list []Item
	for _, one := range s.chart.Spans {
		if one.Kind != Attempt || !s.options.within(one.Began) {
			continue
		}
		if one.OverBudget() && len(list) < listRoom {
			list = append(list, candidate(one.Source, "Step %s took %s, its budget is %s.", one.Step, seconds(one), budget(one)))
		}
		key := one.Run + " " + one.Step
		if steps[key] == nil {
			steps[key] = &gone{}
			order = append(order, key)
		}
		g := steps[key]
		g.tries++
		if one.Result == "failed" || one.Result == "unknown" {
			g.failed, g.last = g.failed+1, one
		}
	}
	for _, key := range order {
		if g := steps[key]; g.failed > 0 && len(list) < 2*listRoom {
			list = append(list, candidate(g.last.Source,
				"Step %s failed or was not known to be done in %d of %s: %s", g.last.Step,
				g.failed, attempts(g.tries), g.last.Reason))
		}
	}
	return list
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

func budget(s Span) string { return span(time.Duration(s.BudgetSeconds * float64(time.Second))) }

// gotLucky offers only what the record shows: a run that failed before its point of no return could still undo.
func (s *story) gotLucky() []Item {
	var list []Item
	for _, m := range s.facts.undoneTo {
		passed := false
		for _, one := range s.facts.irreversible {
			passed = passed || one.run == m.run
		}
		if !passed {
			list = append(list, candidate(m.source,
				"Run %s failed before its point of no return, so that it could be undone.", m.run))
		}
	}
	return append(list, question("Where did we get lucky?"))
}

func (s *story) actionItems() []Item {
	var list []Item
	add := func(source Source, format string, args ...any) {
		for _, one := range list {
			if one.Text == line(format, args...) {
				return
			}
		}
		if len(list) < listRoom {
			list = append(list, candidate(source, format, args...))
		}
	}
	for _, w := range s.facts.watch {
		if w.raised() && w.mend != "" {
			add(w.source, "%s: %s", w.rule, w.mend)
		}
	}
	for _, file := range s.facts.triage {
		for _, group := range file.Document.Groups {
			if group.Action != "" && group.Verdict != triage.Passed {
				add(Source{Kind: FromTriage, Of: file.Name, Detail: clean(group.Key, 64)}, "%s", group.Action)
			}
		}
	}
	for _, m := range s.facts.unknowns {
		add(m.source, "let this be seen: %s", m.text)
	}
	for _, m := range s.facts.overrides {
		add(m.source, "make the override unnecessary: %s", m.text)
	}
	for _, one := range s.chart.Spans {
		if one.OverBudget() {
			add(one.Source, "find out why step %s took longer than its budget of %s, or raise that", one.Step, budget(one))
		}
	}
	return append(list, question("Which action items follow, each with an owner and a link?"))
}
