// Package tracing tells runs as OpenTelemetry traces, by OTLP over HTTP: a trace for each run, a span for each process
// that executed it and one for each attempt at a step. The standard OTEL_ variables say where they go; without an
// endpoint there are none. Names of spans and attributes follow OpenTelemetry's semantic conventions for CI/CD.
package tracing
