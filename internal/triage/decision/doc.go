// Package decision makes the verdicts of a triage from evidence: a value that holds all they rest on, as it is read
// back from JSON, and thresholds. So a verdict can be made again wherever the evidence is, with other thresholds too.
//
// It never looks at results, catalogues, histories or clocks: what the evidence doesn't have is lacking, and no default
// takes its place. That nobody was asked (no map, no history, no change) stands in the evidence, and is not an empty
// answer.
package decision
