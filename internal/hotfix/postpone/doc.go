//go:build linux

// Package postpone remembers from one boot to the next what could not be fetched, so
// that a server that is dead, or a program that does not fit, does not cost every boot
// what it has cost one.
//
// What is remembered is no authority: where it can't be read, or makes no sense, it is
// as if there were nothing. This package must never put off for ever: not when the
// clock jumps, and not when it stands still from boot to boot.
package postpone
