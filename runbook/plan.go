package runbook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Plan is the ordered steps with what each will change.
type Plan struct {
	Runbook string        `json:"runbook"`
	Version string        `json:"version"`
	Target  Target        `json:"target"`
	Steps   []PlannedStep `json:"steps"`
	// Digest stands for runbook, target, inputs and evidence: the same state
	// of the world gives the same digest.
	Digest string `json:"digest"`
}

// PlannedStep is one line of a plan.
type PlannedStep struct {
	Name         string          `json:"name"`
	Changes      string          `json:"changes"`
	Inputs       json.RawMessage `json:"inputs,omitempty"`
	Irreversible bool            `json:"irreversible,omitempty"`
}

// Plan makes the plan of those of a runbook's steps that are left to do, on the
// evidence of findings. The time at which evidence was seen is not part of the
// digest.
func (r Runbook) Plan(run Run, steps []Step, findings []Finding) (Plan, error) {
	plan := Plan{Runbook: r.Name, Version: r.Version, Target: r.Target}
	for _, step := range steps {
		planned := PlannedStep{Name: step.Name, Changes: step.Changes, Irreversible: step.Irreversible}
		if step.Inputs != nil {
			inputs, err := step.Inputs(run)
			if err != nil {
				return Plan{}, fmt.Errorf("planning step %q: %w", step.Name, err)
			}
			if planned.Inputs, err = json.Marshal(inputs); err != nil {
				return Plan{}, fmt.Errorf("planning step %q: %w", step.Name, err)
			}
		}
		plan.Steps = append(plan.Steps, planned)
	}
	digest, err := r.digest(plan.Steps, findings)
	plan.Digest = digest
	return plan, err
}

func (r Runbook) digest(steps []PlannedStep, findings []Finding) (string, error) {
	type fact struct {
		Guard    string
		Answer   Answer
		Source   string
		Identity string
		Value    json.RawMessage
	}
	var facts []fact
	for _, f := range findings {
		facts = append(facts, fact{Guard: f.Guard, Answer: f.Answer})
		for _, e := range f.Evidence {
			facts = append(facts, fact{f.Guard, f.Answer, e.Source, e.Identity, e.Value})
		}
	}
	raw, err := json.Marshal([]any{r.Name, r.Version, r.Target.ID, r.Inputs, steps, facts})
	if err != nil {
		return "", fmt.Errorf("digest of the plan: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}
