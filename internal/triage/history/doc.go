// Package history remembers which groups of failures earlier runs had: one JSON line for each run, in a folder that can
// lie in a repository or on a share.
//
// What is counted are builds, each once, however often one was triaged, however many tests failed in it, and however
// often its line is there: folders are merged by putting their files together, or their lines. Lines are never changed
// or taken away. Each is written into a file of its own, under a name that its content gives, so that two writers don't
// meet, and two branches of a repository merge without a conflict.
//
// It must never take one machine's clock against another's: the times in it are those that the CI system gave its runs,
// and windows are hours and days. A run that is ahead of the reader's clock by no more than Skew counts as of now; one
// further ahead is in no window, until its time has come. It must never take a line that it doesn't understand for one
// that it does, nor let such a line keep it from the others: it is left out and reported.
//
// A run that isn't known to have run a scenario can show a failure, but never that there was none.
//
// Examples are written as they are given: who records takes secrets out before.
//
// The cache is derived from the lines and is no more than that: the answers are the same without it.
package history
