// Package collector holds Salve's traces against the receiver of OpenTelemetry's own collector.
package collector
