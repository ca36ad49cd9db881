// Package trust tells whether the owner of a fleet signed what a node is asked to do: envelopes of DSSE with signatures
// of Ed25519, root documents that say whose signatures count, their rotation, and pointers that expire and never go
// back. The ideas are those of The Update Framework; docs/decisions/0018 says why this is not one of its libraries.
//
// Verifying is pure: the same bytes, memory and time give the same answer. Store keeps on disk what has to be
// remembered.
//
// It must never parse a payload whose signatures were not counted, but for a root document, which has to say what it
// is first; never count a key twice; never let what is remembered widen what the configured root allows; and never
// give a document back before it was checked whole. It knows no network and no private key.
package trust
