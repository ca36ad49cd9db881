package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"salve/internal/pipeline"
	"salve/internal/pipeline/rollout"
)

const (
	// handedOn bounds what a step may hand on, in bytes: it is kept in the journal.
	handedOn = 256 << 10
	// longest bounds one value of it: Linux passes no variable on that is longer than
	// 128 KiB with its name (MAX_ARG_STRLEN).
	longest = 127 << 10
	// remembered is how much is kept of the end of what it said, in bytes.
	remembered = 64 << 10
	// stdoutName is the output that a step's whole standard output always is.
	stdoutName = "stdout"
)

// readBounded reads a regular file. It waits for nobody who might yet write into a
// pipe.
func readBounded(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errors.New("the file is no regular one any more")
	}
	raw, err := io.ReadAll(io.LimitReader(file, handedOn+1))
	if err == nil && len(raw) > handedOn {
		err = fmt.Errorf("there are more than %d bytes", handedOn)
	}
	return string(raw), err
}

// check refuses a value that a later step could not get as a variable, or not as it
// is.
func check(name, value string) error {
	switch {
	case len(value) > longest:
		return fmt.Errorf("output %q has %d bytes, and a variable holds no more than %d; hand on where it is to be found",
			name, len(value), longest)
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("output %q holds a zero byte, which no variable can", name)
	case !utf8.ValidString(value):
		return fmt.Errorf("output %q is no UTF-8; hand it on in base64", name)
	}
	return nil
}

var (
	simple = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)=(.*)$`)
	opened = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)<<(\S+)$`)
)

// parse reads lines of name=value, and values of several lines:
//
//	name<<END
//	first line
//	second line
//	END
func parse(text string) (map[string]string, error) {
	values := map[string]string{}
	set := func(number int, name, value string) error {
		if _, twice := values[name]; twice {
			return fmt.Errorf("line %d gives %q once more", number, name)
		}
		values[name] = value
		return check(name, value)
	}
	lines := slices.Collect(strings.Lines(text))
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], "\r\n")
		if line == "" {
			continue
		}
		number, err := i+1, error(nil)
		if several := opened.FindStringSubmatch(line); several != nil {
			end := i + 1
			for end < len(lines) && strings.TrimRight(lines[end], "\r\n") != several[2] {
				end++
			}
			if end == len(lines) {
				return nil, fmt.Errorf("line %d begins %q, and no line %s ends it", number, several[1], several[2])
			}
			err = set(number, several[1], strings.TrimSuffix(strings.Join(lines[i+1:end], ""), "\n"))
			i = end
		} else if pair := simple.FindStringSubmatch(line); pair != nil {
			err = set(number, pair[1], pair[2])
		} else {
			err = fmt.Errorf("line %d is neither name=value nor name<<END", number)
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// listener hears what a step says: it goes to the log, the end of it is
// remembered, and all of standard output where a later step wants it.
type listener struct {
	mu      sync.Mutex
	log     io.Writer
	tail    []byte
	wants   bool
	stdouts bytes.Buffer
	full    error
	// unlogged is why the log is not complete.
	unlogged error
	// sought are texts that an automatedRetry looks for, and that were not said yet;
	// found those that were.
	sought, found []string
}

func newListener(attempt *rollout.Attempt) *listener {
	l := &listener{log: attempt.Log, wants: len(aloud(attempt)) > 0}
	if retry := attempt.Step.Retry; retry != nil {
		for _, text := range retry.ErrorContainsAny {
			l.sought = append(l.sought, text.Value)
		}
	}
	return l
}

// aloud are the names under which others may take all of a step's standard output: stdout, and of a step that declares
// no outputs, as for rollout tools, any. What it writes into its files goes before.
func aloud(attempt *rollout.Attempt) []string {
	declared := attempt.Step.Shell.Outputs
	var names []string
	if slices.ContainsFunc(declared, func(name pipeline.Text) bool { return name.Value == stdoutName }) {
		names = append(names, stdoutName)
	}
	for _, name := range attempt.Wanted {
		if (declared == nil || name == stdoutName) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Write hears both outputs where they need not be told apart, so that lines stay
// in their order. It hears on when the log can't be written.
func (l *listener) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.tail)
	l.tail = append(l.tail, text...)
	l.seek(before)
	if over := len(l.tail) - remembered; over > 0 {
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
	if l.unlogged == nil {
		_, l.unlogged = l.log.Write(text)
	}
	return len(text), nil
}

// seek looks for what is sought in what was said since there was this much. A text
// may have begun before that.
func (l *listener) seek(before int) {
	l.sought = slices.DeleteFunc(l.sought, func(text string) bool {
		from := max(0, before-len(text)+1)
		said := bytes.Contains(l.tail[from:], []byte(text))
		if said {
			l.found = append(l.found, text)
		}
		return said
	})
}

func (l *listener) stdout() io.Writer {
	if !l.wants {
		return l
	}
	return (*stdout)(l)
}

func (l *listener) stderr() io.Writer { return l }

// stdout hears standard output alone.
type stdout listener

var errTooMuch = errors.New("it said more on its standard output than a step may hand on")

func (s *stdout) Write(text []byte) (int, error) {
	l := (*listener)(s)
	l.mu.Lock()
	if l.stdouts.Len()+len(text) <= handedOn {
		l.stdouts.Write(text)
	} else {
		l.full = errTooMuch
	}
	l.mu.Unlock()
	return l.Write(text)
}

// end is the last of what the step said. In front of it are the texts that were
// sought and are not in it any more.
func (l *listener) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := string(l.tail)
	for _, text := range l.found {
		if !strings.Contains(said, text) {
			said = text + "\n" + said
		}
	}
	return said
}

// whole is all of standard output, to be handed on under a number of names.
func (l *listener) whole(names int) (string, error) {
	text := strings.TrimRight(l.stdouts.String(), "\n")
	if l.full == nil && names*len(text) > handedOn {
		l.full = errTooMuch
	}
	if l.full != nil {
		return text, l.full
	}
	return text, check(stdoutName, text)
}

// lastLine is the last line that says something, for reasons.
func (l *listener) lastLine(mask func(string) string) string {
	lines := strings.Split(strings.TrimSpace(l.end()), "\n")
	const shown = 200
	line := []rune(mask(strings.TrimSpace(lines[len(lines)-1])))
	switch {
	case len(line) == 0:
		return ""
	case len(line) > shown:
		line = append(line[:shown], '…')
	}
	return ": " + string(line)
}
