package rollout

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"salve/internal/pipeline"
)

// LogFolder keeps a log file for each step of a run.
type LogFolder string

// Path is the log of a step.
func (f LogFolder) Path(run string, step pipeline.StepID) string {
	return filepath.Join(string(f), run, safe(step.ResourceGroup)+"."+safe(step.Step)+".log")
}

// safe makes a file's name of any text, another one of each.
func safe(text string) string {
	var name strings.Builder
	for _, character := range []byte(text) {
		switch {
		case character >= 'a' && character <= 'z', character >= 'A' && character <= 'Z', character >= '0' && character <= '9',
			character == '-':
			name.WriteByte(character)
		default:
			fmt.Fprintf(&name, "_%02x", character)
		}
	}
	return name.String()
}

// Open opens the log of an attempt, behind those before it.
func (f LogFolder) Open(run string, step pipeline.StepID, number int) (Log, error) {
	path := f.Path(run, step)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if number > 1 {
		if _, err := fmt.Fprintf(file, "--- attempt %d ---\n", number); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &fileLog{file: file, left: MostLog - info.Size()}, nil
}

// MostLog bounds the log of a step, in bytes: one that writes without end must not fill the disk, on which the journal
// may be.
const MostLog = 256 << 20

// longest is how much of a line is held back until its end is seen, in bytes: a
// secret that is written in pieces is found in a whole line only.
const longest = 64 << 10

// heldBack is how much of a longer line is held back, which no secret is longer
// than, also in base64.
const heldBack = 24 << 10

// fileLog writes whole lines, with secrets masked.
type fileLog struct {
	mu   sync.Mutex
	file *os.File
	// left is how much the file may grow.
	left    int64
	held    []byte
	secrets []string
	masker  masker
}

// Hide masks a text from now on.
func (l *fileLog) Hide(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.secrets = append(l.secrets, text)
	l.masker = maskerOf(l.secrets)
}

func (l *fileLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, text...)
	end := bytes.LastIndexByte(l.held, '\n') + 1
	switch {
	case end > 0:
		return len(text), l.flush(end)
	case len(l.held) >= longest:
		// What is masked stays masked; a secret that is cut off at the end is not whole
		// yet, and is held back with it.
		l.held = []byte(l.masker.mask(string(l.held)))
		return len(text), l.flush(max(0, len(l.held)-heldBack))
	}
	return len(text), nil
}

func (l *fileLog) flush(end int) error {
	text := l.masker.mask(string(l.held[:end]))
	l.held = append(l.held[:0], l.held[end:]...)
	if l.left <= 0 {
		return nil
	}
	if int64(len(text)) > l.left {
		text = fmt.Sprintf("%s\n--- a log has at most %d MiB; what the step says from here on is not kept ---\n",
			strings.ToValidUTF8(text[:l.left], ""), MostLog>>20)
	}
	l.left -= int64(len(text))
	_, err := l.file.WriteString(text)
	return err
}

// Close writes what is left of the last line.
func (l *fileLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.flush(len(l.held)), l.file.Close())
}
