// Package redact takes credentials out of text before it is written anywhere.
//
// It is the last line behind the rule that secrets are never put into journal or
// log: it knows the shapes of tokens, not their values, and never stores any.
package redact
