package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// outputs carries what a command says to its writers.
type outputs struct {
	// theirs are the ends that the command holds, ours those that are read.
	theirs, ours []*os.File
	to           []io.Writer
	copying      sync.WaitGroup
	failures     []error
}

// outputs makes the command's pipes: one where both outputs go to one writer.
func (c Command) outputs(command *exec.Cmd) (*outputs, error) {
	out := &outputs{to: []io.Writer{c.Stdout}}
	if c.Stderr != c.Stdout {
		out.to = append(out.to, c.Stderr)
	}
	for range out.to {
		ours, theirs, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("making pipes for %s: %w", c.Path, err), out.abandon())
		}
		out.ours, out.theirs = append(out.ours, ours), append(out.theirs, theirs)
	}
	command.Stdout, command.Stderr = out.theirs[0], out.theirs[len(out.theirs)-1]
	return out, nil
}

// begin carries until the pipes end.
func (o *outputs) begin() {
	_ = closed(o.theirs) // the command has its own by now
	o.failures = make([]error, len(o.ours))
	for i, from := range o.ours {
		o.copying.Go(func() {
			_, err := io.Copy(o.to[i], from)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				err = nil
			}
			o.failures[i] = err
			// A command is not held up by an output that can't be written.
			_, _ = io.Copy(io.Discard, from)
		})
	}
}

// end reads what is still in the pipes, for a moment.
func (o *outputs) end() error {
	for _, file := range o.ours {
		if err := file.SetReadDeadline(time.Now().Add(lingering)); err != nil {
			return fmt.Errorf("reading an output to its end: %w", err)
		}
	}
	o.copying.Wait()
	return errors.Join(append(o.failures, closed(o.ours))...)
}

func (o *outputs) abandon() error { return errors.Join(closed(o.theirs), closed(o.ours)) }

func closed(files []*os.File) error {
	var failures []error
	for _, file := range files {
		failures = append(failures, file.Close())
	}
	return errors.Join(failures...)
}
