// Package proworacle holds Salve's reading of a Prow configuration against Prow's
// own: make prow-oracle. It is a module of its own, for Prow needs some hundreds of
// modules that Salve doesn't.
package proworacle
