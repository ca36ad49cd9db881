// Package report says in text and in JSON what was found, what is planned and
// what happened: findings, plans, timelines, explanations, lists of runs.
//
// Its functions are pure: they read results and journals and write to the writer
// they are given. They never ask the world or the clock, never decide anything
// but the comparison of a past decision with the same one made again, and never
// print a credential.
package report
