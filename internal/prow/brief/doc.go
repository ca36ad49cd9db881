// Package brief bounds what findings about a Prow instance list.
//
// It must never leave something out without saying how much.
package brief
