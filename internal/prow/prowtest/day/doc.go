// Command day replays 5 February 2019 with today's Prow: its own plank and branchprotector on a real control plane, a
// GitHub over HTTP, and salve beside them. Everything that is printed after a dollar sign is run as it is printed.
//
// It is for demonstrations and tests on one's own machine. It must never reach a cluster or a GitHub that it did not
// start itself, and nothing in it outlives it.
package main
