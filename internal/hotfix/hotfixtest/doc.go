//go:build linux

// Package hotfixtest makes real node programs for tests: good ones, and all the
// kinds that must never run. It is for tests only.
package hotfixtest
