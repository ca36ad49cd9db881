//go:build linux

// Package metrics says what a node's last boot came to in the text format of Prometheus, for the textfile collector of
// node_exporter.
//
// It must never give a label a value that comes from outside as it is: outcomes and reasons are those of a list or
// «other», versions have their form or are left out. It must never leave half a file under the name that is read.
package metrics
