package cli

import (
	"fmt"
	"strings"
)

// panicError says that a provider's code panicked instead of making a runbook: a mistake in it, and no wrong usage.
type panicError struct {
	doing string
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("%s: panic: %v, at %s", e.doing, e.value, e.place())
}

// place is the line that panicked: the first one of the stack below the runtime's.
func (e *panicError) place() string {
	_, below, _ := strings.Cut(string(e.stack), "panic(")
	for line := range strings.Lines(below) {
		path, _, isPlace := strings.Cut(strings.TrimSpace(line), " +0x")
		if isPlace && !strings.Contains(path, "/runtime/") {
			return path
		}
	}
	return "an unknown place"
}

// crashError is a panic that ended a command. What the command had done until then
// is known to nobody but the record.
type crashError struct{ panicError }
