// Package postmortem drafts the post-mortem of an incident from its records: journals of runs and of pipelines, what a
// watch of Prow found, triage documents and chat notes. Draft is the document, as data; renderers write it down.
//
// All of it is pure: the same sources give the same draft. It never asks the world or the clock, never states what no
// source says (what only people know is a question, what a source suggests is a candidate, with the source), never
// compares the clocks of two machines beyond putting their lines in order, never changes what a person wrote into a
// draft, and never prints a credential.
package postmortem
