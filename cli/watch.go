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
	Close()
}

// watch shows the runs of a command, one after the other.
type watch struct {
	app   *app
	clock clock.Clock
	mu    sync.Mutex
	now   viewer
	drawn bool
}

// begin shows a run under a title. passing is drawn while it lasts and then
// gives way to the answer, as where nothing is changed.
func (w *watch) begin(title string, passing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drawn {
		fmt.Fprintln(w.app.stderr) // apart from the run before
	}
	switch {
	case !w.app.drawable() || w.app.verbosity > 0:
		w.now = console.NewLog(console.NewHandler(w.app.stderr, w.app.verbosity))
	case passing:
		w.now = console.NewPassing(terminal(w.app.stderr), title, w.clock.Now, w.app.environment)
	default:
		w.drawn = true
		w.now = console.NewLive(terminal(w.app.stderr), title, w.clock.Now, w.app.environment)
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
	if w.now != nil {
		w.now.Close()
	}
	w.now = nil
}

// event is engine.Engine.Watch.
func (w *watch) event(event engine.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil {
		w.now.Watch(event)
	}
}

// below shows the run of a part beside that of the whole, where what happens is logged: drawn is the whole alone, and
// how far its parts are.
func (w *watch) below(part string) func(engine.Event) {
	if w.app.drawable() && w.app.verbosity == 0 {
		return nil
	}
	handler := console.NewHandler(w.app.stderr, w.app.verbosity)
	log := console.NewLog(handler.WithAttrs([]slog.Attr{slog.String("serviceGroup", part)}))
	return func(event engine.Event) {
		w.mu.Lock() // one line at a time
		defer w.mu.Unlock()
		log.Watch(event)
	}
}

// say tells the user something at once.
func (w *watch) say(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.now != nil:
		w.now.Say(w.clock.Now(), text)
	case w.app.drawable():
		fmt.Fprintln(w.app.stderr, text)
	default:
		console.NewLog(console.NewHandler(w.app.stderr, w.app.verbosity)).Say(w.clock.Now(), text)
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
// what was started without an ear for SIGINT is SIGTERM alone. The function that it
// returns must be called.
func interruptible(parent context.Context, say func(string)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	again := "Once more"
	if signal.Ignored(os.Interrupt) {
		again = "SIGTERM now"
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(engine.ErrInterrupted)
			say("Interrupted: stopping where it is safe to. " + again +
				" kills the process at once; the journal is kept either way.")
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		waiting.Wait()
	}
}
