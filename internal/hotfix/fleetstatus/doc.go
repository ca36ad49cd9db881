// Package fleetstatus reads the events that many nodes have written of a hotfix, collected into folders, and says what
// the rollout came to: on how many nodes it runs, and where it doesn't and why.
//
// What is collected comes from nodes, and anybody may have written it: it is bounded, read as data and never followed
// out of its folder. It must never count what it could not read as well, nor leave it unnamed.
package fleetstatus
