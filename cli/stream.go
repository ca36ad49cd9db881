package cli

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"salve/internal/console"
)

// stream is the only way to standard output and standard error, but for the live view, which draws. What a terminal
// would obey is made visible on it, wherever the text comes from.
//
// A reader that goes away, as in salve run … | head, is no failure of what the command does: the rest is dropped.
type stream struct {
	out io.Writer

	mu sync.Mutex
	// partial is the beginning of a character whose other bytes come with the next write.
	partial []byte
	closed  bool
}

// streams puts the two between the commands and where they write. The signal of a reader that goes away is ignored: it
// would kill the process, and its exit code would be nobody's.
func (a *app) streams() {
	signal.Ignore(syscall.SIGPIPE)
	for _, out := range []*io.Writer{&a.stdout, &a.stderr} {
		if _, already := (*out).(*stream); !already {
			*out = &stream{out: *out}
		}
	}
}

func (s *stream) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return len(text), nil
	}
	whole := append(s.partial, text...)
	end := lastWhole(whole)
	s.partial = append([]byte(nil), whole[end:]...)
	return len(text), s.send([]byte(console.Visible(string(whole[:end]))))
}

// raw writes bytes as they are: for files that another program reads, and never to a
// terminal.
func (s *stream) raw(content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(content)
}

func (s *stream) send(content []byte) error {
	if s.closed {
		return nil
	}
	_, err := s.out.Write(content)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		s.closed, err = true, nil
	}
	return err
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
