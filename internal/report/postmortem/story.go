package postmortem

import (
	"fmt"
	"slices"
	"time"

	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// story is what one source tells, or all of them together.
type story struct {
	options Options
	events  []Event
	undated []Undated
	guards  []GuardFinding
	held    []HeldGuard
	chart   Chart
	runs    []Run
	// resumptions, overrides and the like count what the lessons are made of.
	facts facts
	// turns are where clocks run backwards within a record.
	turns []turn
	// outside counts events that the bounds leave out.
	outside int
}

// facts are what the sections are made of, each with its source.
type facts struct {
	refusals, overrides, unknowns, parks, resumptions, warnings, undone, undoneTo []mention
	commands                                                                      []mention
	counts                                                                        []mention
	watch                                                                         []watchFact
	triage                                                                        []TriageFile
	irreversible                                                                  []mention
	questions                                                                     []mention
	torn                                                                          []mention
}

// mention is something that a source says.
type mention struct {
	at     time.Time
	text   string
	run    string
	source Source
	// command and count where they mean something.
	command string
	count   int
}

// add takes an event that lies within the bounds. Alike events that follow each other are one.
func (s *story) add(e Event) bool {
	if !s.options.within(e.At) {
		s.outside++
		return false
	}
	e.Text = clean(e.Text, eventRoom)
	e.At = e.At.UTC()
	if n := len(s.events); n > 0 {
		last := &s.events[n-1]
		if last.Kind == e.Kind && last.Text == e.Text && last.Source.Of == e.Source.Of &&
			last.Source.Detail == e.Source.Detail && !e.At.Before(last.end()) {
			last.Count = max(last.Count, 1) + 1
			last.Until = e.At
			return true
		}
	}
	s.events = append(s.events, e)
	return true
}

// runStory reads one journal.
type runStory struct {
	*story
	history *journal.History
	run     Run
	entry   journal.Entry
	// host is the machine whose clock the entries are timed by.
	host string
	// open are the attempts without an outcome; ended the newest one of each step.
	open  map[string]int
	ended map[string]int
	// deleting are the pools whose deletion a step has sent, and which it has not finished yet.
	deleting map[string][]string
	// parked is when the run began to wait for an operator.
	parked  time.Time
	undoing bool
}

// pipelines have targets of this kind.
const rolloutKind = "rollout"

// readRun tells of a run as far as the bounds reach: what came after them is counted and makes no difference.
func (s *story) readRun(history *journal.History) error {
	whole := len(history.Entries)
	from, to := whole, 0
	for i, entry := range history.Entries {
		if s.options.within(entry.At) {
			from, to = min(from, i), i+1
		}
	}
	if from < to {
		r := s.reader(history, history.Entries[:to])
		s.runs = append(s.runs, r.run)
		s.readTurns(history, r.run)
		s.readTorn(history, r.run)
		spans := len(s.chart.Spans)
		if err := r.read(history.Entries[:to]); err != nil {
			return err
		}
		r.endOpen()
		s.chart.Spans = append(s.chart.Spans[:spans], slices.DeleteFunc(s.chart.Spans[spans:], s.options.before)...)
		if to == whole {
			return nil
		}
	} else {
		to = 0
	}
	rest := &story{options: s.options}
	if err := rest.reader(history, history.Entries).read(history.Entries[to:]); err != nil {
		return err
	}
	s.outside += rest.outside
	return nil
}

// readTorn tells of a record whose last line was torn.
func (s *story) readTorn(history *journal.History, run Run) {
	if !history.Torn {
		return
	}
	source := run.source()
	source.At = len(history.Entries)
	s.facts.torn = append(s.facts.torn, mention{run: run.Run, source: source, text: line(
		"Behind entry %d the record of run %s has a torn line: an entry whose writing was cut short, or is under way. What "+
			"it said is not known.", len(history.Entries), run.Run)})
}

func (s *story) reader(history *journal.History, entries []journal.Entry) *runStory {
	return &runStory{
		story: s, history: history, run: headline(history, entries), host: history.Header.Holder.Host,
		open: map[string]int{}, ended: map[string]int{}, deleting: map[string][]string{},
	}
}

func (r *runStory) read(entries []journal.Entry) error {
	for _, entry := range entries {
		r.entry = entry
		if err := r.take(entry); err != nil {
			return fmt.Errorf("run %s: %w", r.run.Run, err)
		}
	}
	return nil
}

// headline is a run as it stood after the entries.
func headline(history *journal.History, entries []journal.Entry) Run {
	header := history.Header
	first, last := entries[0].At.UTC(), entries[len(entries)-1].At.UTC()
	run := Run{
		Run: clean(header.Run, eventRoom), Pipeline: header.Target.Kind == rolloutKind,
		Runbook: clean(header.Runbook, eventRoom),
		Version: clean(header.Version, eventRoom), Program: clean(header.Program, eventRoom),
		Target: clean(header.Target.Name, eventRoom), Actor: clean(report.Person(header.Holder), eventRoom),
		Command: clean(header.Command, itemRoom),
		Opened:  first, Last: last, Seconds: last.Sub(first).Seconds(),
	}
	switch {
	case len(entries) < len(history.Entries):
		run.cut, run.Reason = true, "at the end of the bounds; its record goes on"
		run.Standing, run.State = standingAfter(entries[len(entries)-1])
		return run
	case history.Closed != nil:
		run.Reason = clean(history.Closed.Reason, eventRoom)
	case history.Parked != nil:
		run.Reason = clean(history.Parked.Reason, eventRoom)
	}
	run.Standing = report.StandingOf(history)
	run.State = run.Standing.String()
	return run
}

// standingAfter is how a run stood whose record goes on after an entry.
func standingAfter(last journal.Entry) (report.Standing, string) {
	standing := report.Standing{Phase: report.PhaseOpen}
	switch last.Kind {
	case journal.Parked:
		standing.WaitsFor = report.ForOperator
		return standing, "open: waits for an operator"
	case journal.Asked:
		standing.WaitsFor = report.ForApproval
	default:
	}
	return standing, standing.String()
}

// source cites the entry at hand.
func (r *runStory) source() Source {
	source := Source{Kind: FromJournal, Of: r.run.Run, At: r.entry.Seq}
	if r.run.Pipeline {
		source.Kind, source.Detail = FromPipeline, clean(r.entry.Step, eventRoom)
	}
	return source
}

// tell adds an event of the entry at hand.
func (r *runStory) tell(kind EventKind, telling bool, format string, args ...any) bool {
	return r.add(Event{
		At: r.entry.At, Kind: kind, Telling: telling, Text: fmt.Sprintf(format, args...), Source: r.source(),
		clock: "host " + r.host, step: r.entry.Step,
	})
}

// mention cites the entry at hand for a section.
func (r *runStory) mention(format string, args ...any) mention {
	return mention{at: r.entry.At.UTC(), text: line(format, args...), run: r.run.Run, source: r.source()}
}

func (r *runStory) take(entry journal.Entry) error {
	switch entry.Kind {
	case journal.Opened:
		return with(entry, r.opened)
	case journal.Resumed:
		return with(entry, r.resumed)
	case journal.Evaluated:
		return with(entry, r.evaluated)
	case journal.Planned:
		return with(entry, func(plan runbook.Plan) {
			r.tell(Planned, false, "planned %s, digest %s", report.Count(len(plan.Steps), "step", "steps"), plan.Short())
		})
	case journal.Asked:
		return with(entry, func(question journal.Question) {
			r.tell(Warned, true, "%s asked for the approval of the plan", question.Requester)
		})
	case journal.Approved:
		return with(entry, func(approval journal.Approval) {
			r.tell(Resumed, true, "plan approved %s", report.ApprovedBy(approval.Statement))
		})
	case journal.Denied:
		return with(entry, func(statement journal.Statement) {
			r.tell(Warned, true, "plan denied by %s from %s: %s", statement.By, statement.From, statement.Reason)
		})
	case journal.Intended:
		return with(entry, r.intended)
	case journal.Outcome:
		return with(entry, r.outcome)
	case journal.Requested:
		return with(entry, r.requested)
	case journal.Noted:
		return with(entry, func(note journal.Note) { r.tell(Noted, false, "noted %s", note.Name) })
	case journal.Exported:
		return with(entry, func(export journal.Export) { r.tell(Noted, false, "kept export %s", export.Name) })
	case journal.Warned:
		return with(entry, func(message journal.Message) {
			if r.tell(Warned, true, "warning: %s", message.Text) {
				r.facts.warnings = append(r.facts.warnings, r.mention("%s", message.Text))
			}
		})
	case journal.Interrupted:
		return with(entry, func(message journal.Message) { r.tell(Interrupted, true, "interrupted: %s", message.Text) })
	case journal.RollingBack, journal.Parked, journal.Closed:
		return with(entry, r.verdict)
	case journal.Migrated:
		return with(entry, func(to journal.Destination) { r.tell(Moved, true, "record moved to %s", to.Where) })
	case journal.Arrived:
		return with(entry, func(from journal.Destination) { r.tell(Moved, false, "record arrived from %s", from.Where) })
	}
	return fmt.Errorf("entry %d of the journal: unknown kind %q", entry.Seq, entry.Kind)
}

func with[T any](entry journal.Entry, use func(T)) error {
	data, err := decode[T](entry)
	if err == nil {
		use(data)
	}
	return err
}

func (r *runStory) opened(header journal.Header) {
	r.tell(Opened, true, "%s opened %s (version %s) on %s", report.Person(header.Holder), header.Runbook, header.Version,
		header.Target.Name)
	r.typed(header.Command, header.Holder)
	r.overridden(header.Overrides, header.Holder)
}

func (r *runStory) resumed(resumption journal.Resumption) {
	if resumption.Holder.Host != "" {
		r.host = resumption.Holder.Host
	}
	who := report.Person(resumption.Holder)
	if !r.parked.IsZero() {
		r.waited(Span{Kind: Person, Began: r.parked, Ended: r.entry.At, Reason: "waited to be resumed"})
		r.parked = time.Time{}
	}
	if r.tell(Resumed, true, "%s resumed the run", who) {
		r.facts.resumptions = append(r.facts.resumptions, r.mention("%s resumed run %s", who, r.run.Run))
	}
	r.typed(resumption.Command, resumption.Holder)
	r.overridden(resumption.Overrides, resumption.Holder)
}

// typed keeps a command for the sections.
func (r *runStory) typed(command string, holder journal.Holder) {
	if command == "" || !r.options.within(r.entry.At) {
		return
	}
	m := r.mention("%s ran, at %s", report.Person(holder), instant(r.entry.At))
	m.command = clean(command, itemRoom)
	r.facts.commands = append(r.facts.commands, m)
}

func (r *runStory) verdict(verdict journal.Verdict) {
	text := fmt.Sprintf("%s: %s", verdict.Outcome, verdict.Reason)
	switch r.entry.Kind {
	case journal.RollingBack:
		r.undoing = true
		r.tell(RollingBack, true, "taking back what was done: %s", verdict.Reason)
	case journal.Parked:
		r.parked = r.entry.At
		if r.tell(Parked, true, "run waits for an operator, %s", text) {
			r.facts.parks = append(r.facts.parks, r.mention("%s", verdict.Reason))
			if verdict.Question != "" {
				r.facts.questions = append(r.facts.questions, r.mention("%s", verdict.Question))
			}
		}
	default:
		r.parked = time.Time{}
		if r.tell(Closed, true, "run closed, %s", text) && r.undoing {
			r.facts.undoneTo = append(r.facts.undoneTo, r.mention("%s", text))
		}
	}
}
