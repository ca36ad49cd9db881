// Package consistency finds where a post-mortem contradicts itself, or the journals of the runs that it tells of.
//
// It reads a post-mortem in Markdown: sections, claims about how long and how many, and the events of its timeline.
// Code, quotes and chat logs are not claims. Each finding names both places.
//
// It must never report as a contradiction what can't be computed from what stands there: an unknown time zone, a date
// without a year or two counts that may be of different things yield none. What of a timeline can't be held against a
// journal is said once. It must never read a file, the clock or the environment; the data of time zones aside.
package consistency
