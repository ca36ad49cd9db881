package runbook

// EndedError is an error of Apply whose work was begun, and has ended: a process that was
// started, which leaves no trail of requests as a client does. Such an attempt is never
// refused, whatever its class, because some of it has happened; and nothing of it is under
// way any longer.
type EndedError struct{ Err error }

func (e *EndedError) Error() string { return e.Err.Error() }

// Unwrap gives the error, which has the class.
func (e *EndedError) Unwrap() error { return e.Err }
