package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"salve/runbook"
)

// addWatch gives check the early alarm.
func (a *app) addWatch(command *cobra.Command, definition entry, asked *request) {
	watch := false
	command.Flags().BoolVar(&watch, "watch", false, "stay, print a line for each change, and exit 1 at the first alarm")
	once := command.RunE
	command.RunE = func(command *cobra.Command, arguments []string) error {
		if !watch {
			return once(command, arguments)
		}
		if asked.telemetry.listen != "" || asked.telemetry.file != "" {
			return usage("--watch has no metrics: --metrics-listen and --metrics-file are for a check that ends")
		}
		if err := definition.read(a, asked, command.Flags()); err != nil {
			return err
		}
		return a.watchWorld(command.Context(), definition, asked)
	}
}

func (a *app) watchWorld(parent context.Context, definition entry, asked *request) error {
	watched, leave := context.WithCancel(parent)
	defer leave()
	ctx, done := interruptible(watched, func(line string) { fmt.Fprintln(a.stderr, line) }, nil)
	defer done()
	found, err := definition.watch(ctx, a, asked, func(line string) {
		if fmt.Fprintln(a.stdout, line); a.unread() {
			leave()
		}
	})
	switch {
	case err != nil:
		return err
	case found.Answer == runbook.AnswerDoesNotHold:
		return errors.New(found.Reason)
	case context.Cause(ctx) != nil:
		return nil // asked to stop, and there was no alarm
	}
	return &unseenError{errors.New(found.Reason)}
}
