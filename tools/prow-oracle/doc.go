// Package proworacle holds Salve's reading of a Prow configuration against Prow's
// own: make prow-oracle. It is a module of its own, for Prow needs some hundreds of
// modules that Salve doesn't.
//
// go.mod names the version of Prow whose behaviour was studied, by its whole pseudo-version: the module proxy serves
// that one, and answers 403 when it is asked about versions. Later ones know require_signed_commits, which -signed
// generates.
package proworacle
