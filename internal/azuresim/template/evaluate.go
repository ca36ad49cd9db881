package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// environment is what an expression can see.
type environment struct {
	plan  *Plan
	loops []loop
	// azure is nil while resources are being expanded, when nothing of it may be asked for yet.
	azure Azure
	// inDefault: in a parameter's default value, the only place for the time.
	inDefault bool
	// preview leaves an expression as it is written when it asks for what is not there yet.
	preview bool
}

// loop is one turn of a copy.
type loop struct {
	name  string
	index int
}

func (env environment) in(turn loop) *environment {
	env.loops = append(append([]loop(nil), env.loops...), turn)
	return &env
}

func (l *literal) evaluate(*environment) (any, error) { return l.value, nil }

func (c *call) evaluate(env *environment) (any, error) {
	if c.function.lazy != nil {
		return c.function.lazy(env, c.arguments)
	}
	values := make([]any, len(c.arguments))
	for i, argument := range c.arguments {
		var err error
		if values[i], err = argument.evaluate(env); err != nil {
			return nil, err
		}
	}
	value, err := c.function.apply(env, values)
	if err != nil {
		return nil, fmt.Errorf("the template function '%s': %w", c.name, err)
	}
	return value, nil
}

func (m *member) evaluate(env *environment) (any, error) {
	of, err := m.of.evaluate(env)
	if err != nil {
		return nil, err
	}
	by, err := m.by.evaluate(env)
	if err != nil {
		return nil, err
	}
	value, found := memberOf(of, by)
	if !found && !m.safe {
		return nil, fmt.Errorf("the language expression property '%s' doesn't exist%s", text(by), available(of))
	}
	return value, nil
}

func memberOf(of, by any) (any, bool) {
	switch of := of.(type) {
	case map[string]any:
		if name, isText := by.(string); isText {
			return get(of, name)
		}
	case []any:
		if index, isInteger := integer(by); isInteger && index >= 0 && index < int64(len(of)) {
			return of[index], true
		}
	}
	return nil, false
}

func available(of any) string {
	object, isObject := of.(map[string]any)
	if !isObject {
		return ""
	}
	return ", available properties are '" + strings.Join(sortedKeys(object), ", ") + "'"
}

// get finds a property; ARM looks for it without case when none is written just so.
func get(object map[string]any, name string) (any, bool) {
	if value, found := object[name]; found {
		return value, true
	}
	for key, value := range object {
		if strings.EqualFold(key, name) {
			return value, true
		}
	}
	return nil, false
}

func getText(object map[string]any, name string) string {
	value, _ := get(object, name)
	text, _ := value.(string)
	return text
}

// value evaluates every expression in a value of the template. Errors name the place.
func (env *environment) value(path string, value any) (any, error) {
	switch value := value.(type) {
	case string:
		return env.text(path, value)
	case []any:
		list := make([]any, len(value))
		for i := range value {
			var err error
			if list[i], err = env.value(item(path, i), value[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		return env.object(path, value)
	}
	return value, nil
}

func (env *environment) text(path, text string) (any, error) {
	t := env.plan.template
	if t.evaluated {
		return text, nil
	}
	e, isExpression := t.expressions[text]
	if !isExpression {
		return plain(text), nil
	}
	value, err := e.evaluate(env)
	var missing *MissingError
	var placed *placedError
	switch {
	case err == nil:
		return value, nil
	case errors.As(err, &missing) && env.preview:
		return text, nil
	case errors.As(err, &placed):
		return nil, err
	}
	line, column := t.where(path)
	return nil, &placedError{line, column, err}
}

// placedError is an error of an expression and where that stands.
type placedError struct {
	line, column int
	cause        error
}

func (e *placedError) Error() string {
	return fmt.Sprintf("at line '%d' and column '%d'. '%s'", e.line, e.column, e.cause)
}

func (e *placedError) Unwrap() error { return e.cause }

// object evaluates a JSON object; its member "copy", if it is a list, makes further members that are arrays.
func (env *environment) object(path string, object map[string]any) (any, error) {
	made := make(map[string]any, len(object))
	for _, key := range sortedKeys(object) {
		if copies, isList := object[key].([]any); isList && strings.EqualFold(key, "copy") {
			if err := env.copyInto(made, below(path, key), copies); err != nil {
				return nil, err
			}
			continue
		}
		name := key
		if expanded, err := env.text(path, key); err != nil {
			return nil, err
		} else if text, isText := expanded.(string); isText {
			name = text
		}
		value, err := env.value(below(path, key), object[key])
		if err != nil {
			return nil, err
		}
		made[name] = value
	}
	return made, nil
}

func (env *environment) copyInto(made map[string]any, path string, copies []any) error {
	for i, entry := range copies {
		asked, isObject := entry.(map[string]any)
		name := getText(asked, "name")
		if !isObject || name == "" {
			return errors.New("a copy needs name, count and input")
		}
		list, err := env.turns(item(path, i), name, asked)
		if err != nil {
			return err
		}
		made[name] = list
	}
	return nil
}

// turns evaluates the input of a copy, once for each turn.
func (env *environment) turns(path, name string, asked map[string]any) ([]any, error) {
	count, err := env.count(path, asked)
	if err != nil {
		return nil, err
	}
	input, _ := get(asked, "input")
	list := make([]any, count)
	for i := range list {
		if list[i], err = env.in(loop{name, i}).value(below(path, "input"), input); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// mostCopies is ARM's limit.
const mostCopies = 800

func (env *environment) count(path string, asked map[string]any) (int, error) {
	written, _ := get(asked, "count")
	value, err := env.value(below(path, "count"), written)
	if err != nil {
		return 0, err
	}
	count, isInteger := integer(value)
	if !isInteger || count < 0 || count > mostCopies {
		return 0, fmt.Errorf("the template copy count must be an integer from 0 to %d", mostCopies)
	}
	return int(count), nil
}

func integer(value any) (int64, bool) {
	number, isNumber := value.(json.Number)
	if !isNumber {
		return 0, false
	}
	n, err := number.Int64()
	return n, err == nil
}
