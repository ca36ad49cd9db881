package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"salve/engine"
	"salve/journal"
)

// frames is the time between two frames, on the wall clock: it is how often a
// person's eye is served, whatever time the run lives in.
const frames = 100 * time.Millisecond

// Live draws a run on a terminal. While it lasts it has the terminal's other screen: there nothing scrolls away, and a
// terminal that changes its size breaks no lines. Its last frame is printed, once, where the command was typed.
type Live struct {
	program *tea.Program
	out     io.Writer
	last    string
	ended   chan struct{}
	working sync.WaitGroup
	// terminal is held while it is given back or taken; closed means that it is not taken again.
	terminal sync.Mutex
	closed   bool
}

// LiveOptions say what is drawn, and how.
type LiveOptions struct {
	Title string
	// Now is the run's own clock, which elapsed times are of.
	Now   func() time.Time
	Style Style
	// Passing views leave nothing behind: what was found is printed afterwards.
	Passing bool
}

// NewLive begins to draw. environment is the process's, as "NAME=value". Close must be called.
func NewLive(out io.Writer, options LiveOptions, environment []string) *Live {
	live := &Live{out: out, ended: make(chan struct{})}
	live.program = tea.NewProgram(screen{LiveOptions: options, picture: &picture{title: options.Title}},
		tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithEnvironment(unasked(environment)))
	live.working.Go(func() {
		defer close(live.ended)
		// A terminal that can't be drawn on stops no run: the journal is the record.
		if drawn, err := live.program.Run(); err == nil {
			live.last = drawn.(screen).remains()
		}
	})
	live.working.Go(live.tick)
	if _, is := out.(*os.File); is { // a terminal, whose keys suspend the process
		live.working.Go(live.suspend)
	}
	return live
}

// unasked is the environment for drawing: without what would make the library
// ask the terminal questions. Nobody reads the keyboard here, so that the
// terminal's answers would end up in the person's shell.
func unasked(environment []string) []string {
	kept := []string{"SSH_TTY=none"}
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		switch name {
		case "TERM":
			kept = append(kept, "TERM="+plainTerminal(value))
		case "NO_COLOR", "COLORTERM", "TMUX", "STY":
			kept = append(kept, fmt.Sprintf("%s=%s", name, value))
		}
	}
	return kept
}

// plainTerminal names the common denominator for terminals that are asked by
// their names.
func plainTerminal(name string) string {
	for _, asked := range []string{"ghostty", "wezterm", "alacritty", "kitty", "rio"} {
		if strings.Contains(name, asked) {
			return "xterm-256color"
		}
	}
	return name
}

// Watch shows an event. It does nothing after Close.
func (l *Live) Watch(event engine.Event) { l.program.Send(event) }

// Recall shows what an earlier process did of a run that is resumed.
func (l *Live) Recall(history *journal.History) { l.program.Send(history) }

// Arrange shows the steps of a pipeline as a graph: wave by wave those that can run
// at once.
func (l *Live) Arrange(waves [][]string) { l.program.Send(arrangement(waves)) }

// Say shows a sentence below the steps.
func (l *Live) Say(_ time.Time, text string) { l.program.Send(remark(text)) }

// Expect shows how long steps usually take, by their names.
func (l *Live) Expect(usual map[string]time.Duration) { l.program.Send(expectation(usual)) }

// Close gives the terminal back and prints the last frame.
func (l *Live) Close() {
	l.terminal.Lock()
	l.closed = true
	l.terminal.Unlock()
	l.program.Send(closing{})
	l.program.Quit()
	l.working.Wait()
	_, _ = io.WriteString(l.out, l.last) // a terminal that is gone shows nothing
}

// tick asks for a frame now and then, until the program has ended.
func (l *Live) tick() {
	ticker := time.NewTicker(frames)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.program.Send(tick{})
		case <-l.ended:
			return
		}
	}
}

type remark string

type arrangement [][]string

type expectation map[string]time.Duration

type closing struct{}

type tick struct{}

// screen is the drawing library's model of a picture.
type screen struct {
	LiveOptions
	picture       *picture
	width, height int
	frame         int
	closed        bool
}

// Init has nothing to begin with.
func (s screen) Init() tea.Cmd { return nil }

// Update takes an event or a frame's turn.
func (s screen) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case engine.Event:
		s.picture.take(message)
	case *journal.History:
		s.picture.recall(message)
	case arrangement:
		s.picture.waves = message
	case expectation:
		s.picture.usual = message
	case remark:
		s.picture.said = append(s.picture.said, string(message))
	case closing:
		s.closed = true
	case tea.WindowSizeMsg:
		s.width, s.height = message.Width, message.Height
	case tick:
		s.frame++
	}
	return s, nil
}

// View draws the frame. The cursor stays visible, below it: a process that is
// killed leaves the terminal as it should be.
func (s screen) View() tea.View {
	view := tea.NewView("")
	view.DisableBracketedPasteMode = true
	if !s.closed {
		height := s.height
		if height <= 0 {
			height = 24
		}
		view.AltScreen = true
		view.Content = strings.TrimSuffix(s.Style.Apply(s.picture.draw(s.Now(), s.width, height, s.frame)), "\n")
		view.Cursor = tea.NewCursor(0, min(strings.Count(view.Content, "\n")+1, height-1))
		view.Cursor.Blink = false
	}
	return view
}

// remains is the last frame, of whatever height.
func (s screen) remains() string {
	if s.Passing {
		return ""
	}
	return s.Style.Apply(s.picture.draw(s.Now(), s.width, 0, s.frame))
}
