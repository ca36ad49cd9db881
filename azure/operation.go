package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/runbook"
)

// Kind names what an operation does; it is kept with the resume token.
type Kind string

const (
	putPool       Kind = "put-pool"
	deletePool    Kind = "delete-pool"
	abortCluster  Kind = "abort-cluster"
	putDeployment Kind = "put-deployment"
	// whatIf changes nothing: it is started again rather than gone on with.
	whatIf Kind = "what-if"
)

// ErrOperationLost says that an operation can't be polled: ARM doesn't know it any more,
// or what leads to it is not ARM's. How it ended shows in its resource alone.
var ErrOperationLost = errors.New("operation lost")

// Operation is a long-running operation of ARM that was accepted.
type Operation struct {
	client   *Client
	kind     Kind
	resource string
	poller   poller
	started  time.Time
}

// poller is the SDK's runtime.Poller without its result's type.
type poller interface {
	Poll(context.Context) (*http.Response, error)
	Done() bool
	ResumeToken() (string, error)
	result(context.Context) error
}

type typedPoller[T any] struct{ *runtime.Poller[T] }

func (p typedPoller[T]) result(ctx context.Context) error {
	_, err := p.Result(ctx)
	return err
}

func untyped[T any](p *runtime.Poller[T]) poller { return typedPoller[T]{p} }

func (c *Client) operation(kind Kind, resource string, p poller) *Operation {
	return &Operation{client: c, kind: kind, resource: resource, poller: p, started: c.clock.Now()}
}

// Token gives the resume token. An operation that is over has none, nor has one whose
// polling URL is not ARM's: ok is false, and its resource is to be looked at.
func (o *Operation) Token() (token Token, ok bool) {
	if o.poller.Done() {
		return Token{}, false
	}
	resume, err := o.poller.ResumeToken()
	if err != nil {
		return Token{}, false
	}
	token = Token{Kind: o.kind, Resource: o.resource, Resume: resume, Began: o.started}
	_, err = o.client.checked(token, o.resource)
	return token, err == nil
}

// Note keeps the operation's resume token in the run's record, so that its step polls
// it on in another process too.
func (o *Operation) Note(ctx context.Context, run runbook.Run) error {
	if token, ok := o.Token(); ok {
		return run.Note(ctx, runbook.OperationNote, token)
	}
	return nil
}

// AwaitNoted waits for the operation on a resource that the step which asks has noted, and
// fails with the operation's own error. When it noted none, or the operation is lost, there
// is nothing to wait for: the resource shows what became of it.
func (c *Client) AwaitNoted(ctx context.Context, run runbook.Run, resource string) error {
	var token Token
	found, err := run.Recall(runbook.OperationNote, &token)
	if !found || err != nil {
		return err
	}
	operation, err := c.Resume(token, resource)
	if err == nil {
		err = operation.Wait(ctx)
	}
	if errors.Is(err, ErrOperationLost) {
		return nil
	}
	return err
}

// Resume makes the operation of a token, to go on polling it. It fails with
// ErrOperationLost, class Transient, for a token that is not of the resource that the
// caller means, or that leads away from ARM: the operation was accepted all the same.
func (c *Client) Resume(token Token, resource string) (*Operation, error) {
	resume, err := c.checked(token, resource)
	var resumed poller
	switch {
	case err != nil:
	case token.Kind == putPool:
		resumed, err = fromToken[armcontainerservice.AgentPoolsClientCreateOrUpdateResponse](c, resume)
	case token.Kind == deletePool:
		resumed, err = fromToken[armcontainerservice.AgentPoolsClientDeleteResponse](c, resume)
	case token.Kind == abortCluster:
		resumed, err = fromToken[armcontainerservice.ManagedClustersClientAbortLatestOperationResponse](c, resume)
	case token.Kind == putDeployment:
		resumed, err = fromToken[armresources.DeploymentsClientCreateOrUpdateAtScopeResponse](c, resume)
	default:
		err = fmt.Errorf("unknown kind %q", token.Kind)
	}
	if err != nil {
		return nil, lost(fmt.Errorf("resuming an operation: %w", err))
	}
	return &Operation{client: c, kind: token.Kind, resource: resource, poller: resumed, started: token.Began}, nil
}

func fromToken[T any](c *Client, token string) (poller, error) {
	resumed, err := runtime.NewPollerFromResumeToken[T](token, c.arm.Pipeline(), nil)
	if err != nil {
		return nil, err
	}
	return untyped(resumed), nil
}

// Wait polls until the operation ends, at a pace that slows down with its
// length, and fails with the operation's own error. Of one that can't be polled it
// fails with ErrOperationLost, class Transient: read its resource instead.
func (o *Operation) Wait(ctx context.Context) error {
	clk := o.client.clock
	refused := 0
	for !o.poller.Done() {
		elapsed := clk.Since(o.started)
		asked, err := o.poll(ctx)
		pause := backoff.Operations().Next(elapsed, asked)
		if err != nil {
			class := apierr.ClassOf(err)
			if class != apierr.Transient && class != apierr.Throttled {
				return fmt.Errorf("polling %s: %w", o.kind, err)
			}
			if errors.Is(err, ErrOperationLost) {
				return fmt.Errorf("polling %s: %w", o.kind, err)
			}
			refused++
			pause = backoff.Refusals().Pause(refused, apierr.RetryAfter(err))
		}
		if o.poller.Done() {
			break
		}
		if paused := clock.Sleep(ctx, clk, pause); paused != nil {
			return fmt.Errorf("waiting for %s: %w", o.kind, paused)
		}
	}
	if err := backoff.Once(ctx, clk, o.poller.result); err != nil {
		return fmt.Errorf("%s: %w", o.kind, ended(err))
	}
	return nil
}

// ended classifies the error of an operation. The operation was accepted: only ARM's own
// word of how it ended says that it failed, no answer that leads elsewhere or can't be
// read.
func ended(err error) error {
	var foreign *foreignURLError
	var response *azcore.ResponseError
	switch answered := errors.As(err, &response); {
	case isNotFound(err, operationNotFound), errors.As(err, &foreign),
		answered && response.StatusCode >= 300 && response.StatusCode < 400:
		return lost(classify(err))
	case !answered && apierr.ClassOf(err) == apierr.Terminal:
		return &apierr.Error{Class: apierr.Transient, Err: err}
	}
	return classify(err)
}

// lost is the error of an operation that can't be polled. The class of its cause, which
// may be one by which nothing happened, must not be found.
func lost(cause error) error {
	return &apierr.Error{Class: apierr.Transient, Err: fmt.Errorf("%w: %w", ErrOperationLost, cause)}
}

// poll asks once and gives the pause that the service wants before the next.
func (o *Operation) poll(ctx context.Context) (time.Duration, error) {
	var response *http.Response
	err := backoff.Once(ctx, o.client.clock, func(ctx context.Context) error {
		var err error
		response, err = o.poller.Poll(ctx)
		return err
	})
	if err != nil {
		return 0, ended(err)
	}
	return retryAfter(response), nil
}
