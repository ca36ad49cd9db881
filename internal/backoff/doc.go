// Package backoff holds the schedules by which Salve asks again: exponential pauses
// after a refusal, polling of long-running operations, and retries of reads.
//
// It retries reads only. A change is never repeated here: whether it may be is the
// engine's to decide, after it has observed the world.
package backoff
