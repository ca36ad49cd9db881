package console

import (
	"fmt"
	"io"
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

// Live draws a run on a terminal, in place, below what is there. The last frame
// stays on the screen.
type Live struct {
	program *tea.Program
	ended   chan struct{}
	working sync.WaitGroup
}

// NewLive begins to draw. Elapsed times are those of now, which is the run's own
// clock; environment is the process's, as "NAME=value". Close must be called.
func NewLive(out io.Writer, title string, now func() time.Time, environment []string) *Live {
	return begin(out, screen{picture: &picture{title: title}, now: now}, environment)
}

// NewPassing draws like NewLive, and leaves nothing on the screen: what was
// found is printed afterwards.
func NewPassing(out io.Writer, title string, now func() time.Time, environment []string) *Live {
	return begin(out, screen{picture: &picture{title: title}, now: now, passing: true}, environment)
}

func begin(out io.Writer, screen screen, environment []string) *Live {
	live := &Live{ended: make(chan struct{})}
	live.program = tea.NewProgram(screen,
		tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithEnvironment(unasked(environment)))
	live.working.Go(func() {
		defer close(live.ended)
		// A terminal that can't be drawn on stops no run: the journal is the record.
		_, _ = live.program.Run()
	})
	live.working.Go(live.tick)
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
		case "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "TMUX", "STY":
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

// Close draws the last frame and gives the terminal back.
func (l *Live) Close() {
	l.program.Send(closing{})
	l.program.Quit()
	l.working.Wait()
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

type closing struct{}

type tick struct{}

// screen is the drawing library's model of a picture.
type screen struct {
	picture *picture
	now     func() time.Time
	width   int
	frame   int
	// passing pictures are gone once closed.
	passing, closed bool
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
	case remark:
		s.picture.said = append(s.picture.said, string(message))
	case closing:
		s.closed = true
	case tea.WindowSizeMsg:
		s.width = message.Width
	case tick:
		s.frame++
	}
	return s, nil
}

// View draws the frame. The cursor stays visible, below it: a process that is
// killed leaves the terminal as it should be.
func (s screen) View() tea.View {
	content := ""
	if !s.closed || !s.passing {
		content = s.picture.draw(s.now(), s.width, s.frame)
	}
	view := tea.NewView(content)
	view.DisableBracketedPasteMode = true
	view.Cursor = tea.NewCursor(0, strings.Count(content, "\n"))
	view.Cursor.Blink = false
	return view
}
