// Package entrypoint rolls out the service groups of an entrypoint of a topology, each after those that it waits for:
// one run, whose steps are the rollouts of the service groups' pipelines. Each pipeline has a run of its own, with a
// record of its own. Which one that is stands in the entrypoint's record before it begins, so that it is found again
// after a crash.
//
// It never acts on the world itself, and never takes a service group for rolled out but by the record of its
// pipeline's run.
package entrypoint
