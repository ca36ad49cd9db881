// Package reach tells a server that a command will never reach from one that stumbles.
//
// It must never decide by an error's text, and never call a failure permanent that may pass by itself: a server that
// has answered once is one that may come back.
package reach
