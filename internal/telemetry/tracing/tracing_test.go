package tracing_test

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"salve/engine"
	"salve/internal/telemetry/telemetrytest"
	"salve/internal/telemetry/tracing"
	"salve/journal"
	"salve/runbook"
)

// receiver takes OTLP over HTTP.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*spans.Span
	resource []*common.KeyValue
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		raw, err := io.ReadAll(request.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(raw, &sent) != nil || request.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", request.URL.Path, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, of := range sent.ResourceSpans {
			r.resource = of.Resource.Attributes
			for _, scope := range of.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(r.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	return r
}

// tracer is one that reads a few variables.
func tracer(t *testing.T, variables map[string]string) *tracing.Tracer {
	t.Helper()
	made, err := tracing.New(t.Context(), "v1.2.3", func(name string) string { return variables[name] })
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (r *receiver) named(t *testing.T, name string) *spans.Span {
	t.Helper()
	for _, span := range r.spans {
		if span.Name == name {
			return span
		}
	}
	t.Fatalf("no span is called %q", name)
	return nil
}

func attributes(of []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, one := range of {
		all[one.Key] = one.Value.GetStringValue()
	}
	return all
}

func TestARunIsATrace(t *testing.T) {
	r := newReceiver(t)
	traced := tracer(t, nil)
	telemetrytest.Run{Watch: traced.Tell, Name: "20261125-000000-abcdef"}.Execute(t)
	if err := traced.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.spans) != 3 {
		t.Fatalf("%d spans", len(r.spans))
	}
	run := r.named(t, "run shut-valve")
	about := attributes(run.Attributes)
	for key, want := range map[string]string{
		"cicd.pipeline.name": "shut-valve", "cicd.pipeline.run.id": "20261125-000000-abcdef",
		"cicd.pipeline.result": "success", "salve.outcome": "remediated", "salve.target.id": "valve/7",
	} {
		if about[key] != want {
			t.Errorf("%s is %q, want %q", key, about[key], want)
		}
	}
	id := tracing.TraceOf("20261125-000000-abcdef")
	for _, span := range r.spans {
		if string(span.TraceId) != string(id[:]) {
			t.Errorf("%s is in trace %s", span.Name, hex.EncodeToString(span.TraceId))
		}
	}
	for _, name := range []string{"step close", "step drain"} {
		step := r.named(t, name)
		if string(step.ParentSpanId) != string(run.SpanId) || step.StartTimeUnixNano < run.StartTimeUnixNano ||
			step.EndTimeUnixNano > run.EndTimeUnixNano {
			t.Errorf("%s is not within its run: %v", name, step)
		}
		if got := attributes(step.Attributes)["cicd.pipeline.task.run.result"]; got != "success" {
			t.Errorf("%s came to %q", name, got)
		}
	}
	if got := attributes(r.resource); got["service.name"] != "salve" || got["service.version"] != "v1.2.3" {
		t.Errorf("the resource is %v", got)
	}
}

func TestWhatFailsIsAnError(t *testing.T) {
	for name, row := range map[string]struct {
		run    telemetrytest.Run
		span   string
		result string
		failed bool
	}{
		"a step":                 {telemetrytest.Run{Breaks: "close"}, "step close", "failure", true},
		"its run":                {telemetrytest.Run{Breaks: "close"}, "run shut-valve", "failure", true},
		"one that could not see": {telemetrytest.Run{Blind: true}, "run shut-valve", "error", true},
		"one that asks":          {telemetrytest.Run{Asks: "drain"}, "run shut-valve", "error", true},
		"one that went well":     {telemetrytest.Run{}, "run shut-valve", "success", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			traced := tracer(t, nil)
			row.run.Watch = traced.Tell
			row.run.Execute(t)
			if err := traced.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			span := r.named(t, row.span)
			about := attributes(span.Attributes)
			if got := about["cicd.pipeline.result"] + about["cicd.pipeline.task.run.result"]; got != row.result {
				t.Errorf("the result is %q, want %q", got, row.result)
			}
			if failed := span.Status.GetCode() == spans.Status_STATUS_CODE_ERROR; failed != row.failed {
				t.Errorf("the status is %v", span.Status)
			}
			if strings.Contains(span.String(), telemetrytest.Secret) {
				t.Errorf("a secret is told: %v", span)
			}
		})
	}
}

