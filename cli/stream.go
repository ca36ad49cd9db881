package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"salve/internal/console"
	"salve/internal/report"
)

// stream is the only way to standard output and standard error, but for the live view, which draws. What a terminal
// would obey is made visible on it, wherever the text comes from.
//
// A reader that goes away, as in salve run … | head, is no failure of what the command does: the rest is dropped. So is
// it where nothing can be written, as on a full disk, which is told when the command ends.
type stream struct {
	out io.Writer

	mu sync.Mutex
	// partial is the beginning of a character whose other bytes come with the next write.
	partial []byte
	closed  bool
	// failed is why nothing can be written any more; nil after a reader went away.
	failed error
	// style is what the terminal can show; the zero Style where there is none.
	style console.Style
	// commands takes out what the host of a pipeline would obey; nil where there is none.
	commands *console.CommandFilter
	// held is what waits while a view has the terminal.
	held    bytes.Buffer
	holding bool
}

// streams puts the two between the commands and where they write. The signal of a reader that goes away is ignored: it
// would kill the process, and its exit code would be nobody's.
func (a *app) streams() {
	signal.Ignore(syscall.SIGPIPE)
	for _, out := range []*io.Writer{&a.stdout, &a.stderr} {
		if _, already := (*out).(*stream); already {
			continue
		}
		between := &stream{out: *out}
		if a.host() != console.NoHost {
			between.commands = &console.CommandFilter{}
		}
		if terminal(*out) != nil {
			between.style = console.StyleOf(a.lookup)
		}
		*out = between
	}
}

// host is what shows the output of this process, where that obeys commands in it.
func (a *app) host() console.Host { return console.HostOf(a.lookup) }

func (s *stream) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole := append(s.partial, text...)
	end := lastWhole(whole)
	s.partial = append([]byte(nil), whole[end:]...)
	return len(text), s.send([]byte(s.shown(report.Neutral, string(whole[:end]))))
}

// Paint writes spans of a report, in colours where they are wanted.
func (s *stream) Paint(spans []report.Span) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var text strings.Builder
	for _, span := range spans {
		text.WriteString(s.shown(span.Tone, span.Text))
	}
	return s.send([]byte(text.String()))
}

// colours are those of reports.
func colours() map[report.Tone]console.Colour {
	return map[report.Tone]console.Colour{
		report.Good: console.Green, report.Bad: console.Red, report.Doubtful: console.Yellow,
		report.Faint: console.Faint, report.Strong: console.Bold,
	}
}

// shown is a text as it may be shown: nothing in it is obeyed, by a terminal or by the host of a pipeline.
func (s *stream) shown(tone report.Tone, text string) string {
	if s.commands != nil {
		text = s.commands.Filter(text)
	}
	return s.style.Apply(colours()[tone].Paint(text))
}

// raw writes bytes as they are: for files that another program reads, and lines that a host is to obey. It is never
// for a terminal.
func (s *stream) raw(content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(content)
}

// obeyed is a stream whose lines the host of a pipeline obeys.
type obeyed struct{ *stream }

func (o obeyed) Write(text []byte) (int, error) { return len(text), o.raw(text) }

// hold keeps what is written while a view has the terminal, until release.
func (s *stream) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = true
}

func (s *stream) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = false
	_ = s.send(s.held.Bytes()) // as any text that can't be written
	s.held.Reset()
}

func (s *stream) send(content []byte) error {
	if s.closed || len(content) == 0 {
		return nil
	}
	if s.holding {
		_, err := s.held.Write(content)
		return err
	}
	_, err := s.out.Write(content)
	if err == nil {
		return nil
	}
	if s.closed = true; !errors.Is(err, syscall.EPIPE) && !errors.Is(err, io.ErrClosedPipe) {
		s.failed = err
	}
	return nil
}

// unwritten tells of an answer that could not be written, and gives the exit code: a command that only reads has
// failed then, and what a run has done stays done.
func (a *app) unwritten(code int) int {
	out, ok := a.stdout.(*stream)
	if !ok {
		return code
	}
	out.mu.Lock()
	err := out.failed
	out.mu.Unlock()
	if err == nil {
		return code
	}
	fmt.Fprintf(a.stderr, "%s: writing the answer: %v\n", a.name(), err)
	if code == exitDecided && !a.began {
		return exitFailed
	}
	return code
}

// lastWhole is where a character begins at the end of a text whose other bytes are missing; else the text's end.
func lastWhole(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return at
			}
			break
		}
	}
	return len(text)
}

// unread tells whether the reader of standard output has gone away.
func (a *app) unread() bool {
	out, ok := a.stdout.(*stream)
	if !ok {
		return false
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	return out.closed
}

// terminal is the file behind a stream when that is a terminal; nil otherwise.
func terminal(out io.Writer) *os.File {
	if between, ok := out.(*stream); ok {
		out = between.out
	}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return file
	}
	return nil
}
