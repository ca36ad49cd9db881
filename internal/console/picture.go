package console

import (
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// picture is what is known of a run from its events. It changes only in take,
// and only by what it is told.
type picture struct {
	title  string
	run    string
	began  time.Time
	guards []runbook.Finding
	steps  []*row
	// waves are the steps of a pipeline by what can run at once; nil for a runbook.
	waves    [][]string
	byName   map[string]*row
	checks   []runbook.Finding
	checking bool
	undoing  string
	warnings []string
	said     []string
	verdict  *journal.Verdict
	ended    time.Time
	// nodes are the pools of which something was seen, in the order in which they were.
	nodes []runbook.PoolNodes
	// usual is how long steps usually take; empty where that is not known.
	usual map[string]time.Duration
}

// row is a step's line.
type row struct {
	name     string
	noReturn bool
	undo     bool
	begun    bool
	began    time.Time
	ended    time.Time
	attempt  int
	progress runbook.Progress
	result   *journal.Result
}

func (p *picture) take(event engine.Event) {
	p.pools(event)
	switch event.Kind {
	case engine.RunBegan:
		p.run, p.began = event.Run, event.At
		if event.Text == "resumed" {
			p.said = append(p.said, "an open run of this target is resumed")
		}
	case engine.Found:
		p.found(event)
	case engine.PlanMade:
		for _, step := range event.Plan.Steps {
			p.row(step.Name).noReturn = step.Irreversible
		}
	case engine.Warning:
		p.warnings = append(p.warnings, event.Text)
	case engine.RollbackBegan:
		p.undoing = event.Text
	case engine.ChecksBegan:
		p.checking = true
	case engine.RunEnded:
		p.verdict, p.ended = event.Verdict, event.At
	default:
		p.moved(event)
	}
}

func (p *picture) found(event engine.Event) {
	switch event.Step {
	case "start", "":
		p.guards = put(p.guards, *event.Finding)
	case "checks":
		p.checks = put(p.checks, *event.Finding)
	default:
		if !event.Finding.Passes() {
			p.guards = put(p.guards, *event.Finding)
		}
	}
}

// recall takes what an earlier process did of the run: its plan, and the steps
// that are done.
func (p *picture) recall(history *journal.History) {
	if history.Plan == nil {
		return
	}
	for _, planned := range history.Plan.Steps {
		step := p.row(planned.Name)
		step.noReturn = planned.Irreversible
		if history.Step(planned.Name).Finished() {
			step.result = &journal.Result{Result: journal.Done}
			step.progress.Text = "done before"
		}
	}
}

// put replaces the finding of the same guard, or adds it.
func put(findings []runbook.Finding, finding runbook.Finding) []runbook.Finding {
	for i := range findings {
		if findings[i].Guard == finding.Guard {
			findings[i] = finding
			return findings
		}
	}
	return append(findings, finding)
}

// moved takes the events of a step.
func (p *picture) moved(event engine.Event) {
	if event.Step == "" {
		return
	}
	step := p.row(event.Step)
	switch event.Kind {
	case engine.StepBegan:
		if !step.begun {
			step.began = event.At
		}
		step.begun, step.ended, step.result = true, time.Time{}, nil
		step.attempt, step.progress = event.Attempt, runbook.Progress{Text: event.Text}
	case engine.StepMoved:
		step.progress = *event.Progress
	case engine.StepEnded:
		step.ended, step.result, step.progress = event.At, event.Result, runbook.Progress{}
	case engine.Waiting:
		step.begun, step.ended, step.progress = true, time.Time{}, runbook.Progress{Text: event.Text}
		if step.began.IsZero() {
			step.began = event.At
		}
	default: // no other event is of a step's course
	}
}

func (p *picture) row(name string) *row {
	if step := p.byName[name]; step != nil {
		return step
	}
	if p.byName == nil {
		p.byName = map[string]*row{}
	}
	step := &row{name: name, undo: p.undoing != ""}
	p.steps, p.byName[name] = append(p.steps, step), step
	return step
}
