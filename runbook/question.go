package runbook

// QuestionError is an error of Apply or Await after which only an operator can tell whether to go on: the run is parked
// with the question. When it is resumed, the step is observed and attempted again; what the operator has changed since,
// or an override that was given, makes the difference.
type QuestionError struct{ Reason, Question string }

func (e *QuestionError) Error() string { return e.Reason }
