package azuresim

import (
	"encoding/json"
	"fmt"
)

const corruptionCode = "NetworkingInternalOperationError"

// startFailedWrites lets AKS try to write a corrupted scale set again and again, until stopFailedWrites.
func (m *model) startFailedWrites(p *pool) {
	if !p.scaleSet.corrupted || p.scaleSet.retrying {
		return
	}
	p.scaleSet.retrying = true
	m.nextAttempt(p.scaleSet)
}

func (m *model) nextAttempt(set *scaleSet) {
	every := m.scenario.Durations.Retry.span()
	jitter := m.names.between(0, every*2/15, "attempt", set.name, fmt.Sprint(m.names.next("attempt on "+set.name)))
	set.retry = m.time.after(every*14/15+jitter, func() {
		m.log.writeFailed(m, set, m.time.now)
		m.nextAttempt(set)
	})
}

func (m *model) stopFailedWrites(set *scaleSet) {
	if set.retry != nil {
		set.retry.off = true
	}
	set.retrying, set.retry = false, nil
}

func writeFailed(set *scaleSet) *failure {
	return &failure{
		Code: "ReconcileVMSSAgentPoolFailed",
		Message: fmt.Sprintf("VMSSAgentPoolReconciler retry failed: Category: InternalError; SubCode: %s; "+
			"Dependency: Microsoft.Compute/VirtualMachineScaleSet; AKSTeam: NodeProvisioning; Resource: %s",
			corruptionCode, set.name),
	}
}

// statusMessage is how the Activity Log carries an error: JSON as a string.
func statusMessage(code, message string) string {
	text, err := json.Marshal(map[string]any{"error": failure{Code: code, Message: message}})
	if err != nil {
		return "" // two strings always encode
	}
	return string(text)
}
