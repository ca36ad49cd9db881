package permit

import "slices"

// JournalAccess lets the client of the journal and its leases write without a permit:
// without a lease there is none yet, and the record of a change is written before it.
// It names the namespaces whose objects it is about. Only the command line gives it;
// the type is internal so that a runbook of somebody else can't.
type JournalAccess struct{ namespaces []string }

// ForJournal gives access to the namespaces of a journal.
func ForJournal(namespaces ...string) JournalAccess {
	return JournalAccess{namespaces: slices.Clone(namespaces)}
}

// Namespaces are those of the journal; none for the zero JournalAccess, which gives
// access to nothing.
func (a JournalAccess) Namespaces() []string { return slices.Clone(a.namespaces) }
