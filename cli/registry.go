package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/clock"
	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/armdeployment"
	"salve/runbooks/deploymentstack"
	"salve/runbooks/helmrelease"
	"salve/runbooks/mirrorimage"
	"salve/runbooks/registerproviders"
)

// factory makes the runbooks of an invocation: those of one name, on the world that
// flags lead to.
type factory interface {
	// trial is a runbook made without looking at anything, to find what is invalid.
	trial() (runbook.Runbook, error)
	// cluster is the one in which the journal is kept.
	cluster(ctx context.Context) (*kube.Cluster, error)
	// books are to be run one after the other. Where there is none it gives the
	// ending.
	books(ctx context.Context, kept *journal.Location) ([]runbook.Runbook, []engine.Result, error)
	// again makes the runbook that a run was started with.
	again(ctx context.Context, kept *journal.Location, header journal.Header) (runbook.Runbook, error)
	// without is the ending of an invocation that came to no target.
	without(outcome runbook.Outcome, reason string) []engine.Result
	clock() clock.Clock
}

// entry is what a provider gives to one command.
type entry interface {
	name() string
	short() string
	long() string
	example() string
	// validate finds what its author forgot.
	validate() error
	// addFlags are those of its inputs and of the ways to its world.
	addFlags(asked *request, flags *pflag.FlagSet)
	// read takes flags and environment together.
	read(a *app, asked *request, flags *pflag.FlagSet) error
	// factory connects to the world; it makes no call.
	factory(a *app, asked *request) (factory, error)
	// resumed is the factory that a run was started with.
	resumed(ctx context.Context, a *app, asked *request, header journal.Header) (factory, error)
	// replayed makes the runbook of a recorded run, with inputs of its own or others, for its decisions alone.
	replayed(header journal.Header, inputs json.RawMessage) (runbook.Runbook, error)
	// watches tells whether there is something to watch for; watch does it until there
	// is an alarm.
	watches() bool
	watch(ctx context.Context, a *app, asked *request, say func(string)) (runbook.Finding, error)
}

// entries are new ones each time: each holds the inputs of one command.
func (a *app) entries() []entry {
	var all []entry
	for _, provider := range a.program.Runbooks {
		all = append(all, provider.entry())
	}
	return all
}

// ofSteps are the runbooks that do the work of steps of pipelines.
func ofSteps() []string {
	return []string{armdeployment.Name, deploymentstack.Name, helmrelease.Name, mirrorimage.Name, registerproviders.Name}
}

// reserved are the names that records have where others have that of a runbook on the command line.
func reserved() []string { return append(ofSteps(), rollout.Name, entrypoint.Name) }

// runbookNames are all names of runbooks that a run may have.
func (a *app) runbookNames() []string {
	names := reserved()
	for _, one := range a.entries() {
		names = append(names, one.name())
	}
	slices.Sort(names)
	return names
}

var runbookName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// validateRunbooks refuses providers that a command line can't be made of.
func (a *app) validateRunbooks() error {
	names := map[string]bool{}
	for _, name := range reserved() {
		names[name] = true
	}
	for i, provider := range a.program.Runbooks {
		if provider == nil {
			return fmt.Errorf("invalid program: runbook %d is nil", i+1)
		}
		definition := provider.entry()
		name := definition.name()
		switch {
		case !runbookName.MatchString(name):
			return fmt.Errorf("invalid program: runbook name %q: want lower-case letters, digits and hyphens", name)
		case names[name]:
			return fmt.Errorf("invalid program: duplicate runbook %q", name)
		}
		names[name] = true
		if err := errors.Join(definition.validate(), a.validateFlags(definition)); err != nil {
			return fmt.Errorf("invalid program: runbook %q: %w", name, err)
		}
	}
	return nil
}

