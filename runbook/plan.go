package runbook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"salve/internal/redact"
)

// Plan is the ordered steps with what each will change, and what they rest on. It holds
// all that its digest stands for, but for what looks like a credential, which is masked
// in both.
type Plan struct {
	Runbook string        `json:"runbook"`
	Version string        `json:"version"`
	Target  Target        `json:"target"`
	Steps   []PlannedStep `json:"steps"`
	// Inputs are those that the runbook was made from.
	Inputs json.RawMessage `json:"inputs,omitempty"`
	// Evidence is what the guards found.
	Evidence []Fact `json:"evidence,omitempty"`
	// Digest is the SHA-256 of runbook, version, ID of the target, inputs, steps and
	// evidence: the same state of the world gives the same digest.
	Digest string `json:"digest"`
}

// PlannedStep is one line of a plan.
type PlannedStep struct {
	Name         string          `json:"name"`
	Changes      string          `json:"changes"`
	Inputs       json.RawMessage `json:"inputs,omitempty"`
	Irreversible bool            `json:"irreversible,omitempty"`
}

// Fact is evidence of a guard's answer, without the time at which it was seen; the
// answer alone where the guard gave none.
type Fact struct {
	Guard    string          `json:"guard"`
	Answer   Answer          `json:"answer"`
	Source   string          `json:"source,omitempty"`
	Identity string          `json:"identity,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
}

// Plan makes the plan of those of a runbook's steps that are left to do, on the
// evidence of findings. The time at which evidence was seen is not part of it.
func (r Runbook) Plan(run Run, steps []Step, findings []Finding) (Plan, error) {
	plan := Plan{Runbook: r.Name, Version: r.Version, Target: r.Target, Evidence: facts(findings)}
	var err error
	if plan.Inputs, err = json.Marshal(r.Inputs); err != nil {
		return Plan{}, fmt.Errorf("digest of the plan: encoding the inputs of %s: %w", r.Name, err)
	}
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
	return plan.sealed()
}

func facts(findings []Finding) (all []Fact) {
	for _, f := range findings {
		all = append(all, Fact{Guard: f.Guard, Answer: f.Answer})
		for _, e := range f.Evidence {
			all = append(all, Fact{f.Guard, f.Answer, e.Source, e.Identity, e.Value})
		}
	}
	return all
}

// sealed is the plan with credentials masked and its digest set. It is masked before: a
// plan that was written down has the digest of what stands there.
func (p Plan) sealed() (Plan, error) {
	p.Digest = ""
	raw, err := json.Marshal(p)
	if err != nil {
		return Plan{}, fmt.Errorf("encoding the plan: %w", err)
	}
	if masked := redact.JSON(raw); !bytes.Equal(masked, raw) {
		p = Plan{}
		if err := json.Unmarshal(masked, &p); err != nil {
			return Plan{}, fmt.Errorf("masking the plan: %w", err)
		}
	}
	p.Digest, err = p.digest()
	return p, err
}

// Verify fails when the digest is not that of the plan.
func (p Plan) Verify() error {
	digest, err := p.digest()
	switch {
	case err != nil:
		return err
	case digest != p.Digest:
		return fmt.Errorf("digest mismatch: the plan says %q, its content has digest %s", p.Digest, digest)
	}
	return nil
}

// Short is the beginning of the digest, for people. It identifies no plan: Digest does.
func (p Plan) Short() string { return p.Digest[:min(len(p.Digest), shortDigest)] }

const shortDigest = 16

// digest is over values without names, in an order that never changes.
func (p Plan) digest() (string, error) {
	type fact struct {
		Guard    string
		Answer   Answer
		Source   string
		Identity string
		Value    json.RawMessage
	}
	var facts []fact
	for _, f := range p.Evidence {
		facts = append(facts, fact(f))
	}
	raw, err := json.Marshal([]any{p.Runbook, p.Version, p.Target.ID, p.Inputs, p.Steps, facts})
	if err != nil {
		return "", fmt.Errorf("digest of the plan: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}
