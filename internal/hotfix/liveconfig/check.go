//go:build linux

package liveconfig

import (
	"context"
	"errors"
	"fmt"

	"salve/internal/hotfix"
)

// Outcome says how a check ended.
type Outcome string

// The outcomes. With all but LiveRead, NoHotfixForBase and ColdStartFallback the
// pointer file stays byte for byte as it was.
const (
	LiveRead          Outcome = "live-read"           // a hotfix for this node was served; the file has it now
	NoHotfixForBase   Outcome = "no-hotfix-for-base"  // a map was served that has none for this node's base
	NonePublished     Outcome = "none-published"      // the service has nothing for this node
	Rejected          Outcome = "rejected"            // what was served can't be followed
	ColdStartFallback Outcome = "cold-start-fallback" // out of reach; the map of the node's configuration counts
	Failed            Outcome = "failed"              // and nothing was done
)

// Result is what came of a check.
type Result struct {
	Outcome Outcome
	// Decision is that by the served map alone; with no map it is the zero value.
	Decision hotfix.Decision
	// Written tells whether the pointer file was changed.
	Written bool
	// Err says what went wrong on the way, also when a fallback mended it.
	Err error
}

// Check asks the live service and merges what it serves into the pointer file of a
// node whose version is current.
func (c *Client) Check(ctx context.Context, current, pointer string) Result {
	if _, err := hotfix.ParseVersion(current); err != nil {
		return Result{Outcome: Failed, Err: fmt.Errorf("the node's own version: %w", err)}
	}
	node, err := c.node()
	if err != nil {
		return c.fallBack(ctx, current, pointer, node, err)
	}
	served, err := c.ask(ctx, node)
	var status *StatusError
	switch {
	case err == nil:
		return c.merge(ctx, current, pointer, served)
	case errors.As(err, &status) && status.Code.nothing():
		return Result{Outcome: NonePublished, Err: err}
	case errors.As(err, &status) && status.Code.refuses():
		return Result{Outcome: Failed, Err: err}
	}
	return c.fallBack(ctx, current, pointer, node, err)
}

func (c *Client) ask(ctx context.Context, node configuration) (string, error) {
	to, err := c.service(node)
	if err != nil {
		return "", err
	}
	signature, err := c.signature(ctx)
	if err != nil {
		return "", err
	}
	return c.call(ctx, to, signature)
}

// merge takes over what was served, and names how that ended. The file is only
// touched, and locked, when there is something to write.
func (c *Client) merge(ctx context.Context, current, pointer, served string) Result {
	merged, err := hotfix.Merge(current, nil, []byte(served))
	result := Result{Outcome: outcomeOf(merged.Served.Reason), Decision: merged.Served}
	if err == nil && merged.Document != nil {
		result.Written, err = c.rewrite(ctx, pointer, func(contents []byte) ([]byte, error) {
			merged, err := hotfix.Merge(current, contents, []byte(served))
			return merged.Document, err
		})
	}
	switch {
	case err != nil:
		result.Outcome, result.Err = Failed, err
	case result.Outcome == Rejected:
		result.Err = fmt.Errorf("the map can't be followed: %s", merged.Served.Reason)
	}
	return result
}

func outcomeOf(served hotfix.Reason) Outcome {
	switch served {
	case hotfix.ReasonInstall:
		return LiveRead
	case hotfix.ReasonBaseNotListed, hotfix.ReasonExplicitlyNone:
		return NoHotfixForBase
	case hotfix.ReasonNoVersion, hotfix.ReasonEmptyPointer:
		return NonePublished
	default:
		return Rejected
	}
}

// fallBack merges the map of the node's configuration, where there is one.
func (c *Client) fallBack(ctx context.Context, current, pointer string, node configuration, reason error) Result {
	if len(node.hotfixes) == 0 || string(node.hotfixes) == "null" {
		return Result{Outcome: Failed, Err: fmt.Errorf("%w; the node's configuration has no map to fall back on", reason)}
	}
	result := c.merge(ctx, current, pointer, `{"hotfixes":`+string(node.hotfixes)+`}`)
	if result.Outcome == LiveRead || result.Outcome == NoHotfixForBase {
		result.Outcome, result.Err = ColdStartFallback, reason
		return result
	}
	if result.Err == nil {
		result.Err = fmt.Errorf("it names nothing: %s", result.Decision.Reason)
	}
	fallback := fmt.Errorf("falling back on the node's configuration: %w", result.Err)
	return Result{Outcome: Failed, Decision: result.Decision, Err: errors.Join(reason, fallback)}
}
