// Package timeline writes what a run of a pipeline came to, from its record alone:
// as JUnit XML for systems that show test results, and as a picture of what ran
// when.
//
// It never reads the clock, and it writes no secret: there is none in a record.
package timeline
