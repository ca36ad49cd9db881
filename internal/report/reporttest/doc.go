// Package reporttest makes sources of post-mortems for tests: journals written entry by entry, the day of an
// outage told by all kinds of sources, a journal with many events, and one whose every text wants to do harm.
//
// No program may link it.
package reporttest
