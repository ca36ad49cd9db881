package rollout

import (
	"maps"
	"slices"

	"salve/internal/pipeline"
)

// Discreet is an action that knows of variables that they are secrets, whatever
// they are called.
type Discreet interface {
	Secret(step *pipeline.Step, variable string) bool
}

// secrets are what of a plan must not be shown, as far as that is known before
// anything is run.
type secrets struct {
	// texts are the values of the configuration whose paths tell that they are secrets.
	texts []string
	// masker finds them.
	masker masker
	// variables are those that an action keeps to itself, by their steps.
	variables map[pipeline.StepID]map[string]bool
	// examined are the steps of which an action was asked for those.
	examined map[pipeline.StepID]bool
}

// secretsOf finds those of the configuration that the file uses.
func secretsOf(file *pipeline.File) secrets {
	found := secrets{variables: map[pipeline.StepID]map[string]bool{}, examined: map[pipeline.StepID]bool{}}
	for _, path := range file.ConfigPaths() {
		if !telling.MatchString(path) {
			continue
		}
		if text, ok := file.Config().Holds(path); ok {
			found.texts = append(found.texts, text)
		}
	}
	found.masker = maskerOf(found.texts)
	return found
}

// learn asks an action for the variables of a step that are secrets.
func (s *secrets) learn(action Action, step *pipeline.Step) {
	discreet, ok := action.(Discreet)
	if !ok {
		return
	}
	s.examined[step.ID()] = true
	for _, variable := range variables(step) {
		if name := variable.Name.Value; discreet.Secret(step, name) {
			if s.variables[step.ID()] == nil {
				s.variables[step.ID()] = map[string]bool{}
			}
			s.variables[step.ID()][name] = true
		}
	}
}

// conceal marks the variables of a step that are secrets, or hold one.
func (s *secrets) conceal(step *pipeline.Step, all []Variable) []Variable {
	for i, one := range all {
		all[i].Secret = one.Secret || s.variables[step.ID()][one.Name] || holdsSecret(one.Text(), s.texts, s.masker)
	}
	return all
}

// holdsSecret tells whether a text is a secret, or holds one that is long enough to be told from other text. The masker
// is that of the secrets.
func holdsSecret(text string, secrets []string, masker masker) bool {
	return text != "" && slices.Contains(secrets, text) || masker.found(text)
}

// tainted marks outputs that hold a secret that is known: who writes one on hands
// on a secret.
func tainted(made map[string]Output, secrets []string) map[string]Output {
	marked, masker := maps.Clone(made), maskerOf(secrets)
	for name, output := range made {
		output.Secret = output.Secret || holdsSecret(Variable{Value: output.Value}.Text(), secrets, masker)
		marked[name] = output
	}
	return marked
}
