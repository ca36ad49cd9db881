// Package registrytest is registries for tests: in process, over HTTP on the loopback, with images that are made for a
// test.
//
// It must never be linked into a program.
package registrytest
