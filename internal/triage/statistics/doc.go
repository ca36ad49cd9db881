// Package statistics holds the tests and intervals by which triage tells a cause from a coincidence: Fisher's exact
// test, Benjamini and Hochberg's q values, Wilson's and Newcombe's intervals, the risk ratio, the odds ratio of Mantel
// and Haenszel, and Jaccard's index.
//
// The functions are pure. What they can't answer is an error, never a NaN that somebody compares with a threshold.
// Intervals are two-sided and cover 95 %.
package statistics
