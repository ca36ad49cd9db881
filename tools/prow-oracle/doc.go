// Package proworacle holds Salve's reading of a Prow configuration against Prow's
// own: make prow-oracle. It is a module of its own, for Prow needs some hundreds of
// modules that Salve doesn't.
//
// The version of Prow in go.mod is the newest that the module proxy served when this
// was written. Of what is compared here later releases add require_signed_commits,
// which -signed generates.
package proworacle
