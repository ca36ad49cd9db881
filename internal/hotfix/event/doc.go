// Package event keeps what salve-node did, one file an event, for whoever asks
// afterwards and for the agent that collects them.
//
// It must never grow without bound, and never be a reason for a boot to fail: its
// errors are for a line on standard error.
package event
