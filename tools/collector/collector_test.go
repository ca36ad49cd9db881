// Package collector holds Salve's traces against the receiver of OpenTelemetry's own collector.
package collector

import (
	"net"
	"testing"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"salve/internal/telemetry/telemetrytest"
	"salve/internal/telemetry/tracing"
)

func TestTheCollectorTakesTraces(t *testing.T) {
	address := freeAddress(t)
	factory, taken := otlpreceiver.NewFactory(), &consumertest.TracesSink{}
	config := factory.CreateDefaultConfig()
	type options = map[string]any
	given := confmap.NewFromStringMap(options{"protocols": options{"http": options{"endpoint": address}}})
	if err := given.Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	receiver, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(factory.Type()), config, taken)
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = receiver.Shutdown(t.Context()) }()

	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+address)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod")
	tracer, err := tracing.New(t.Context(), "v1.2.3", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	telemetrytest.Run{Watch: tracer.Tell, Name: "run-1"}.Execute(t)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if taken.SpanCount() != 3 {
		t.Fatalf("the collector took %d spans", taken.SpanCount())
	}
	for _, traces := range taken.AllTraces() {
		resource := traces.ResourceSpans().At(0)
		if env, _ := resource.Resource().Attributes().Get("deployment.environment.name"); env.AsString() != "prod" {
			t.Errorf("the resource is %v", resource.Resource().Attributes().AsRaw())
		}
		spans := resource.ScopeSpans().At(0).Spans()
		for i := range spans.Len() {
			if id := spans.At(i).TraceID(); [16]byte(id) != tracing.TraceOf("run-1") {
				t.Errorf("span %s is in trace %s", spans.At(i).Name(), id)
			}
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