func TestSpansAreLinkedToWhatStartedThem(t *testing.T) {
	r := newReceiver(t)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traced := tracer(t, map[string]string{"TRACEPARENT": parent})
	traced.Tell(engine.Event{Kind: engine.RunBegan, Run: "outer", Runbook: "pipeline", Text: "opened"})
	traced.Tell(engine.Event{Kind: engine.StepBegan, Run: "outer", Runbook: "pipeline", Step: "fleet/heal", Attempt: 1})
	traced.Within("inner", "outer", "fleet/heal")
	telemetrytest.Run{Watch: traced.Tell, Name: "inner"}.Execute(t)
	if err := traced.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	step, inner := r.named(t, "step fleet/heal"), r.named(t, "run shut-valve")
	linked := map[string]bool{}
	for _, link := range inner.Links {
		linked[hex.EncodeToString(link.SpanId)] = true
	}
	if !linked[hex.EncodeToString(step.SpanId)] || !linked["00f067aa0ba902b7"] || len(inner.Links) != 2 {
		t.Errorf("its links are %v", inner.Links)
	}
	if r.named(t, "run pipeline").Status.GetCode() != spans.Status_STATUS_CODE_ERROR {
		t.Error("a run that the process did not end is no error")
	}
}

func TestTheEnvironmentDecides(t *testing.T) {
	type variables = map[string]string
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for name, row := range map[string]struct {
		variables variables
		want      bool
	}{
		"nothing":              {nil, false},
		"an endpoint":          {variables{endpoint: "http://c:4318"}, true},
		"one of traces":        {variables{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, true},
		"disabled":             {variables{endpoint: "http://c", "OTEL_SDK_DISABLED": "true"}, false},
		"another exporter":     {variables{endpoint: "http://c", "OTEL_TRACES_EXPORTER": "none"}, false},
		"the exporter is ours": {variables{endpoint: "http://c", "OTEL_TRACES_EXPORTER": "otlp"}, true},
	} {
		if got := tracing.Enabled(func(name string) string { return row.variables[name] }); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	_, err := tracing.New(context.Background(), "", func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}[name]
	})
	if err == nil || !strings.Contains(err.Error(), "only http/protobuf") {
		t.Errorf("another protocol gives %v", err)
	}
}

func TestWhatIsNotDeliveredIsSaid(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer refusing.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", refusing.URL)
	traced := tracer(t, nil)
	telemetrytest.Run{Watch: traced.Tell}.Execute(t)
	if err := traced.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "traces: not delivered") {
		t.Errorf("closing gives %v", err)
	}
}

// TestNoSpanTellsASecret, whichever event brings it, nor what a server says at length.
func TestNoSpanTellsASecret(t *testing.T) {
	r := newReceiver(t)
	traced := tracer(t, nil)
	said := "forbidden: token " + telemetrytest.Secret + strings.Repeat(" x", 16<<10)
	for _, event := range []engine.Event{
		{Kind: engine.RunBegan, Text: "opened"},
		{Kind: engine.Found, Step: "start", Finding: &runbook.Finding{Guard: "g", Reason: said}},
		{Kind: engine.StepBegan, Step: "close", Attempt: 1},
		{Kind: engine.Waiting, Step: "close", Text: said},
		{Kind: engine.Warning, Text: said},
		{Kind: engine.StepEnded, Step: "close", Result: &journal.Result{Result: journal.Failure, Reason: said}},
		{Kind: engine.RollbackBegan, Text: said},
		{Kind: engine.RunEnded, Verdict: &journal.Verdict{Outcome: runbook.Failed, Reason: said, Question: said}},
	} {
		event.Run, event.Runbook = "run-1", "shut-valve"
		traced.Tell(event)
	}
	if err := traced.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.spans) != 2 {
		t.Errorf("%d spans", len(r.spans))
	}
	for _, span := range r.spans {
		if told := span.String(); strings.Contains(told, telemetrytest.Secret) || len(told) > 20<<10 {
			t.Errorf("%d bytes are told: %.500s", len(told), told)
		}
	}
}

// TestACollectorThatNeverAnswersHoldsNothingUp: it answers only once the process has given up.
func TestACollectorThatNeverAnswersHoldsNothingUp(t *testing.T) {
	over := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer silent.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", silent.URL)
	traced := tracer(t, nil)
	for range 20 {
		telemetrytest.Run{Watch: traced.Tell}.Execute(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := traced.Close(ctx)
	close(over)
	if err == nil || !strings.Contains(err.Error(), "traces: not delivered") {
		t.Errorf("closing gives %v", err)
	}
}
