// Package telemetry tells monitoring systems what happens in runs: metrics, traces, Kubernetes Events, notifications.
//
// It must never change what a run does: nothing in it can fail a run, hold it up for longer than a lock, or end it by a
// panic. What can't be delivered is dropped and counted. The journal is the record, not what is told here.
package telemetry
