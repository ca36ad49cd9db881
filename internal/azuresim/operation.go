package azuresim

import (
	"fmt"
	"time"
)

// Operation is one long-running operation.
type Operation struct {
	ID string `json:"id"`
	// Kind is create, update, delete, abort, settle or reconcile.
	Kind string `json:"kind"`
	// Resource is the resource ID that it works on.
	Resource string    `json:"resource"`
	Started  time.Time `json:"started"`
	// Ended is zero while it runs.
	Ended time.Time `json:"ended,omitzero"`
	// Result is InProgress, Succeeded, Failed or Canceled.
	Result string `json:"result"`
	// By is client, aks or concurrent-writer.
	By string `json:"by"`
}

const (
	kindCreate    = "create"
	kindUpdate    = "update"
	kindDelete    = "delete"
	kindAbort     = "abort"
	kindSettle    = "settle"    // a tag merge that moves the cluster to Succeeded
	kindReconcile = "reconcile" // an update of the cluster itself

	inProgress = "InProgress"
)

// operation is an Operation and what belongs to its running.
type operation struct {
	Operation
	pool        *pool // nil: it works on the cluster itself
	failure     *failure
	correlation string
	steps       []*event
	finished    func(result string) // what its end means for the model
}

// failure is the error of an operation that did not succeed.
type failure struct {
	Code    string `json:"code"`
	Target  string `json:"target,omitempty"`
	Message string `json:"message"`
	// Details are the errors that it comes from.
	Details []failure `json:"details,omitempty"`
}

// refusal is why nothing was begun, and the status that says so.
type refusal struct {
	status int
	failure
}

func refuse(status int, code, format string, arguments ...any) *refusal {
	return &refusal{status, failure{Code: code, Message: fmt.Sprintf(format, arguments...)}}
}

// begin records an operation that started now. All but an abort keep the cluster busy until they end.
func (m *model) begin(kind, by string, p *pool) *operation {
	target := m.clusterID()
	if p != nil {
		target = m.poolID(p.name)
	}
	op := &operation{
		Operation: Operation{
			ID: m.names.uuid(kind + " of " + target), Kind: kind, Resource: target, Started: m.time.now,
			Result: inProgress, By: by,
		},
		pool:        p,
		correlation: m.names.uuid("correlation of " + kind + " of " + target),
		finished:    func(string) {},
	}
	m.operations = append(m.operations, op)
	if kind == kindAbort {
		m.aborting = op
	} else {
		m.running = op
	}
	m.log.operationStarted(m, op)
	return op
}

// step enters a part of the operation, which its end or its abort takes out again.
func (m *model) step(op *operation, after time.Duration, do func()) {
	op.steps = append(op.steps, m.time.after(after, do))
}

// stop takes out what is left of an operation, the retries of its pool's scale set included.
func (m *model) stop(op *operation) {
	for _, step := range op.steps {
		step.off = true
	}
	for _, p := range m.pools {
		if op.pool == nil || op.pool == p {
			m.stopFailedWrites(p.scaleSet)
		}
	}
}

// end ends an operation once, applies what that means and lets the next actor in.
func (m *model) end(op *operation, result string, why *failure) {
	if !op.Ended.IsZero() {
		return
	}
	m.stop(op)
	op.Ended, op.Result, op.failure = m.time.now, result, why
	if m.running == op {
		m.running = nil
	}
	if m.aborting == op {
		m.aborting = nil
	}
	op.finished(result)
	m.log.operationEnded(m, op)
	for m.running == nil && len(m.waiting) > 0 {
		next := m.waiting[0]
		m.waiting = m.waiting[1:]
		next()
	}
}

// whenFree runs do now or as soon as nothing else runs.
func (m *model) whenFree(do func()) {
	if m.running == nil {
		do()
		return
	}
	m.waiting = append(m.waiting, do)
}

// busy is the refusal of a second operation, nil when nothing runs.
func (m *model) busy() *failure {
	if m.running == nil {
		return nil
	}
	what := fmt.Sprintf("Another operation (%s) is in progress", m.cluster.state)
	if p := m.running.pool; p != nil {
		what = fmt.Sprintf("Another agentpool operation (%s - %s) is in progress", p.name, p.state)
	}
	return &failure{
		Code: "OperationNotAllowed",
		Message: "Operation is not allowed: " + what + ", please wait for it to finish before starting a new operation. " +
			"See https://aka.ms/aks-pending-operation for more details",
	}
}

func (m *model) operation(id string) *operation {
	for _, op := range m.operations {
		if op.ID == id {
			return op
		}
	}
	return nil
}

// abort stops what runs; after a while it, its pools and a cluster that was being changed are Canceled. It returns the
// abort that is already on its way, and nil when nothing runs.
func (m *model) abort(by string) *operation {
	if m.aborting != nil {
		return m.aborting
	}
	target := m.running
	if target == nil {
		return nil
	}
	m.stop(target)
	op := m.begin(kindAbort, by, target.pool)
	m.step(op, m.scenario.Durations.Abort.span(), func() {
		if target.pool == nil || m.changing(m.cluster.state) {
			m.setClusterState(stateCanceled)
		}
		m.end(op, stateSucceeded, nil)
		m.end(target, stateCanceled,
			&failure{Code: "Canceled", Message: "The operation has been canceled by an abort request."})
	})
	return op
}

// changing: a state that an operation leaves again.
func (m *model) changing(state string) bool {
	return state == stateUpdating || state == stateUpgrading || state == stateCreating || state == stateDeleting
}

// reconcile runs an update of the cluster itself that leaves its state as it was.
func (m *model) reconcile(by string, duration time.Duration) {
	before := m.cluster.state
	op := m.begin(kindReconcile, by, nil)
	m.setClusterState(stateUpdating)
	op.finished = func(result string) {
		if result == stateSucceeded {
			m.setClusterState(before)
		}
	}
	m.step(op, duration, func() { m.end(op, stateSucceeded, nil) })
}

// mergeTags changes the cluster's tags. On a Canceled or Failed cluster without failed pools that also starts the
// reconciliation that settles it; otherwise it returns nil.
func (m *model) mergeTags(change func(tags map[string]string)) *operation {
	change(m.cluster.tags)
	m.touch(nil)
	if m.cluster.state != stateCanceled && m.cluster.state != stateFailed || m.anyPoolFailed() {
		return nil
	}
	op := m.begin(kindSettle, byClient, nil)
	m.setClusterState(stateUpdating)
	op.finished = func(result string) {
		if result == stateSucceeded {
			m.setClusterState(stateSucceeded)
		}
	}
	m.step(op, m.scenario.Durations.Settle.span(), func() { m.end(op, stateSucceeded, nil) })
	return op
}
