// Package blocked decides what to do about an open pull request that waits for a required context: one decision of a
// small set for each pull request, head and context, with its reason and what it rests on.
//
// It is pure: it asks no network, no cluster and no clock, and gives the same answer for the same facts.
//
// It must never decide for an action on what was not seen: a list that was cut, a 404, a ProwJob that can't be read
// make the decision unknown. None of its decisions is to fake a status.
package blocked
