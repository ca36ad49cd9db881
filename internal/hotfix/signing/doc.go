// Package signing is the publisher's side of trust: keys in files, in an agent or behind a command, and signatures that
// are added to documents, one person after the other.
//
// It must never show a private key, never read one that others could have read, never write over one, and never hand
// out a signature that it did not verify. Nodes don't link it.
package signing
