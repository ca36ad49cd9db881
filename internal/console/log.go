package console

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"salve/engine"
	"salve/internal/redact"
	"salve/journal"
	"salve/runbook"
)

// every is how often, in the run's own time, progress is logged without being
// asked for more.
const every = 30 * time.Second

// Log writes a run as JSON lines with component, run and phase.
type Log struct {
	handler slog.Handler
	run     string
	// phase is what the run is at: guards, a step, undo, checks, end.
	phase string
	moved time.Time
	undo  bool
}

// NewLog logs to a handler, such as one of NewHandler, what happens in the
// engine.
func NewLog(handler slog.Handler) *Log {
	return &Log{handler: handler, phase: "guards"}
}

// NewHandler writes JSON lines with credentials taken out. Verbosity 0 is info,
// more is debug.
func NewHandler(out io.Writer, verbosity int) slog.Handler {
	level := slog.LevelInfo
	if verbosity > 0 {
		level = slog.LevelDebug
	}
	return slog.NewJSONHandler(redacting{out}, &slog.HandlerOptions{Level: level})
}

// redacting takes credentials out of each line; slog writes a line at a time.
type redacting struct{ out io.Writer }

func (r redacting) Write(line []byte) (int, error) {
	if _, err := r.out.Write(redact.Redact(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// Say logs a sentence of the command line's own, at a time.
func (l *Log) Say(at time.Time, text string) {
	l.write(engine.Event{At: at, Run: l.run}, slog.LevelWarn, text)
}

// Arrange does nothing: a log has no picture.
func (l *Log) Arrange([][]string) {}

// Expect does nothing: a log says what happened.
func (l *Log) Expect(map[string]time.Duration) {}

// Recall does nothing: what was done before was logged then.
func (l *Log) Recall(*journal.History) {}

// Close does nothing: each line was written when it came.
func (l *Log) Close() {}

// Watch logs an event. It must be called from one goroutine at a time.
func (l *Log) Watch(event engine.Event) {
	l.enter(event)
	switch event.Kind {
	case engine.RunBegan:
		l.write(event, slog.LevelInfo, "run "+event.Text)
	case engine.Found:
		l.found(event)
	case engine.PlanMade:
		l.write(event, slog.LevelInfo, "plan made", slog.Int("steps", len(event.Plan.Steps)),
			slog.String("digest", event.Plan.Digest))
	case engine.ApprovalAsked:
		l.write(event, slog.LevelWarn, "waiting for approval", slog.String("digest", event.Plan.Digest))
	case engine.ApprovalUsed:
		l.write(event, slog.LevelInfo, joined("plan approved", event.Text))
	case engine.StepBegan:
		l.write(event, slog.LevelInfo, joined("step began", event.Text), attempt(event)...)
	case engine.StepMoved:
		l.progress(event)
	case engine.StepEnded:
		l.ended(event)
	case engine.Waiting, engine.Warning:
		l.write(event, slog.LevelWarn, joined(string(event.Kind), event.Text))
	case engine.RollbackBegan:
		l.write(event, slog.LevelWarn, joined("taking back what was done", event.Text))
	case engine.ChecksBegan:
		l.write(event, slog.LevelInfo, "final checks")
	case engine.RunEnded:
		l.over(event)
	}
}

// enter follows the run into its phases.
func (l *Log) enter(event engine.Event) {
	l.run = event.Run
	switch event.Kind {
	case engine.RunBegan:
		l.phase, l.undo = "guards", false
	case engine.StepBegan:
		l.phase, l.moved = event.Step, time.Time{}
	case engine.StepMoved, engine.StepEnded, engine.Waiting:
		l.phase = event.Step // steps of a pipeline run beside each other
	case engine.RollbackBegan:
		l.phase, l.undo = "undo", true
	case engine.ChecksBegan:
		l.phase = "checks"
	case engine.RunEnded:
		l.phase = "end"
	default: // the other events belong to the phase that is
	}
}

// found logs findings: those that stop the run as warnings, those that only
// confirm what is known before a step for who asked for more.
func (l *Log) found(event engine.Event) {
	level := slog.LevelInfo
	switch {
	case event.Finding.Answer != runbook.AnswerHolds:
		level = slog.LevelWarn
	case event.Step != "start" && event.Step != "checks" && event.Step != "":
		level = slog.LevelDebug
	}
	attributes := []slog.Attr{slog.String("guard", event.Finding.Guard),
		slog.String("answer", string(event.Finding.Answer)), slog.String("reason", event.Finding.Reason)}
	if event.Finding.Override != "" {
		attributes = append(attributes, slog.String("override", event.Finding.Override))
	}
	l.write(event, level, "finding", attributes...)
}

func (l *Log) progress(event engine.Event) {
	level := slog.LevelDebug
	if event.At.Sub(l.moved) >= every {
		level, l.moved = slog.LevelInfo, event.At
	}
	attributes := []slog.Attr{slog.String("progress", event.Progress.Text)}
	if len(event.Progress.Details) > 0 {
		attributes = append(attributes, slog.Any("details", event.Progress.Details))
	}
	l.write(event, level, "step goes on", attributes...)
}

func (l *Log) ended(event engine.Event) {
	level := slog.LevelInfo
	if event.Result.Result != journal.Done && event.Result.Result != journal.Skipped {
		level = slog.LevelWarn
	}
	attributes := append(attempt(event), slog.String("result", string(event.Result.Result)))
	if event.Result.Reason != "" {
		attributes = append(attributes, slog.String("reason", event.Result.Reason))
	}
	l.write(event, level, "step ended", attributes...)
}

// attempt is the number of the attempt; a step that was found done has none.
func attempt(event engine.Event) []slog.Attr {
	if event.Attempt == 0 {
		return nil
	}
	return []slog.Attr{slog.Int("attempt", event.Attempt)}
}

func (l *Log) over(event engine.Event) {
	attributes := []slog.Attr{slog.String("outcome", string(event.Verdict.Outcome)),
		slog.String("reason", event.Verdict.Reason)}
	if event.Verdict.Question != "" {
		attributes = append(attributes, slog.String("question", event.Verdict.Question))
	}
	l.write(event, slog.LevelInfo, "run ended", attributes...)
}

// write makes the line. A log that can't be written stops no run.
func (l *Log) write(event engine.Event, level slog.Level, message string, attributes ...slog.Attr) {
	if !l.handler.Enabled(context.Background(), level) {
		return
	}
	record := slog.NewRecord(event.At, level, message, 0)
	phase := l.phase
	if l.undo && phase != "undo" && phase != "end" {
		phase = "undo " + phase
	}
	record.AddAttrs(slog.String("component", "engine"), slog.String("run", event.Run), slog.String("phase", phase))
	record.AddAttrs(attributes...)
	_ = l.handler.Handle(context.Background(), record)
}

func joined(first, second string) string {
	if second == "" {
		return first
	}
	return fmt.Sprintf("%s: %s", first, second)
}
