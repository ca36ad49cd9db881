package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"salve/internal/pipeline"
	"salve/internal/redact"
)

// Variable is a variable of a step with its value.
type Variable struct {
	Name   string
	Value  any
	Secret bool
	// From is the step that handed the value on; zero for any other.
	From pipeline.StepID
}

// Text is the value as an environment variable has it.
func (v Variable) Text() string { return (pipeline.Value{Literal: v.Value}).Plain() }

// hidden stands for a secret wherever one would be shown.
const hidden = "***"

// telling are the names of variables whose values are secrets.
var telling = regexp.MustCompile(`(?i)(password|passwd|secret|token|credentials?|` +
	`(api|private|access|account|storage|signing|shared)_?key|connection_?string)$`)

// NamesSecret tells whether what is called so is to be hidden.
func NamesSecret(name string) bool { return telling.MatchString(name) }

// looksSecret tells whether a value is to be hidden although nobody said so: by
// its name, or because it has the shape of a credential.
func looksSecret(name, text string) bool {
	return telling.MatchString(name) || string(redact.Redact([]byte(text))) != text
}

// masked is what a step is given, for records and for people.
func masked(variables []Variable) map[string]any {
	shown := map[string]any{}
	for _, one := range variables {
		shown[one.Name] = one.Value
		if one.Secret {
			shown[one.Name] = hidden
		}
	}
	return shown
}

// variables are those of a step, whatever its action. Of an action that has no type of its own they are all its
// fields, in their order.
func variables(step *pipeline.Step) []pipeline.Variable {
	switch {
	case step.Shell != nil:
		return step.Shell.Variables
	case step.Runbook != nil:
		return step.Runbook.With
	case step.ARM != nil:
		return step.ARM.Variables
	}
	all := make([]pipeline.Variable, 0, len(step.Fields))
	for _, field := range step.Fields {
		all = append(all, field.Variable)
	}
	return all
}

// outputs are what the steps that are done have handed on.
type outputs map[pipeline.StepID]map[string]Output

func newOutputs() outputs { return outputs{} }

// MissingInputError says that a step needs what another one did not hand on.
type MissingInputError struct {
	Step  pipeline.StepID
	Input pipeline.Input
	// Lost says that it was handed on, and is not known any more: a secret is not
	// kept beyond the process in which it was made.
	Lost bool
}

func (e *MissingInputError) Error() string {
	if e.Lost {
		return fmt.Sprintf("step %s needs the secret output %q of step %s, which is not kept", e.Step, e.Input.Name.Value,
			e.Input.ID())
	}
	return fmt.Sprintf("step %s needs the output %q of step %s, which gave none of that name", e.Step, e.Input.Name.Value,
		e.Input.ID())
}

// variables are the variables of a step with all values filled in.
func (o outputs) variables(step *pipeline.Step) ([]Variable, error) {
	var all []Variable
	for _, variable := range variables(step) {
		one, err := o.one(step, variable)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func (o outputs) one(step *pipeline.Step, variable pipeline.Variable) (Variable, error) {
	filled := Variable{Name: variable.Name.Value, Value: variable.Literal}
	if input := variable.Input; input != nil {
		output, found := o[input.ID()][input.Name.Value]
		switch {
		case !found:
			return Variable{}, &MissingInputError{Step: step.ID(), Input: *input}
		case output.Secret && output.Value == nil:
			return Variable{}, &MissingInputError{Step: step.ID(), Input: *input, Lost: true}
		}
		filled.Value, filled.Secret, filled.From = output.Value, output.Secret, input.ID()
	}
	filled.Secret = filled.Secret || telling.MatchString(variable.ConfigRef.Value) ||
		looksSecret(filled.Name, filled.Text())
	return filled, nil
}

// lost tells whether an output was made and is not known any more.
func (o outputs) lost(input pipeline.Input) bool {
	output, found := o[input.ID()][input.Name.Value]
	return found && output.Secret && output.Value == nil
}

// previewed are the variables of a step with what is known of them; known is false
// when some are not, besides those that its action ignores. What will be known only later is named in angle brackets.
func (o outputs) previewed(step *pipeline.Step, ignored []string) (all []Variable, known bool) {
	known = true
	for _, variable := range variables(step) {
		one, err := o.one(step, variable)
		if err != nil {
			known = known && slices.Contains(ignored, variable.Name.Value)
			one = Variable{Name: variable.Name.Value, Secret: telling.MatchString(variable.Name.Value)}
			one.Value = fmt.Sprintf("<%s of %s>", variable.Input.Name.Value, variable.Input.ID())
		}
		all = append(all, one)
	}
	return all, known
}

// noteOf is the name under which a step's outputs are in the record.
func noteOf(step pipeline.StepID) string { return "outputs " + step.String() }

// kept are outputs as the record has them: secrets by name only.
type kept struct {
	Values  map[string]json.RawMessage `json:"values,omitempty"`
	Secrets []string                   `json:"secrets,omitempty"`
}

func keep(made map[string]Output) (kept, error) {
	record := kept{Values: map[string]json.RawMessage{}}
	for name, output := range made {
		raw, err := json.Marshal(output.Value)
		if err != nil {
			return record, fmt.Errorf("output %q: %w", name, err)
		}
		// What the journal would take out of the pair is a secret too: half a value
		// must never be handed on.
		pair, err := json.Marshal(map[string]any{name: output.Value})
		if err != nil {
			return record, fmt.Errorf("output %q: %w", name, err)
		}
		if output.Secret || looksSecret(name, string(pair)) {
			record.Secrets = append(record.Secrets, name)
			continue
		}
		record.Values[name] = raw
	}
	slices.Sort(record.Secrets)
	return record, nil
}

// read gives the outputs that the record holds.
func (k kept) read() (map[string]Output, error) {
	made := map[string]Output{}
	for name, raw := range k.Values {
		var value any
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber() // a number is handed on as it was written
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("output %s in the journal: %w", strconv.Quote(name), err)
		}
		made[name] = Output{Value: value}
	}
	for _, name := range k.Secrets {
		made[name] = Output{Secret: true}
	}
	return made, nil
}
