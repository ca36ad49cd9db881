package permit

// JournalAccess lets the client of the journal and its leases write without a permit:
// without a lease there is none yet, and the record of a change is written before it.
// It names the one namespace whose objects it is about. Only the command line gives
// it; the type is internal so that a runbook of somebody else can't.
type JournalAccess struct{ namespace string }

// ForJournal gives access to the journal in a namespace.
func ForJournal(namespace string) JournalAccess { return JournalAccess{namespace: namespace} }

// Namespace is the journal's namespace; empty for the zero JournalAccess, which gives
// access to nothing.
func (a JournalAccess) Namespace() string { return a.namespace }
