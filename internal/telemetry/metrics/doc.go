// Package metrics counts and measures what happens in runs, for Prometheus: served over HTTP, or written as a file for
// node_exporter's textfile collector, as batch runs need it. No run, cluster or target is ever a label.
package metrics
