package azuresim

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// errNotSeen refuses a fault that could never happen.
var errNotSeen = errors.New(
	"it is about calls to the cluster's API, which go to the cluster that is given and are not seen here")

// FitsGivenCluster fails when the scenario can't be played with a cluster that is given.
func (s Scenario) FitsGivenCluster() error {
	for i := range s.Faults {
		if s.Faults[i].ofKubernetesCalls() {
			return fmt.Errorf("scenario %s: fault %d: %w", s.Name, i+1, errNotSeen)
		}
	}
	return nil
}

// ParseFault reads one fault, YAML or JSON, as it would stand in the scenario's list of faults.
func (s Scenario) ParseFault(source string, data []byte) (Fault, error) {
	var fault Fault
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	err := decoder.Decode(&fault)
	if errors.Is(err, io.EOF) {
		return Fault{}, fmt.Errorf("%s: line 1: there is no fault in it", source)
	}
	if err != nil {
		return Fault{}, fmt.Errorf("%s: %w", source, readable(err))
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return Fault{}, fmt.Errorf("%s: %w", source, readable(err))
	}
	fault.fillIn()
	if p := fault.check(nil, &s); p != nil {
		return Fault{}, fmt.Errorf("%s: line %d: %s", source, lineOf(&document, p.path), p.reason)
	}
	return fault, nil
}

// Inject adds a fault that ParseFault gave to those that there are. Its times are counted from now.
func (w *World) Inject(fault Fault) error {
	if w.kube == nil && fault.ofKubernetesCalls() {
		return errNotSeen
	}
	w.lock()
	defer w.unlock()
	w.model.addFault(fault)
	return nil
}

// LiftFaults ends every fault, the scenario's too. What they did stays done, but for budgets that forbid every
// disruption.
func (w *World) LiftFaults() {
	w.lock()
	defer w.unlock()
	w.model.faults.lift()
}
