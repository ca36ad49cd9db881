// Package diagnostic says what is wrong with a file, where, and what to do
// about it: as values, which text, JSON and SARIF are renderings of.
//
// It never reads a file and knows nothing of pipelines.
package diagnostic
