package actionprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/internal/pipeline/process"
	"salve/internal/pipeline/rollout"
)

// notStartedError is a program that never ran: it has changed nothing.
type notStartedError struct{ err error }

func (e *notStartedError) Error() string { return e.err.Error() }
func (e *notStartedError) Unwrap() error { return e.err }

// ask runs the program once, and reads its answer. The answer decides together with the exit code: one that says
// done, of a program that failed, is believed by nobody.
func ask[A answer](ctx context.Context, a *Action, verb verb, attempt *rollout.Attempt) (A, error) {
	var none A
	wrap := func(err error) error { return fmt.Errorf("%s%s %s: %w", Prefix, attempt.Step.Action.Value, verb, err) }
	limit := looking
	if verb == apply {
		limit = working
		if attempt.Step.Timeout != nil {
			limit = attempt.Step.Timeout.Duration
		}
	}
	limited, cancel := clock.WithTimeout(ctx, a.Clock, limit)
	defer cancel()
	began := a.Clock.Now()
	said, exit, err := a.run(limited, verb, attempt)
	if err != nil {
		return none, wrap(&notStartedError{err})
	}
	read, unread := decode[A](said.kept.Bytes())
	switch {
	case exit.Stopped:
		had := within(ctx, limited, limit, a.Clock.Since(began))
		return none, wrap(fmt.Errorf("it was ended after %s, without an answer", had))
	case !exit.ByItself():
		return none, wrap(fmt.Errorf("it was cut off: %s", exit))
	case said.over:
		return none, wrap(fmt.Errorf("its answer has more than %d bytes", maxAnswer))
	case unread != nil && exit.Code != 0:
		return none, wrap(fmt.Errorf("%s; %w", exit, unread))
	case unread != nil:
		return none, wrap(unread)
	case exit.Code != 0 && !bad(read):
		return none, wrap(fmt.Errorf("%s, and its answer says that all went well", exit))
	}
	return read, nil
}

// within says how long a program had: the step's own timeout may end before the limit of a verb does.
func within(step, limited context.Context, limit, took time.Duration) string {
	switch {
	case errors.Is(context.Cause(step), context.DeadlineExceeded):
		return took.Round(time.Second).String()
	case errors.Is(context.Cause(limited), context.DeadlineExceeded):
		return limit.String()
	}
	return "an interrupt"
}

// bad tells whether an answer fits an exit code other than 0.
func bad(said answer) bool {
	switch read := said.(type) {
	case observation:
		return read.State == stateUnknown
	case applied:
		return read.Result != resultDone
	}
	return false
}

// run gives an error when the program could not be started.
func (a *Action) run(ctx context.Context, verb verb, attempt *rollout.Attempt) (*bounded, process.Exit, error) {
	said := &bounded{limit: maxAnswer}
	if err := a.Program.unchanged(); err != nil {
		return said, process.Exit{}, err
	}
	home, err := os.MkdirTemp("", "salve-action-")
	if err != nil {
		return said, process.Exit{}, fmt.Errorf("making a home folder for it: %w", err)
	}
	defer func() { _ = os.RemoveAll(home) }() // what is left of an empty home is nobody's loss
	asked, secrets, err := requestOf(verb, attempt)
	if err != nil {
		return said, process.Exit{}, err
	}
	environment := append([]string{"HOME=" + home, "SALVE_RUN=" + attempt.Run,
		"SALVE_STEP=" + attempt.Step.ID().String()}, process.Inherited(a.Environment, a.Pass)...)
	exit, err := process.Command{
		Path: a.Program.Path, Arguments: []string{string(verb)}, Stdin: asked, Folder: a.Folder,
		Environment: append(environment, secrets...), Stdout: said, Stderr: attempt.Log,
		Mark: mark(attempt.Run, attempt.Step.ID()), Grace: a.Grace, Clock: a.Clock,
	}.Run(ctx)
	return said, exit, err
}

// requestOf is what a program reads, and the secrets as variables of its environment.
func requestOf(verb verb, attempt *rollout.Attempt) (raw []byte, environment []string, err error) {
	step := attempt.Step
	asked := request{
		Schema: Schema, Verb: verb, Run: attempt.Run, Step: step.ID().String(), Action: step.Action.Value,
		Attempt: attempt.Number, ResourceGroup: step.Group.ResourceGroup.Value,
		Subscription: step.Group.Subscription.Value, Secrets: map[string]string{},
	}
	values := make([]any, 0, len(attempt.Variables))
	for _, one := range attempt.Variables {
		if !one.Secret {
			values = append(values, one.Value)
			continue
		}
		name := fmt.Sprintf("SALVE_SECRET_%d", len(environment)+1)
		if strings.ContainsRune(one.Text(), 0) {
			return nil, nil, fmt.Errorf("the secret %s holds a zero byte, which no variable can", one.Name)
		}
		environment = append(environment, name+"="+one.Text())
		asked.Secrets[one.Name] = name
		values = append(values, nil)
	}
	if asked.Fields, err = pipeline.Nest(step.Fields, values); err != nil {
		return nil, nil, fmt.Errorf("the fields of step %s: %w", step.ID(), err)
	}
	raw, err = json.Marshal(asked)
	if err != nil {
		return nil, nil, fmt.Errorf("writing the request of step %s: %w", step.ID(), err)
	}
	return append(raw, '\n'), environment, nil
}

// bounded keeps the beginning of what a program says. It lets the rest pass: a program must not hang because of it.
//
// The buffer is no part of its type: io.Copy would have it read all that there is.
type bounded struct {
	kept  bytes.Buffer
	limit int
	over  bool
}

func (b *bounded) Write(text []byte) (int, error) {
	fits := min(len(text), b.limit-b.kept.Len())
	b.over = b.over || fits < len(text)
	b.kept.Write(text[:fits])
	return len(text), nil
}
