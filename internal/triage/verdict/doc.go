// Package verdict puts together what is known of a group of failures: its cause, the alternative that the change under
// test did it, its signatures and its history. It gives a verdict, how sure it is and why, what would change it, and
// what to do.
//
// It never says that something isn't the change because nothing was found: that takes refutations, one of them hard.
package verdict
