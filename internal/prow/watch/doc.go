// Package watch keeps looking at a live Prow and tells what its rules come to: those of package stray over mirrors of
// its ProwJobs and pods, and those about GitHub, which somebody else polls.
//
// It tells levels: what holds now. A line is for a change of a level, and says which; one for the better waits until it
// has stayed so for a while. What can't be seen any more is UNKNOWN with the reason, and a finding of before it is
// neither repeated nor called gone.
//
// It must never change what it watches, and acts on nothing. What it tells goes to sinks, of which one writes Events
// into one namespace, where it was asked to.
package watch
