// Package pace is how Salve waits: pauses, deadlines and polling schedules, all
// on the injected clock, so that ten minutes pass in milliseconds where time is
// virtual or accelerated.
//
// It never waits without a context, and it never decides what to wait for.
package pace
