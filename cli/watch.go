package cli

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/console"
	"salve/journal"
)

// viewer is one of console's ways to watch a run.
type viewer interface {
	Watch(engine.Event)
	Say(at time.Time, text string)
	Arrange(waves [][]string)
	Recall(*journal.History)
	Expect(usual map[string]time.Duration)
	Close()
}

// watch shows the runs of a command, one after the other.
type watch struct {
	app   *app
	clock clock.Clock
	mu    sync.Mutex
	now   viewer
	drawn bool
	// waited is when it was last said that a lease is waited for.
	waited time.Time
}

// begin shows a run under a title. passing is drawn while it lasts and then
// gives way to the answer, as where nothing is changed.
func (w *watch) begin(title string, passing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	form := w.app.progress()
	if w.drawn && form != logged {
		fmt.Fprintln(w.app.stderr) // apart from the run before
	}
	w.drawn = w.drawn || !passing
	switch form {
	case logged:
		w.now = console.NewLog(console.NewHandler(w.app.stderr, w.app.verbosity))
	case told:
		w.now = console.NewLines(w.app.lines(), title, w.clock.Now, w.app.grouping())
	case drawn:
		w.app.hold()
		w.now = console.NewLive(terminal(w.app.stderr), console.LiveOptions{
			Title: title, Now: w.clock.Now, Style: w.app.style(), Passing: passing,
		}, w.app.environment)
	}
}

// expect shows how long steps usually take.
func (w *watch) expect(usual map[string]time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil && len(usual) > 0 {
		w.now.Expect(usual)
	}
}

// arrange shows the steps of a pipeline as a graph.
func (w *watch) arrange(waves [][]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil {
		w.now.Arrange(waves)
	}
}

// recall shows what an earlier process did of the run.
func (w *watch) recall(history *journal.History) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil {
		w.now.Recall(history)
	}
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave()
}

// leave ends the view, and gives back the terminal.
func (w *watch) leave() {
	if w.now != nil {
		w.now.Close()
		w.app.release()
	}
	w.now = nil
}

// event is engine.Engine.Watch.
func (w *watch) event(event engine.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil {
		w.now.Watch(w.app.toldEvent(event))
	}
}

// below shows the run of a part beside that of the whole, where what happens is told: drawn is the whole alone, and
// how far its parts are.
func (w *watch) below(part string) func(engine.Event) {
	var show func(engine.Event)
	switch w.app.progress() {
	case drawn:
		return nil
	case told:
		show = func(event engine.Event) {
			if lines, are := w.now.(*console.Lines); are {
				lines.Part(part)(event)
			}
		}
	case logged:
		handler := console.NewHandler(w.app.stderr, w.app.verbosity)
		show = console.NewLog(handler.WithAttrs([]slog.Attr{slog.String("serviceGroup", part)})).Watch
	}
	return func(event engine.Event) {
		w.mu.Lock() // one line at a time
		defer w.mu.Unlock()
		show(event)
	}
}

// say tells the user something at once.
func (w *watch) say(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.now != nil:
		w.now.Say(w.clock.Now(), text)
	case w.app.progress() != logged:
		fmt.Fprintln(w.app.stderr, text)
	default:
		console.NewLog(console.NewHandler(w.app.stderr, w.app.verbosity)).Say(w.clock.Now(), text)
	}
}

// waitEvery is how often it is said that a lease is waited for.
const waitEvery = 10 * time.Second

// wait says what is waited for, unless that was said less than a pause ago.
func (w *watch) wait(text string, pause time.Duration) {
	w.mu.Lock()
	due := w.waited.IsZero() || w.clock.Since(w.waited) >= pause
	if due {
		w.waited = w.clock.Now()
	}
	w.mu.Unlock()
	if due {
		w.say(text)
	}
}

// lines says what is written to it, line by line.
type lines struct {
	say  func(string)
	held []byte
}

func (l *lines) Write(text []byte) (int, error) {
	l.held = append(l.held, text...)
	for {
		line, rest, whole := bytes.Cut(l.held, []byte{'\n'})
		if !whole {
			return len(text), nil
		}
		l.say(strings.TrimRight(string(line), "\r"))
		l.held = rest
	}
}

// end says what is left of the last line.
func (l *lines) end() {
	if len(l.held) > 0 {
		l.say(string(l.held))
	}
}

// interruptible gives a context that the first SIGINT or SIGTERM ends with
// engine.ErrInterrupted. The second one kills the process, as by default, which for
// what was started without an ear for SIGINT is SIGTERM alone; before it does, leave gives the terminal back. The
// function that it returns must be called.
func interruptible(parent context.Context, say func(string), leave func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	again, deadly := "Once more", []os.Signal{os.Interrupt, syscall.SIGTERM}
	if signal.Ignored(os.Interrupt) {
		again, deadly = "SIGTERM now", deadly[1:]
	}
	signals, second := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
		if leave != nil {
			signal.Notify(second, deadly...)
		}
		signal.Stop(signals)
		cancel(engine.ErrInterrupted)
		say("Interrupted: stopping where it is safe to. " + again +
			" kills the process at once; the journal is kept either way.")
		select {
		case by := <-second:
			atMost(leaving, leave)
			die(by)
		case <-over:
		}
	})
	return ctx, func() {
		close(over)
		signal.Stop(signals)
		signal.Stop(second)
		cancel(nil)
		waiting.Wait()
	}
}

// leaving is how long a process that is killed waits for its terminal.
const leaving = time.Second

// atMost calls something, and goes on without it when it takes too long.
func atMost(patience time.Duration, call func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// die ends the process as a signal does that nobody listens to.
func die(by os.Signal) {
	signal.Reset(by)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(by) == nil {
		select {} // it is on its way
	}
	os.Exit(exitFailed)
}
