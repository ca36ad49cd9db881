// Package simcli is the command line of salve-sim: rehearse runs a runbook on the embedded Azure, serve serves it. It
// is a package, and not the program itself, for the tests of package cli, which run it as a command.
//
// What it must never do: reach a real cloud, or a cluster that serve was not given.
package simcli
