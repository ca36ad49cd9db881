package permit

// ApprovalAccess lets a client say what a person thinks of a run's plan without a permit: it is said to a runner, which
// decides whether it counts. Only the command line gives it; the type is internal so that a runbook of somebody else
// can't.
type ApprovalAccess struct{ granted bool }

// ForApprovals gives access to the creation of statements.
func ForApprovals() ApprovalAccess { return ApprovalAccess{granted: true} }

// Granted is false for the zero ApprovalAccess, which gives access to nothing.
func (a ApprovalAccess) Granted() bool { return a.granted }
