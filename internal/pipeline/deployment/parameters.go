package deployment

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"salve/internal/pipeline/rollout"
)

// parseParameters reads the parameters of a file, each {"value": …} or
// {"reference": …}.
func parseParameters(text []byte) (map[string]json.RawMessage, error) {
	var said struct {
		Parameters map[string]json.RawMessage
	}
	if err := unmarshal(text, &said); err != nil {
		return nil, err
	}
	if said.Parameters == nil {
		return nil, errors.New("it is no file of parameters: \"parameters\" is missing")
	}
	for _, name := range slices.Sorted(maps.Keys(said.Parameters)) {
		var one map[string]json.RawMessage
		if err := json.Unmarshal(said.Parameters[name], &one); err != nil {
			return nil, fmt.Errorf("parameter %q must be a mapping with a value or a reference", name)
		}
		if _, value := one["value"]; value == (one["reference"] != nil) {
			return nil, fmt.Errorf("parameter %q needs either a value or a reference", name)
		}
	}
	return said.Parameters, nil
}

// set gives a parameter of the template the value of a variable of the same name.
func (r *draft) set(order *Order, variable rollout.Variable) error {
	declared, err := r.template.declared(variable.Name)
	if err != nil {
		return fmt.Errorf("variable %s: %w", variable.Name, err)
	}
	value, err := declared.convert(variable.Value)
	if err != nil {
		return fmt.Errorf("variable %s: %w", variable.Name, err)
	}
	raw, err := json.Marshal(map[string]any{"value": value})
	if err != nil {
		return fmt.Errorf("variable %s: %w", variable.Name, err)
	}
	order.Parameters[declared.name] = raw
	order.Secret[declared.name] = variable.Secret || declared.secure()
	return nil
}

// promise stands for a value that will be known later.
func (r *draft) promise(order *Order, name string) error {
	declared, err := r.template.declared(name)
	if err != nil {
		return fmt.Errorf("variable %s: %w", name, err)
	}
	order.Parameters[declared.name] = json.RawMessage(`{"value":null}`)
	return nil
}

// convert gives a value the type that is declared. Outputs of Shell steps are texts,
// whatever is in them. The error never holds the value: it may be a secret.
func (p parameter) convert(value any) (any, error) {
	text, isText := value.(string)
	var fits bool
	switch kind := strings.ToLower(p.Type); kind {
	case "string", "securestring":
		switch value := value.(type) {
		case string:
			return value, nil
		case []any, map[string]any, nil:
			return nil, p.unfit()
		}
		return rollout.Variable{Value: value}.Text(), nil
	case "int":
		number, err := strconv.ParseInt(rollout.Variable{Value: value}.Text(), 10, 64)
		if err != nil {
			return nil, p.unfit()
		}
		return number, nil
	case "bool":
		truth, err := strconv.ParseBool(rollout.Variable{Value: value}.Text())
		if err != nil {
			return nil, p.unfit()
		}
		return truth, nil
	case "array", "object", "secureobject":
		if isText && json.Unmarshal([]byte(text), &value) != nil {
			return nil, p.unfit()
		}
		if _, fits = value.(map[string]any); kind == "array" {
			_, fits = value.([]any)
		}
		if !fits {
			return nil, p.unfit()
		}
		return value, nil
	}
	return value, nil // of a type that the template defines itself
}

func (p parameter) unfit() error {
	return fmt.Errorf("the template's parameter %s is of type %s, and the value is none", p.name, p.Type)
}

// placeholder is how parameters files mark a value that the step's variables give.
var placeholder = regexp.MustCompile(`^\{\s*"value"\s*:\s*"__\w+__"\s*\}$`)

// whole finds parameters that have no value.
func (r *draft) whole(order *Order) error {
	var missing, held []string
	for _, declared := range r.template.parameters {
		value, given := order.Parameters[declared.name]
		switch {
		case !given && declared.DefaultValue == nil && !declared.Nullable:
			missing = append(missing, declared.name)
		case placeholder.Match(value):
			held = append(held, declared.name)
		}
	}
	slices.Sort(missing)
	slices.Sort(held)
	switch {
	case len(missing) > 0:
		return fmt.Errorf("nothing gives the template's parameters %s: neither the parameters file nor a variable of "+
			"the step", strings.Join(missing, ", "))
	case len(held) > 0:
		return fmt.Errorf("the parameters file holds the place of %s, and no variable of the step gives them",
			strings.Join(held, ", "))
	}
	return nil
}
