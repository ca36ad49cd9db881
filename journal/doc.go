// Package journal is the durable record of runs, and the lease on their targets.
//
// A record is a list of entries, each chained to the one before by a hash. An
// entry is on disk before Append returns. Where it is kept is a Backend's
// business; the format is the same everywhere.
//
// The journal never changes or removes an entry, never holds a secret, and never
// reads past a broken chain: of a record that was tampered with or lost its
// middle, nothing is believed.
package journal
