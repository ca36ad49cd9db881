package tracing

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
)

// TraceOf is the trace of a run: the same in each process that executes it, so that a run that was resumed elsewhere is
// one trace.
func TraceOf(run string) (id trace.TraceID) {
	sum := sha256.Sum256([]byte("salve run " + run))
	copy(id[:], sum[:])
	return id
}

// ofRun is the key of a context whose spans belong to a run.
type ofRun struct{}

// identities gives spans their run's trace.
type identities struct{}

func (i identities) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	run, _ := ctx.Value(ofRun{}).(string)
	id := TraceOf(run)
	return id, i.NewSpanID(ctx, id)
}

func (identities) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for id == (trace.SpanID{}) { // zero is no ID
		for i := range id {
			id[i] = byte(rand.UintN(256)) //nolint:gosec // an ID, not a secret
		}
	}
	return id
}
