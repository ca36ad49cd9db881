// Package lazyregexp has regular expressions that are compiled when they are first used. A hundred of them read chats
// and post-mortems; compiled at start, every other command would wait for them.
//
// It must never be used for an expression that is put together from input: an invalid one ends the program.
package lazyregexp
