package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"salve/engine"
	"salve/internal/report"
	"salve/journal"
	"salve/runbook"
)

// errNotConfirmed says that an operator did not want what was shown.
var errNotConfirmed = errors.New("not confirmed: no run was begun")

// interactive tells whether somebody sits in front of the command.
func (a *app) interactive() bool {
	stdin, isFile := a.stdin.(*os.File)
	return isFile && term.IsTerminal(int(stdin.Fd())) && terminal(a.stderr) != nil
}

// confirmed asks on a terminal, once, before a run that passes a point of no return, and
// shows its plan. The run is then bound to the steps that were shown. Nothing is asked
// where somebody has agreed already, or where nobody is there to be asked.
func (e *invocation) confirmed(
	ctx context.Context, machine *engine.Engine, book runbook.Runbook, open *journal.Record, options engine.Options,
) (*engine.ExpectedPlan, error) {
	agreed := options.Plan != nil || options.Approval != nil
	if open != nil {
		agreed = agreed || open.PastReturn() || open.Header.Plan != "" || open.Header.Approval != nil
	}
	if agreed || e.yes || e.scenario != "" || !e.app.interactive() || !pastReturn(book.Steps) {
		return options.Plan, nil
	}
	e.watch.begin(book.Name+" on "+book.Target.Name, true)
	result, err := machine.Plan(ctx, book, options)
	e.watch.end()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil || result.Plan == nil || !slices.ContainsFunc(result.Plan.Steps, irreversible) {
		return nil, nil // the run says why, and records it
	}
	width := widthOf(e.app.stderr)
	if err := report.Plan(e.app.stderr, width, *result.Plan); err != nil {
		return nil, err
	}
	question := fmt.Sprintf("Execute this plan on %s? Past the point of no return nothing is undone. (yes/no)",
		book.Target.Name)
	fmt.Fprintf(e.app.stderr, "\n%s ", report.Wrapped(question, width))
	answer, err := e.app.readLine(ctx)
	if err != nil {
		return nil, err
	}
	if answer := strings.ToLower(strings.TrimSpace(answer)); answer != "yes" && answer != "y" {
		return nil, errNotConfirmed
	}
	return &engine.ExpectedPlan{Digest: result.Plan.Digest, Plan: result.Plan, StepsOnly: true}, nil
}

func pastReturn(steps []runbook.Step) bool {
	return slices.ContainsFunc(steps, func(step runbook.Step) bool { return step.Irreversible && step.Skip == "" })
}

func irreversible(step runbook.PlannedStep) bool { return step.Irreversible }

// readLine reads what is typed. It ends with the context, though whoever types may not.
func (a *app) readLine(ctx context.Context) (string, error) {
	type typed struct {
		line string
		err  error
	}
	lines := make(chan typed, 1)
	go func() {
		line, err := bufio.NewReader(a.stdin).ReadString('\n')
		lines <- typed{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case read := <-lines:
		if read.err != nil && read.line == "" {
			return "", errNotConfirmed // the terminal was closed
		}
		return read.line, nil
	}
}
