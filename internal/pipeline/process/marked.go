package process

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"salve/internal/clock"
)

// Process is a process of this machine.
type Process struct {
	PID int
	// Command is its command line.
	Command string
}

func (p Process) String() string {
	const shown = 60
	line := p.Command
	if len(line) > shown {
		line = line[:shown] + "…"
	}
	return fmt.Sprintf("%d (%s)", p.PID, line)
}

// looking is the pause between two looks at processes that are to end.
const looking = 50 * time.Millisecond

// EndMarked ends all processes that carry a mark: SIGTERM first and, after the
// grace, SIGKILL. It gives those that it found.
func EndMarked(ctx context.Context, clk clock.Clock, mark string, grace time.Duration) ([]Process, error) {
	first, _ := Marked(mark)
	left, told := first, syscall.SIGTERM
	began := clk.Now()
	for len(left) > 0 {
		for _, process := range left {
			kill(process.PID, told)
		}
		if err := clock.Sleep(ctx, clk, looking); err != nil {
			return first, err
		}
		waited := clk.Since(began)
		switch {
		case waited > 2*grace+time.Second:
			return first, fmt.Errorf("these processes can't be ended: %s", List(left))
		case waited >= grace:
			told = syscall.SIGKILL
		}
		left, _ = Marked(mark)
	}
	return first, nil
}

// List names processes.
func List(processes []Process) string {
	var names []string
	for _, process := range processes {
		names = append(names, process.String())
	}
	return strings.Join(names, ", ")
}
