package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
	said := make(chan string, 1)
	go func() { said <- firstLine(read) }()
	line, err := p.await(tree, signals, said)
	ending := p.end(ctx, tree)
	if err == nil && line == "" { // it has ended, and with it everybody who held the pipe open
		line, err = p.last(tree, said)
	}
	return line, errors.Join(err, ending)
}

func (p Preparation) end(ctx context.Context, tree *process.Tree) error {
	limited, cancel := clock.WithTimeout(ctx, p.Clock, patience)
	defer cancel()
	return tree.End(limited)
}

// await waits for the line, whose writer may live on, or for the child's end.
func (p Preparation) await(tree *process.Tree, signals *Signals, said <-chan string) (string, error) {
	over := p.Clock.NewTimer(p.Budget)
	defer over.Stop()
	for {
		select {
		case line := <-said:
			return checked(line, tree)
		case one := <-signals.passed:
			if signals.note(one); signals.asked != 0 {
				return "", &AskedError{signals.asked}
			}
		case <-signals.children:
			if _, ended := tree.Ended(); ended {
				return "", nil
			}
		case <-over.C():
			return "", ErrOverdue
		}
	}
}

// last gives what a child has said that has ended.
func (p Preparation) last(tree *process.Tree, said <-chan string) (string, error) {
	select {
	case line := <-said:
		return checked(line, tree)
	case <-p.Clock.After(time.Second):
		return "", errors.New("the child's pipe is held open")
	}
}

// checked gives the line if it is whole.
func checked(line string, tree *process.Tree) (string, error) {
	if whole, is := strings.CutSuffix(line, "\n"); is {
		return whole, nil
	}
	switch status, ended := tree.Ended(); {
	case len(line) > 0:
		return "", errors.New("the child said what is no line")
	case ended && status.Signaled():
		return "", fmt.Errorf("the child died from the signal %q", status.Signal())
	case ended:
		return "", fmt.Errorf("the child ended with exit code %d and said nothing", status.ExitStatus())
	}
	return "", errors.New("the child said nothing")
}

// firstLine reads one line with its end, or what there is of it.
func firstLine(from io.Reader) string {
	line, err := bufio.NewReaderSize(from, maxLine).ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return string(line[:1])
	}
	return string(slices.Clone(line))
}
