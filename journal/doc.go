// Package journal is the durable record of runs, and the lease on their targets.
//
// A record is a list of entries, each chained to the one before by a hash and sealed
// with the key of its runbook. An entry is on disk before Append returns; then the
// target's lease holds the record's new head. Where a record is kept is a Backend's
// business, who hands out leases a Locker's; the format is the same everywhere.
//
// The journal never changes or removes an entry, never holds a secret, never adopts
// a record without the seal of its runbook's key, and never reads past a broken
// chain: of a record that was tampered with or lost its middle, nothing is believed.
package journal
