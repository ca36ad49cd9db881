// Package telemetrytest executes runs that end in each way, for tests of what is told of them.
package telemetrytest
