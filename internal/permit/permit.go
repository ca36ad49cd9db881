package permit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"salve/internal/apierr"
)

// Terms are what a permit was minted on.
type Terms struct {
	Run, Target, Step string
	// Attempt counts the intents of the step, from 1.
	Attempt int
	// Epoch is the lease's fencing token.
	Epoch int64
	// Expires is the moment from which the permit is void.
	Expires time.Time
	// Now tells the time.
	Now func() time.Time
	// Lease fails when the lease is no longer ours.
	Lease func(context.Context) error
	// Note is told each request that the permit lets pass, right before it is sent;
	// what it gives is told the answer. Both may be called from several goroutines.
	// May be nil.
	Note func(sent Request) (answered func(Request))
}

// Request is one line of a run's audit trail: a change that was sent, and the
// answer. It holds no body and no query, which may hold secrets.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	// Permit is the ID that went with the request.
	Permit string `json:"permit"`
	// Status is the answer's HTTP status; zero when there was no answer.
	Status int `json:"status,omitempty"`
	// Class is what the lack of an answer means.
	Class apierr.Class `json:"class,omitempty"`
}

// Permit is proof that a step's guards held just now and that the lease was
// ours. The zero Permit authorizes nothing.
type Permit struct{ terms *Terms }

// Mint makes a permit. Only the engine may call it.
func Mint(terms Terms) Permit { return Permit{terms: &terms} }

// Authorize is asked for every change right before it is sent. It fails, with
// class Conflict, for the zero permit, an expired one, and one whose lease was
// lost to another runner.
func (p Permit) Authorize(ctx context.Context) error {
	switch {
	case p.terms == nil:
		return apierr.New(apierr.Conflict, "no permit: a change was requested outside of a step")
	case !p.terms.Now().Before(p.terms.Expires):
		return apierr.New(apierr.Conflict, "permit expired: step %q, at %s", p.terms.Step,
			p.terms.Expires.UTC().Format(time.RFC3339))
	}
	if err := p.terms.Lease(ctx); err != nil {
		return fmt.Errorf("permit of step %q: %w", p.terms.Step, err)
	}
	return nil
}

func (p Permit) note(sent Request) (answered func(Request)) {
	if p.terms == nil || p.terms.Note == nil {
		return func(Request) {}
	}
	return p.terms.Note(sent)
}

// ID identifies the permit in the form of a GUID, the same for the same run,
// step, attempt and epoch. It is sent with each change as the client's request
// ID, which ties the cloud's own log to the journal.
func (p Permit) ID() string {
	if p.terms == nil {
		return ""
	}
	t := p.terms
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%d\x00%d", t.Run, t.Target, t.Step, t.Attempt, t.Epoch))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// Run names the run that the permit was minted for.
func (p Permit) Run() string {
	if p.terms == nil {
		return ""
	}
	return p.terms.Run
}
