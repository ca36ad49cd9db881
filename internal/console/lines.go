package console

import (
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// shownText is how much of a text of others is on a line, in columns.
const shownText = 2000

// Lines tells a run line by line: nothing moves the cursor, and nothing has a colour. Where the host has groups, each
// step is one.
type Lines struct {
	mu     sync.Mutex
	now    func() time.Time
	usual  map[string]time.Duration
	groups groups
	steps  map[string]*lineStep
}

// lineStep is what is known of a step that was begun.
type lineStep struct {
	began, told time.Time
	text        string
}

// NewLines writes to an output each line as it is: what the host obeys is ours alone, what it would obey in texts of
// others is taken out.
func NewLines(out io.Writer, title string, now func() time.Time, host Host) *Lines {
	l := &Lines{now: now, steps: map[string]*lineStep{}}
	// An output that can't be written stops no run: the journal is the record.
	l.groups = groups{host: host, write: func(line string) { _, _ = io.WriteString(out, line) }}
	l.groups.put(l.text(l.now(), "", title))
	return l
}

// Say tells a sentence of the command line's own.
func (l *Lines) Say(at time.Time, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups.put(l.text(at, "", text))
}

// Arrange does nothing: lines have no picture.
func (l *Lines) Arrange([][]string) {}

// Recall says what an earlier process did.
func (l *Lines) Recall(history *journal.History) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var done []string
	for _, step := range history.Steps() {
		if step.Finished() {
			done = append(done, step.Name)
		}
	}
	if len(done) > 0 {
		l.groups.put(l.text(l.now(), "", "done before: "+strings.Join(done, ", ")))
	}
}

// Expect has steps say how long they usually take.
func (l *Lines) Expect(usual map[string]time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usual = usual
}

// Close closes what groups are open.
func (l *Lines) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.groups.close()
}

// Watch tells an event.
func (l *Lines) Watch(event engine.Event) { l.part("", event) }

// Part tells the events of a run that is a part of this one.
func (l *Lines) Part(name string) func(engine.Event) {
	return func(event engine.Event) { l.part(name+"/", event) }
}

func (l *Lines) part(of string, event engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of != "" && event.Step == "" {
		event.Step = "run"
	}
	key := of + event.Step
	switch event.Kind {
	case engine.RunBegan:
		l.tell(key, event, fmt.Sprintf("run %s %s", event.Run, event.Text))
	case engine.PlanMade:
		l.groups.end(of + guards)
		l.tell(key, event, fmt.Sprintf("plan made: %d steps, digest %s", len(event.Plan.Steps), event.Plan.Digest))
	case engine.ApprovalAsked:
		l.tell(key, event, "waiting for the approval of plan "+event.Plan.Digest)
	case engine.ApprovalUsed:
		l.tell(key, event, joined("plan approved", event.Text))
	case engine.Found:
		l.found(of, event)
	case engine.StepBegan, engine.StepMoved, engine.StepEnded, engine.Waiting:
		l.groups.end(of + guards)
		l.step(key, event)
	case engine.Warning:
		l.marked(key, event, warning, "warning: "+event.Text)
	case engine.RollbackBegan:
		l.marked(key, event, warning, joined("taking back what was done", event.Text))
	case engine.ChecksBegan:
		l.groups.begin(of+checks, strings.TrimPrefix(of+checks, "/"))
	case engine.RunEnded:
		l.ended(of, event)
	}
}

// guards and checks are groups of findings.
const guards, checks = "guards", "checks"

// found tells a finding. Before a step, what holds was told already.
func (l *Lines) found(of string, event engine.Event) {
	step := strings.TrimSuffix(event.Step, "/")
	key := of + event.Step
	switch step {
	case "start", "", "resume", "run":
		key = of + guards
		l.groups.begin(key, l.clean(key))
	case checks:
		key = of + checks
	default:
		if event.Finding.Answer == runbook.AnswerHolds {
			return
		}
	}
	text := fmt.Sprintf("%s %s: %s", event.Finding.Guard, event.Finding.Answer, event.Finding.Reason)
	if event.Finding.Override != "" {
		text += " (overridden: " + event.Finding.Override + ")"
	}
	if event.Finding.Passes() {
		l.tell(key, event, text)
		return
	}
	l.tellWrong(key, event, text)
}

