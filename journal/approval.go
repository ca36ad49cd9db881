package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/runbook"
)

// ApprovalRule says that a run waits until somebody has approved its plan, and who may.
// It stands in the header: whoever resumes the run waits by the same rule.
type ApprovalRule struct {
	// By names them: user:NAME, group:NAME, key:NAME, or anyone who may. It narrows what
	// the cluster allows, or the keys, and widens neither.
	By []string `json:"by,omitempty"`
	// Keys are the public keys of people, for journals outside of a cluster.
	Keys []ApproverKey `json:"keys,omitempty"`
	// FourEyes: who asks can't approve.
	FourEyes bool `json:"fourEyes,omitempty"`
	// WaitSeconds is how long a run waits.
	WaitSeconds float64 `json:"waitSeconds"`
}

// ApproverKey is the Ed25519 key of a person, in base64.
type ApproverKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Equal tells whether two rules are the same, but for how long is waited.
func (r *ApprovalRule) Equal(other *ApprovalRule) bool {
	if r == nil || other == nil {
		return r == other
	}
	return r.FourEyes == other.FourEyes && slices.Equal(r.By, other.By) && slices.Equal(r.Keys, other.Keys)
}

// Identity is who somebody is, as it was verified: by an API server, or by a key.
type Identity struct {
	User   string   `json:"user"`
	UID    string   `json:"uid,omitempty"`
	Groups []string `json:"groups,omitempty"`
	// Key is the public key that was used, in base64; empty in a cluster.
	Key string `json:"key,omitempty"`
}

// Same tells whether two identities are one: the same key, user or UID.
func (i Identity) Same(other Identity) bool {
	if i.Key != "" || other.Key != "" {
		return i.Key == other.Key || i.User == other.User
	}
	return i.User == other.User || i.UID != "" && i.UID == other.UID
}

// String names the identity, for people.
func (i Identity) String() string { return cmp.Or(i.User, "an unnamed user") }

// Question asks for the approval of the plan that was recorded right before it. It is
// asked by one process and answered once: another process asks anew.
type Question struct {
	// ID is random. Whoever answers names it: an older approval answers nothing.
	ID     string `json:"id"`
	Digest string `json:"plan"`
	// Limits are the inputs that an approval may lower, as they are.
	Limits    map[string]int `json:"limits,omitempty"`
	Requester Identity       `json:"requester"`
}

// Statement is what somebody says of a plan. It is believed when a Question of the same
// ID is open, and never because a record holds it.
type Statement struct {
	// ID tells the statement from every other.
	ID       string `json:"id"`
	Run      string `json:"run"`
	Digest   string `json:"plan"`
	Question string `json:"question"`
	// Denied: the plan must not be executed.
	Denied bool   `json:"denied,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Limits are inputs of the run that the approval lowers.
	Limits map[string]int `json:"limits,omitempty"`
	// Expires is how long the approval is good for, in seconds, from when the runner saw it.
	Expires float64 `json:"expiresSeconds,omitempty"`
	// By is who said it, as it was verified; From is where, by their own word.
	By   Identity `json:"by"`
	From string   `json:"from,omitempty"`
	// Proof says what shows that it was said: the name of an object, or of a file.
	Proof string `json:"proof,omitempty"`
}

// Lasts is how long the approval is good for.
func (s Statement) Lasts() time.Duration { return time.Duration(s.Expires * float64(time.Second)) }

// Approval is a statement that was used. It lets the process that recorded it go on, once.
type Approval struct {
	Statement
	// Inputs are those of the run from then on, where limits were lowered.
	Inputs  json.RawMessage `json:"inputs,omitempty"`
	Private *Export         `json:"private,omitempty"`
}

// takeApproval keeps what is asked and what was answered.
func (h *History) takeApproval(entry Entry) error {
	if entry.Kind == Asked {
		h.Asked = new(Question)
		return json.Unmarshal(entry.Data, h.Asked)
	}
	if entry.Kind == Denied {
		var statement Statement
		h.Asked = nil
		err := json.Unmarshal(entry.Data, &statement)
		h.answered(statement)
		return err
	}
	var approval Approval
	err := json.Unmarshal(entry.Data, &approval)
	h.Asked = nil
	h.answered(approval.Statement)
	if len(approval.Inputs) > 0 {
		h.Header.Inputs, h.Header.Private = approval.Inputs, approval.Private
		if approval.Private != nil {
			h.Header.Inputs = h.private[entry.Seq]
		}
	}
	return err
}

func (h *History) answered(statement Statement) {
	if h.used == nil {
		h.used = map[string]bool{}
	}
	h.used[statement.ID] = true
}

// Used tells whether a statement was used in this run before.
func (h *History) Used(statement string) bool { return h.used[statement] }

// Waiting is a question that is open, with the plan that it is about.
type Waiting struct {
	Question Question
	Plan     runbook.Plan
	Header   Header
}

// ReadWaiting reads the open question of a run without the key of its record, which who
// approves does not hold: the hashes are followed, the seals are not. What it gives may
// be anybody's. An answer binds the digest of the plan and the ID of the question, so
// that an answer to what was forged is an answer to nothing.
func ReadWaiting(ctx context.Context, backend Backend, run string) (Waiting, error) {
	if err := CheckRunName(run); err != nil {
		return Waiting{}, err
	}
	lines, err := backend.Read(ctx, run)
	if err != nil {
		return Waiting{}, fmt.Errorf("reading the record of run %q: %w", run, err)
	}
	chain, err := decode(run, lines)
	if err != nil {
		return Waiting{}, err
	}
	history, err := chain.claimed()
	if err != nil {
		return Waiting{}, err
	}
	switch {
	case history.Asked == nil || history.Plan == nil:
		return Waiting{}, &NotWaitingError{Run: run, Closed: history.Closed}
	case history.Asked.Digest != history.Plan.Digest:
		return Waiting{}, chain.broken(len(chain.entries), "the question is about another plan")
	}
	return Waiting{Question: *history.Asked, Plan: *history.Plan, Header: history.Header}, nil
}

// NotWaitingError says that a run waits for no approval.
type NotWaitingError struct {
	Run string
	// Closed is how the run ended; nil while it is open.
	Closed *Verdict
}

func (e *NotWaitingError) Error() string {
	if e.Closed != nil {
		return fmt.Sprintf("run %q waits for no approval: it is closed, %s (%s)", e.Run, e.Closed.Outcome,
			strings.TrimRight(e.Closed.Reason, "."))
	}
	return fmt.Sprintf("run %q waits for no approval", e.Run)
}
