package removeoperator

import (
	"fmt"
	"time"

	"salve/runbooks/removeoperator/cleanup"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Inputs are what the runbook is made from. They are journaled.
type Inputs struct {
	// Group is the API group, with all below it.
	Group string `json:"group"`
	// Namespace is the operator's own. It is deleted with all that is in it.
	Namespace string `json:"namespace"`
	// Selectors are label selectors of what is the operator's own elsewhere.
	Selectors []string `json:"selectors,omitempty"`
	// Finalizers may be removed besides those of the group.
	Finalizers []string `json:"finalizers,omitempty"`
	// StopOperator scales the operator to zero first.
	StopOperator bool `json:"stopOperator,omitempty"`
	// AllowCascade is the reason for taking along objects outside of the group.
	AllowCascade string `json:"allowCascade,omitempty"`
	// Bundle is a file for the export; without one it must fit into the journal.
	Bundle string `json:"bundle,omitempty"`
	// CascadeWait is how long deletions are waited for before anything is forced.
	CascadeWait metav1.Duration `json:"cascadeWait"`
	// Budget bounds the whole run.
	Budget metav1.Duration `json:"budget"`
}

// Defaults are the inputs that a user need not give.
func Defaults() Inputs {
	return Inputs{
		CascadeWait: metav1.Duration{Duration: 3 * time.Minute}, Budget: metav1.Duration{Duration: 10 * time.Minute},
	}
}

// Validate finds invalid inputs.
func (in Inputs) Validate() error {
	for _, checked := range []struct {
		flag string
		err  error
	}{
		{"--group", cleanup.CheckGroup(in.Group)},
		{"--namespace", cleanup.CheckNamespace(in.Namespace)},
		{"--selector", cleanup.CheckSelectors(in.Selectors)},
		{"--finalizer", cleanup.CheckFinalizers(in.Finalizers)},
	} {
		if checked.err != nil {
			return fmt.Errorf("%s: %w", checked.flag, checked.err)
		}
	}
	if in.CascadeWait.Duration < 0 || in.Budget.Duration <= in.CascadeWait.Duration {
		return fmt.Errorf("--cascade-wait %s: it must be from 0 to less than the --budget of %s",
			in.CascadeWait.Duration, in.Budget.Duration)
	}
	return nil
}
