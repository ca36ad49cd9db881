// Package changedfiles asks git what changed, as far as pipelines are concerned: their
// files, what those refer to, and the values of the configuration that they use.
//
// It also says what stands for the content of all that. It runs git and changes
// nothing. What git can't tell counts as changed.
package changedfiles
