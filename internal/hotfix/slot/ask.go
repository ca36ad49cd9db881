package slot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix"
)

// AnswerTime is how long a program may take to say its version.
const AnswerTime = 5 * time.Second

const (
	answerLimit  = 4 << 10 // bytes
	answerLinger = time.Second
)

// Ask runs a program's version command and gives the first word it prints that is
// a version. The program is killed when it takes longer than AnswerTime; what it has
// started, and is in its process group, is killed in any case.
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
	command := exec.CommandContext(ctx, program, "version")
	var answer bounded
	command.Stdout = &answer
	command.Dir = "/"
	command.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.WaitDelay = answerLinger
	err := command.Run()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // whom it left behind, if there is anybody
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well; somebody else kept its output open
	}
	return answer.String(), err
}

// bounded keeps the beginning of an answer. The buffer is not embedded: os/exec would fill it by its ReadFrom.
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
