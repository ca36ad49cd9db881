package tracing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// Enabled tells whether the environment asks for traces
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
func Enabled(lookup func(string) string) bool {
	switch {
	case strings.EqualFold(lookup("OTEL_SDK_DISABLED"), "true"):
		return false
	case lookup("OTEL_TRACES_EXPORTER") != "" && lookup("OTEL_TRACES_EXPORTER") != "otlp":
		return false
	}
	return lookup("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || lookup("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// protocolOf refuses what the exporter does not speak.
func protocolOf(lookup func(string) string) error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := lookup(name); protocol != "" {
			if protocol != "http/protobuf" {
				return fmt.Errorf("%s=%q: only http/protobuf is supported", name, protocol)
			}
			return nil
		}
	}
	return nil
}

// Tracer tells runs as traces.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	// caller is the span that the process was started in; invalid without one.
	caller trace.SpanContext

	mu    sync.Mutex
	runs  map[string]span
	steps map[attempt]span
	// parents are the steps of pipelines whose action is a run.
	parents map[string]trace.SpanContext
	failed  []error
}

type attempt struct{ run, step string }

type span struct {
	trace.Span
	ctx context.Context //nolint:containedctx // it carries the span to those within it
}

// New makes a tracer from the standard environment variables. TRACEPARENT, as CI systems set it, is linked to.
func New(ctx context.Context, version string, lookup func(string) string) (*Tracer, error) {
	if err := protocolOf(lookup); err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("making the exporter of traces: %w", err)
	}
	// OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come last, and prevail.
	described, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "salve"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describing the resource of traces: %w", err)
	}
	t := &Tracer{
		provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described),
			sdktrace.WithIDGenerator(identities{})),
		runs: map[string]span{}, steps: map[attempt]span{}, parents: map[string]trace.SpanContext{},
	}
	t.tracer = t.provider.Tracer("salve")
	t.caller = trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx,
		propagation.MapCarrier{"traceparent": lookup("TRACEPARENT"), "tracestate": lookup("TRACESTATE")}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.fail)) // the SDK has no other way to tell
	return t, nil
}

// mostErrors bounds what is remembered of a collector that refuses everything.
const mostErrors = 3

func (t *Tracer) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.failed) < mostErrors {
		t.failed = append(t.failed, err)
	}
}

// Within says that a run is the action of a step of another one: its span is linked to the step's.
func (t *Tracer) Within(run, of, step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if within, known := t.steps[attempt{of, step}]; known {
		t.parents[run] = within.SpanContext()
	}
}

// Tell makes spans of events.
func (t *Tracer) Tell(event engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch event.Kind {
	case engine.RunBegan:
		t.beginRun(event)
	case engine.StepBegan:
		t.beginStep(event)
	case engine.Found:
		t.within(event).AddEvent("finding", trace.WithTimestamp(event.At), trace.WithAttributes(finding(event)...))
	case engine.Waiting, engine.Warning, engine.RollbackBegan:
		t.within(event).AddEvent(string(event.Kind), trace.WithTimestamp(event.At),
			trace.WithAttributes(attribute.String("salve.text", bounded(event.Text))))
	case engine.StepEnded:
		t.endStep(event)
	case engine.RunEnded:
		t.endRun(event)
	default: // the rest is for people
	}
}

func (t *Tracer) beginRun(event engine.Event) {
	ctx := context.WithValue(context.Background(), ofRun{}, event.Run)
	var links []trace.Link
	for _, to := range []trace.SpanContext{t.parents[event.Run], t.caller} {
		if to.IsValid() {
			links = append(links, trace.Link{SpanContext: to})
		}
	}
	delete(t.parents, event.Run)
	ctx, made := t.tracer.Start(ctx, "run "+event.Runbook, trace.WithTimestamp(event.At), trace.WithLinks(links...),
		trace.WithSpanKind(trace.SpanKindServer), trace.WithNewRoot(), trace.WithAttributes(
			attribute.String("cicd.pipeline.name", event.Runbook), attribute.String("cicd.pipeline.run.id", event.Run),
			attribute.String("salve.run.began", event.Text),
			attribute.String("salve.target.kind", event.Target.Kind), attribute.String("salve.target.id", event.Target.ID)))
	t.runs[event.Run] = span{made, ctx}
}

