package report

import (
	"salve/journal"
	"salve/runbook"
)

// Standing is how a run stands, for programs. The texts named state say the same to people, and may be worded anew.
type Standing struct {
	// Phase is "open", "closed", or "unknown" where the record can't be believed.
	Phase Phase `json:"phase"`
	// Outcome is how a closed run ended, or with what an open one was parked: remediated, rolled-out, nothing-to-do,
	// deferred, failed, undecided or needs-attention. A run that is neither has none.
	Outcome runbook.Outcome `json:"outcome,omitempty"`
	// WaitsFor is what an open run waits for: "approval" of its plan, or an "operator", who resumes or abandons it.
	WaitsFor WaitsFor `json:"waitsFor,omitempty"`
	// Record is what is wrong with the record: "broken", "unverified", "lost", or "elsewhere" when only a lease names the
	// run here. One that is read and verified has none.
	Record RecordState `json:"record,omitempty"`
}

// Phase is whether a run is open.
type Phase string

// The phases.
const (
	PhaseOpen    Phase = "open"
	PhaseClosed  Phase = "closed"
	PhaseUnknown Phase = "unknown"
)

// WaitsFor is what an open run waits for.
type WaitsFor string

// What runs wait for.
const (
	ForApproval WaitsFor = "approval"
	ForOperator WaitsFor = "operator"
)

// RecordState is what is wrong with a record.
type RecordState string

// The states of records that are not believed, or not here.
const (
	RecordBroken     RecordState = "broken"
	RecordUnverified RecordState = "unverified"
	RecordLost       RecordState = "lost"
	RecordElsewhere  RecordState = "elsewhere"
)

// StandingOf is how a run stands by its journal.
func StandingOf(history *journal.History) Standing {
	switch {
	case history.Closed != nil:
		return Standing{Phase: PhaseClosed, Outcome: history.Closed.Outcome}
	case history.Parked != nil:
		return Standing{Phase: PhaseOpen, Outcome: history.Parked.Outcome, WaitsFor: ForOperator}
	case history.Asked != nil:
		return Standing{Phase: PhaseOpen, WaitsFor: ForApproval}
	default:
		return Standing{Phase: PhaseOpen}
	}
}

// Unbelieved is how a run stands whose record can't be believed.
func Unbelieved(record RecordState) Standing { return Standing{Phase: PhaseUnknown, Record: record} }

// LeasedOnly is how a run stands that a lease names as open, and whose record is not here.
func LeasedOnly(record RecordState) Standing { return Standing{Phase: PhaseOpen, Record: record} }

// String says it to people, in a word or two.
func (s Standing) String() string {
	switch {
	case s.Phase == PhaseClosed:
		return string(s.Outcome)
	case s.Outcome != "":
		return "open: " + string(s.Outcome)
	case s.WaitsFor == ForApproval:
		return "open: waiting for approval"
	default:
		return string(s.Phase)
	}
}
