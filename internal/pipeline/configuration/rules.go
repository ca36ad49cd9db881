package configuration

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"
)

// rulesKeyword is the field of a schema with rules in CEL, as rollout tools evaluate them: each is asked of the value
// at its place, which is self. https://pkg.go.dev/github.com/Azure/ARO-Tools/config
const rulesKeyword = "x-cel-validations"

// costLimit bounds what one rule may take: a configuration has thousands of values, and a rule may loop over them.
const costLimit = 1_000_000

// rules reads the rules of a schema.
type rules struct{ environment *cel.Env }

// newRules makes the vocabulary in which a schema's rules are read.
func newRules() (*jsonschema.Vocabulary, error) {
	options := append([]cel.EnvOption{
		cel.Variable("self", cel.DynType), cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true), ext.Strings(ext.StringsVersion(2)), ext.Lists(),
	}, semanticVersions()...)
	environment, err := cel.NewEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("making the language of %s: %w", rulesKeyword, err)
	}
	return &jsonschema.Vocabulary{URL: "salve:" + rulesKeyword, Compile: rules{environment}.compile}, nil
}

// rule is one of them, ready to be asked.
type rule struct {
	program       cel.Program
	text, message string
}

type ruleSet []rule

func (r rules) compile(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
	held, found := schema[rulesKeyword]
	if !found {
		return nil, nil
	}
	list, is := held.([]any)
	if !is {
		return nil, fmt.Errorf("%s must be a list", rulesKeyword)
	}
	var all ruleSet
	for i, one := range list {
		made, err := r.rule(one)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", rulesKeyword, i, err)
		}
		all = append(all, made)
	}
	return all, nil
}

func (r rules) rule(held any) (made rule, err error) {
	fields, _ := held.(map[string]any)
	made.text, _ = fields["rule"].(string)
	made.message, _ = fields["message"].(string)
	if made.text == "" || made.message == "" {
		return made, errors.New("a rule needs the texts rule and message")
	}
	compiled, issues := r.environment.Compile(made.text)
	switch {
	case issues.Err() != nil:
		return made, fmt.Errorf("rule %q: %w", made.text, issues.Err())
	case compiled.OutputType() != cel.BoolType:
		return made, fmt.Errorf("rule %q gives %s, and must give true or false", made.text, compiled.OutputType())
	}
	overloads := cel.Functions(versionComparisons()...) //nolint:staticcheck // operators can't be bound otherwise
	made.program, err = r.environment.Program(compiled, overloads, cel.CostLimit(costLimit))
	return made, err
}

// Validate asks all rules of a value.
func (s ruleSet) Validate(ctx *jsonschema.ValidatorContext, value any) {
	for _, one := range s {
		answer, _, err := one.program.Eval(map[string]any{"self": value})
		switch {
		case err != nil:
			ctx.AddError(broken{fmt.Sprintf("rule %q can't be evaluated: %s", one.text, strings.TrimSpace(err.Error()))})
		case answer.Value() != true:
			ctx.AddError(broken{one.message})
		}
	}
}

// broken is a rule that a value does not keep.
type broken struct{ says string }

func (b broken) KeywordPath() []string { return []string{rulesKeyword} }

func (b broken) LocalizedString(*message.Printer) string { return b.says }