// step tells what a step is at.
func (l *Lines) step(key string, event engine.Event) {
	step := l.steps[key]
	if step == nil {
		step = &lineStep{began: event.At}
		l.steps[key] = step
		l.groups.begin(key, l.clean(key))
	}
	switch event.Kind {
	case engine.StepBegan:
		text := joined("began", event.Text)
		if event.Attempt > 1 {
			text = joined(fmt.Sprintf("attempt %d began", event.Attempt), event.Text)
		}
		if usual := l.usual[key]; usual > 0 {
			text += " (usually about " + about(usual) + ")"
		}
		l.tell(key, event, text)
	case engine.Waiting:
		l.tell(key, event, joined("waiting", event.Text))
	case engine.StepMoved:
		l.moved(key, step, event)
	case engine.StepEnded:
		l.over(key, step, event)
	default: // no other event comes here
	}
}

// moved tells how far a step is when that is news, and not too often.
func (l *Lines) moved(key string, step *lineStep, event engine.Event) {
	if event.Progress.Text == step.text || event.At.Sub(step.told) < every && !step.told.IsZero() {
		return
	}
	step.told, step.text = event.At, event.Progress.Text
	l.tell(key, event, event.Progress.Text)
}

func (l *Lines) over(key string, step *lineStep, event engine.Event) {
	delete(l.steps, key)
	result := event.Result
	text := string(result.Result) + " after " + span(event.At.Sub(step.began))
	if result.Result == journal.Skipped || result.Observed {
		text = string(result.Result)
	}
	if result.Observed {
		text += ", already so"
	}
	said := joined(text, result.Reason)
	switch result.Result {
	case journal.Done, journal.Skipped:
		l.tell(key, event, said)
		l.groups.end(key)
	case journal.Unknown:
		l.tellWrong(key, event, said)
		l.groups.end(key, l.groups.host.mark(warning, l.clean(key), l.clean("not known to be done: "+result.Reason)))
	default:
		l.tellWrong(key, event, said)
		l.groups.end(key, l.groups.host.mark(failure, l.clean(key), l.clean(joined("failed", result.Reason))))
	}
}

// ended tells how a run ended, in no group.
func (l *Lines) ended(of string, event engine.Event) {
	maps.DeleteFunc(l.steps, func(key string, _ *lineStep) bool { return strings.HasPrefix(key, of) })
	if of == "" {
		l.groups.close()
	} else {
		l.groups.end(of + guards)
		l.groups.end(of + checks)
	}
	verdict := event.Verdict
	text := joined(string(verdict.Outcome), verdict.Reason)
	if verdict.Question != "" {
		text += " Question: " + verdict.Question
	}
	l.tell(of, event, text)
	if of != "" {
		return // the whole says how it ended
	}
	severity := failure
	switch verdict.Outcome {
	case runbook.Remediated, runbook.RolledOut, runbook.NothingToDo:
		severity = notice
	case "":
		return
	case runbook.Deferred:
		severity = warning
	default: // failed, or nobody knows
	}
	title := strings.TrimSpace("run " + event.Run)
	l.groups.put(l.groups.host.mark(severity, l.clean(title), l.clean(text)))
}

// marked tells what the host shows above the log too.
func (l *Lines) marked(key string, event engine.Event, of severity, text string) {
	l.tellWrong(key, event, text)
	l.groups.wrong(key, l.groups.host.mark(of, l.clean(key), l.clean(text)))
}

// tellWrong tells what is wrong: no bound leaves it out.
func (l *Lines) tellWrong(key string, event engine.Event, text string) {
	l.groups.wrong(key, l.text(event.At, strings.TrimSuffix(key, "/"), text))
}

func (l *Lines) tell(key string, event engine.Event, text string) {
	l.groups.line(key, l.text(event.At, strings.TrimSuffix(key, "/"), text))
}

// text is a line that a host obeys nothing in: it begins with a time.
func (l *Lines) text(at time.Time, about, text string) string {
	if about != "" {
		text = about + ": " + text
	}
	return at.UTC().Format(time.TimeOnly) + "  " + l.host(l.clean(text))
}

// host is a text in which the host finds no command.
func (l *Lines) host(text string) string {
	if l.groups.host == NoHost {
		return text
	}
	return inert(text)
}

// clean is what every text of others goes through.
func (l *Lines) clean(text string) string { return cut(redacted(text), shownText) }
