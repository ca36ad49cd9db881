//go:build linux

package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix/process"
)

// maxLine bounds what a preparation may say, in bytes.
const maxLine = 512

// Preparation is a child that does something and says one line of it.
type Preparation struct {
	Path      string
	Arguments []string // its own name first
	Budget    time.Duration
	Clock     clock.Clock
}

// AskedError means that somebody has asked this process to end meanwhile.
type AskedError struct{ Signal syscall.Signal }

func (e *AskedError) Error() string { return fmt.Sprintf("asked to end by the signal %q", e.Signal) }

// ErrOverdue means that the budget ended before the child did.
var ErrOverdue = errors.New("the budget ended")

// Run gives the line. Whatever comes of it, the child and all whom it has started are
// gone afterwards. The goroutine must be locked to its thread.
func (p Preparation) Run(ctx context.Context, signals *Signals) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer read.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		nothing = nil // then its standard input is closed
	} else {
		defer nothing.Close()
	}
	tree, err := process.Start(process.Program{
		Path: p.Path, Arguments: p.Arguments, Environment: os.Environ(),
		Files: []*os.File{nothing, write, standardStreams()[2]}, Ours: true,
	})
	_ = write.Close() // the child has its own
	if err != nil {
		return "", err
	}
	said := make(chan answer, 1)
	go func() { said <- firstLine(read) }()
	line, err := p.await(tree, signals, said)
	return line, errors.Join(err, p.end(ctx, tree))
}

func (p Preparation) end(ctx context.Context, tree *process.Tree) error {
	limited, cancel := clock.WithTimeout(ctx, p.Clock, patience)
	defer cancel()
	return tree.End(limited)
}

// answer is what a child has said: a line, or why there is none.
type answer struct {
	line string
	err  error
}

// await waits for the line, whose writer may live on. The end of the pipe is none: how
// the child ends tells more. Nor is the child's end that of the pipe, which others may
// hold open.
func (p Preparation) await(tree *process.Tree, signals *Signals, said <-chan answer) (string, error) {
	over := p.Clock.NewTimer(p.Budget)
	defer over.Stop()
	for {
		select {
		case answer := <-said:
			if !errors.Is(answer.err, io.EOF) {
				return answer.line, answer.err
			}
			said = nil
		case one := <-signals.passed:
			if signals.note(one); signals.asked != 0 {
				return "", &AskedError{signals.asked}
			}
		case <-signals.children:
			if status, ended := tree.Ended(); ended {
				return p.last(status, said)
			}
		case <-over.C():
			return "", ErrOverdue
		}
	}
}

// last gives the line of a child that has ended. Others may hold its pipe open, who are
// not waited for.
func (p Preparation) last(status syscall.WaitStatus, said <-chan answer) (string, error) {
	const hold = 100 * time.Millisecond // what is in the pipe is there to be read
	if said != nil {
		select {
		case answer := <-said:
			if !errors.Is(answer.err, io.EOF) {
				return answer.line, answer.err
			}
		case <-p.Clock.After(hold):
		}
	}
	if status.Signaled() {
		return "", fmt.Errorf("the child died from the signal %q", status.Signal())
	}
	return "", fmt.Errorf("the child ended with exit code %d and said no line", status.ExitStatus())
}

// firstLine reads one line, without its end.
func firstLine(from io.Reader) answer {
	line, err := bufio.NewReaderSize(from, maxLine).ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = errors.New("the child said more than a line")
	}
	return answer{strings.TrimSuffix(string(line), "\n"), err}
}