func (t *Tracer) beginStep(event engine.Event) {
	of, known := t.runs[event.Run]
	if !known {
		return
	}
	ctx, made := t.tracer.Start(of.ctx, "step "+event.Step, trace.WithTimestamp(event.At), trace.WithAttributes(
		attribute.String("cicd.pipeline.task.name", event.Step),
		attribute.String("cicd.pipeline.task.run.id", fmt.Sprintf("%s/%s/%d", event.Run, event.Step, event.Attempt)),
		attribute.Int("salve.step.attempt", event.Attempt), attribute.Bool("salve.step.irreversible", event.Irreversible)))
	key := attempt{event.Run, event.Step}
	if open, begun := t.steps[key]; begun { // an attempt whose end was not told
		open.End(trace.WithTimestamp(event.At))
	}
	t.steps[key] = span{made, ctx}
}

// within is the span that an event belongs to: that of its step, or its run's.
func (t *Tracer) within(event engine.Event) trace.Span {
	step := strings.TrimPrefix(event.Step, "step ") // as findings name what they were asked for
	if open, known := t.steps[attempt{event.Run, step}]; known {
		return open
	}
	if run, known := t.runs[event.Run]; known {
		return run
	}
	return trace.SpanFromContext(context.Background()) // records nothing
}

func (t *Tracer) endStep(event engine.Event) {
	key := attempt{event.Run, event.Step}
	open, known := t.steps[key]
	if !known {
		return
	}
	delete(t.steps, key)
	open.SetAttributes(attribute.String("cicd.pipeline.task.run.result", taskResult(event.Result.Result)))
	if event.Result.Result != journal.Done {
		open.SetStatus(codes.Error, bounded(event.Result.Reason))
	}
	open.End(trace.WithTimestamp(event.At))
}

func (t *Tracer) endRun(event engine.Event) {
	for key, open := range t.steps {
		if key.run == event.Run {
			open.End(trace.WithTimestamp(event.At))
			delete(t.steps, key)
		}
	}
	run, known := t.runs[event.Run]
	if !known {
		return
	}
	delete(t.runs, event.Run)
	outcome := event.Verdict.Outcome
	run.SetAttributes(attribute.String("cicd.pipeline.result", pipelineResult(outcome)),
		attribute.String("salve.outcome", string(outcome)), attribute.String("salve.reason", bounded(event.Verdict.Reason)))
	if result := pipelineResult(outcome); result == failure || result == errored {
		run.SetStatus(codes.Error, bounded(event.Verdict.Reason))
	}
	run.End(trace.WithTimestamp(event.At))
}

// Close ends what is still open, as when the process is interrupted, and delivers all spans.
func (t *Tracer) Close(ctx context.Context) error {
	t.mu.Lock()
	for _, open := range t.steps {
		open.End()
	}
	for _, open := range t.runs {
		open.SetStatus(codes.Error, "the process ended before the run did")
		open.End()
	}
	clear(t.steps)
	clear(t.runs)
	t.mu.Unlock()
	err := t.provider.Shutdown(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err = errors.Join(append(t.failed, err)...); err != nil {
		return fmt.Errorf("traces: not delivered: %w", err)
	}
	return nil
}

// success and the others are the values of cicd.pipeline.result
// (https://opentelemetry.io/docs/specs/semconv/registry/attributes/cicd/).
const (
	success = "success"
	failure = "failure"
	errored = "error"
	skipped = "skip"
)

func pipelineResult(outcome runbook.Outcome) string {
	switch outcome {
	case runbook.Remediated, runbook.RolledOut:
		return success
	case runbook.NothingToDo, runbook.Deferred:
		return skipped
	case runbook.Failed:
		return failure
	default:
		return errored
	}
}

func taskResult(result journal.ResultKind) string {
	switch result {
	case journal.Done:
		return success
	case journal.Failure:
		return failure
	default:
		return errored
	}
}

func finding(event engine.Event) []attribute.KeyValue {
	f := event.Finding
	return []attribute.KeyValue{
		attribute.String("salve.guard", f.Guard), attribute.String("salve.answer", string(f.Answer)),
		attribute.String("salve.reason", bounded(f.Reason)), attribute.Float64("salve.seconds", event.Took.Seconds()),
	}
}
