// Package record is the file of a triage that can be made again: what was decided, with which thresholds and by which
// program, and the evidence that it rests on. It is one self-contained file for a ticket or a test.
//
// It never holds logs, examples or credentials, never grows with what a run may hold beyond its bounds, and never says
// who wrote it: its digest shows that it was cut or edited, and whoever writes one anew can make a digest as well.
package record
