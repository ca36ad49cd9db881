// Package openpull reads from GitHub what internal/prow/blocked decides over: of one open pull request each thing at
// most once, the cheap first, and nothing that a decision doesn't need.
//
// It must never write, and never leave out that something could not be read: a question says so of each of its parts.
package openpull
