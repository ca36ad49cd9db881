// Package stray is what a live Prow's ProwJobs and pods say about the failure of 5 February 2019: pods in another
// namespace than theirs, jobs without a pod, storms of jobs that time out, pods that miss what is where they belong,
// and a deploy job that can't deploy the way back. The rules are A1 to A5 and C5, and P4: sources of the pod
// namespace that disagree.
//
// A rule evaluates a level: what there is at a moment, with the time of that moment, and little that is remembered of
// what is not there any more. The same moment gives the same findings, whatever happened before it.
//
// It must never read a cluster or a clock, and never take what is not seen for nothing: a rule that lacks an input is
// UNKNOWN, with the reason. One object that can't be read, or that says something else than all others, takes nothing
// away but what it could change, and never what was found. What it remembers is bounded, however long it is used and
// however large the Prow is.
package stray
