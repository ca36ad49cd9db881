package permit

// EventAccess lets a client create Events in one namespace without a permit: they are
// told to people, and change nothing. Only the command line gives it; the type is internal
// so that a runbook of somebody else can't.
type EventAccess struct{ namespace string }

// ForEvents gives access to the Events of a namespace.
func ForEvents(namespace string) EventAccess { return EventAccess{namespace} }

// Namespace is that of the Events; empty for the zero EventAccess, which gives access to
// nothing.
func (a EventAccess) Namespace() string { return a.namespace }