// validateFlags finds flags that a command has already.
func (a *app) validateFlags(definition entry) (err error) {
	defer func() {
		if redefined := recover(); redefined != nil { // so pflag tells of it
			err = fmt.Errorf("%v", redefined)
		}
	}()
	for _, verb := range []verb{act, plan, check} {
		command := &cobra.Command{}
		definition.addFlags(&request{}, command.Flags())
		if command.Flags().ShorthandLookup("o") != nil {
			return errors.New("flag redefined: -o is a flag of every command")
		}
		if flag := command.Flags().Lookup("output"); flag != nil || command.Flags().Lookup("verbosity") != nil {
			return errors.New("flag redefined: output and verbosity are flags of every command")
		}
		command = &cobra.Command{}
		a.addFlags(command, verb, definition, &request{})
	}
	return nil
}

// entryOf is the entry for an open run.
func (a *app) entryOf(header journal.Header) (entry, error) {
	for _, definition := range a.entries() {
		if definition.name() == header.Runbook {
			return definition, nil
		}
	}
	if slices.Contains(ofSteps(), header.Runbook) {
		return nil, usage("run %q does the work of a step of a pipeline; "+
			"the run of that pipeline resumes it when it is resumed", header.Run)
	}
	return nil, usage("run %q is of runbook %q, which this program does not have; "+
		"resume it with the program that started it", header.Run, header.Runbook)
}

// missing is the error of the flags that the inputs still require.
func (d Definition[World, Inputs]) missing(in Inputs) error {
	if d.Missing == nil {
		return nil
	}
	return missingFlags(d.Missing(in))
}

// made makes a definition's runbook and checks that it can be found again by its name.
func (d Definition[World, Inputs]) made(world World, in Inputs) (book runbook.Runbook, err error) {
	defer func() {
		if value := recover(); value != nil {
			doing := fmt.Sprintf("making runbook %q", d.Name)
			book, err = runbook.Runbook{}, &panicError{doing: doing, value: value, stack: debug.Stack()}
		}
	}()
	book, err = d.New(world, in)
	if err == nil && book.Name != d.Name {
		return runbook.Runbook{}, fmt.Errorf("invalid runbook %q: it is provided under the name %q", book.Name, d.Name)
	}
	if err == nil && len(d.Limits) > 0 {
		d.limit(&book, world, in)
	}
	return book, err
}

// limit tells a runbook which of its inputs an approval may lower, and how.
func (d Definition[World, Inputs]) limit(book *runbook.Runbook, world World, in Inputs) {
	book.Limits = map[string]int{}
	for name, field := range d.Limits {
		book.Limits[name] = *field(&in)
	}
	book.Lowered = func(limits map[string]int) (runbook.Runbook, error) {
		lowered := in
		for name, number := range limits {
			field, known := d.Limits[name]
			if !known {
				return runbook.Runbook{}, fmt.Errorf("unknown limit %q", name)
			}
			*field(&lowered) = number
		}
		return d.made(world, lowered)
	}
}

// replayed makes a definition's runbook for its decisions alone.
func (d Definition[World, Inputs]) replayed(header journal.Header, inputs json.RawMessage) (runbook.Runbook, error) {
	header.Inputs = inputs
	in, err := inputsOf[Inputs](header)
	if err != nil {
		return runbook.Runbook{}, err
	}
	of := d
	if d.Replayed != nil {
		of.New = func(_ World, in Inputs) (runbook.Runbook, error) { return d.Replayed(in, header.Target) }
	}
	var none World
	return of.made(none, in)
}

// invalidInputs is wrong usage, unless the error is a panic.
func invalidInputs(err error) error {
	var panicked *panicError
	if errors.As(err, &panicked) {
		return err
	}
	return usage("%v", err)
}

// validate finds what is missing.
func (d Definition[World, Inputs]) validate() error {
	if d.New == nil {
		return errors.New("the function New is missing")
	}
	return nil
}

// inputsOf reads the inputs that a run was started with.
func inputsOf[Inputs any](header journal.Header) (in Inputs, err error) {
	decoder := json.NewDecoder(bytes.NewReader(header.Inputs))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return in, badInputs(header, err)
	}
	return in, nil
}

func badInputs(header journal.Header, err error) error {
	var panicked *panicError
	if errors.As(err, &panicked) {
		return err
	}
	return &attentionError{fmt.Errorf("the inputs in the journal of run %q: %w", header.Run, err)}
}
