// Package clock is the injected time of the house: sleeps and deadlines that end
// with a context, so that ten minutes pass in milliseconds where time is virtual or
// accelerated.
//
// It never waits without a context, and it never decides what to wait for.
package clock
