//go:build linux

package slot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/process"
)

// AnswerTime is how long a program may take to say its version.
const AnswerTime = 5 * time.Second

const (
	answerLimit  = 4 << 10         // bytes
	answerLinger = 2 * time.Second // how long the kernel may take to let go of them
)

// Ask runs a program's version command and gives the first word it prints that is
// a version. The program is killed when it takes longer than AnswerTime; whom it has
// started, wherever they went, is killed in any case.
func Ask(ctx context.Context, program string) (hotfix.Version, error) {
	limited, cancel := context.WithTimeout(ctx, AnswerTime)
	defer cancel()
	printed, err := run(limited, program)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return hotfix.Version{}, fmt.Errorf("its version command did not end within %s", AnswerTime)
	case err != nil:
		return hotfix.Version{}, fmt.Errorf("its version command failed: %w", err)
	}
	for word := range strings.FieldsSeq(printed) {
		if version, err := hotfix.ParseVersion(word); err == nil {
			return version, nil
		}
	}
	return hotfix.Version{}, fmt.Errorf("its version command printed no version but %.80q", printed)
}

// run repeats while the program's file is «busy»: a process that was forked in the
// moment of writing it may hold it open until its own exec.
func run(ctx context.Context, program string) (string, error) {
	const pause = 20 * time.Millisecond
	for {
		printed, err := runOnce(ctx, program)
		if !errors.Is(err, syscall.ETXTBSY) || clock.Sleep(ctx, clock.Real{}, pause) != nil {
			return printed, err
		}
	}
}

func runOnce(ctx context.Context, program string) (string, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer read.Close()
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return "", errors.Join(err, write.Close())
	}
	defer nothing.Close()
	tree, err := process.Start(process.Program{
		Path: program, Arguments: []string{program, "version"}, Folder: "/",
		Environment: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"},
		Files:       []*os.File{nothing, write, nothing},
	})
	_ = write.Close() // the program has its own
	if err != nil {
		return "", err
	}
	answers := make(chan string, 1)
	go func() {
		var answer bounded
		_, _ = io.Copy(&answer, read) // it ends with the pipe; what came until then is the answer
		answers <- answer.String()
	}()
	return await(ctx, tree, answers)
}

// await waits for the end of the program, and of all whom it has started: they are killed.
func await(ctx context.Context, tree *process.Tree, answers <-chan string) (string, error) {
	ended := make(chan struct{})
	go func() {
		tree.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerLinger)
	defer cancel()
	if err := tree.End(patience); err != nil {
		return "", err
	}
	status, _ := tree.Ended()
	switch answer := <-answers; { // nobody is left to hold the pipe open
	case status.Signaled():
		return answer, fmt.Errorf("signal: %s", status.Signal())
	case status.ExitStatus() != 0:
		return answer, fmt.Errorf("exit status %d", status.ExitStatus())
	default:
		return answer, nil
	}
}

// bounded keeps the beginning of an answer. The buffer is not embedded: io.Copy would fill it by its ReadFrom.
type bounded struct {
	kept bytes.Buffer
	cut  bool
}

func (b *bounded) Write(chunk []byte) (int, error) {
	room := answerLimit - b.kept.Len()
	b.cut = b.cut || len(chunk) > room
	b.kept.Write(chunk[:min(room, len(chunk))])
	return len(chunk), nil
}

// String ends a cut answer with an ellipsis: half a version must not be taken for another one.
func (b *bounded) String() string {
	if b.cut {
		return b.kept.String() + "…"
	}
	return b.kept.String()
}
