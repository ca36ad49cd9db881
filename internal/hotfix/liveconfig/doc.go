//go:build linux

// Package liveconfig asks the live service, right before a node fetches, which hotfixes
// are published now, and merges the answer into the node's pointer file.
//
// It is one call behind the cluster's API server, spoken as gRPC without its
// runtime. This package must never go through a proxy, never believe a server that
// the cluster's authority did not vouch for, never leave a torn pointer file, and
// never take longer than its limits: a node is waiting to boot.
package liveconfig
