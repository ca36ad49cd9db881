package template

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// valueTypes are the types of parameters and outputs, as ARM shows them.
func valueTypes() []string {
	return []string{"String", "SecureString", "Int", "Bool", "Object", "SecureObject", "Array"}
}

func valueType(name string) (string, bool) {
	for _, known := range valueTypes() {
		if strings.EqualFold(known, name) {
			return known, true
		}
	}
	return "", false
}

func isSecure(kind string) bool { return strings.HasPrefix(kind, "Secure") }

// fits says whether a value is of a type.
func fits(kind string, value any) bool {
	switch value.(type) {
	case string:
		return kind == "String" || kind == "SecureString"
	case json.Number:
		_, isInteger := integer(value)
		return kind == "Int" && isInteger
	case bool:
		return kind == "Bool"
	case map[string]any:
		return kind == "Object" || kind == "SecureObject"
	case []any:
		return kind == "Array"
	}
	return false
}

// Value is a parameter or an output of a deployment.
type Value struct {
	// Type is String, SecureString, Int, Bool, Object, SecureObject or Array.
	Type  string
	Value any
}

// Secure values are never shown.
func (v Value) Secure() bool { return isSecure(v.Type) }

func (t *Template) checkParameters() error {
	for _, name := range sortedKeys(t.parameters) {
		line, column := t.where(".parameters." + name)
		declaration, isObject := t.parameters[name].(map[string]any)
		if !isObject {
			return invalid("The template parameter '%s' at line '%d' and column '%d' must be an object.", name, line, column)
		}
		if _, isType := valueType(getText(declaration, "type")); !isType {
			return invalid("The template parameter '%s' at line '%d' and column '%d' is not valid: "+
				"its type must be one of '%s'.", name, line, column, strings.Join(valueTypes(), ", "))
		}
	}
	return nil
}

// bindParameters gives every parameter its value. given has the shape of a parameters file: name, then value.
func (p *Plan) bindParameters(given map[string]any) error {
	t := p.template
	for _, name := range sortedKeys(given) {
		if _, declared := get(t.parameters, name); !declared {
			return invalid("The template parameter '%s' is not in the template and can therefore not be provided at deployment "+
				"time. The only supported parameters for this template are '%s'. Please see "+
				"https://aka.ms/arm-pass-parameter-values for usage details.",
				name, strings.Join(sortedKeys(t.parameters), ", "))
		}
	}
	p.given = given
	bindThose := func(provided bool) error {
		for _, name := range sortedKeys(t.parameters) {
			if _, is := get(given, name); is != provided {
				continue
			}
			if _, err := p.parameter(name); err != nil {
				return err
			}
		}
		return nil
	}
	if err := bindThose(true); err != nil {
		return err
	}
	return bindThose(false)
}

// parameter binds one; default values may use other parameters.
func (p *Plan) parameter(name string) (Value, error) {
	if bound, done := p.values[strings.ToLower(name)]; done {
		return bound, nil
	}
	declaration, _ := get(p.template.parameters, name)
	object, _ := declaration.(map[string]any)
	kind, _ := valueType(getText(object, "type"))
	value, provided, err := givenValue(name, p.given)
	if err != nil {
		return Value{}, err
	}
	if !provided {
		if value, err = p.defaultOf(name, object); err != nil {
			return Value{}, err
		}
	}
	nullable, _ := get(object, "nullable")
	if value == nil && nullable == true {
		p.values[strings.ToLower(name)] = Value{Type: kind}
		return Value{Type: kind}, nil
	}
	if !fits(kind, value) {
		return Value{}, invalid("Template parameter '%s' is not valid. Expected a value of type '%s'. Actual type '%s'. "+
			"Please see https://aka.ms/arm-create-parameter-file for usage details.", name, kind, typeOf(value))
	}
	if err := checkLimits(name, kind, object, value); err != nil {
		return Value{}, err
	}
	bound := Value{Type: kind, Value: value}
	p.values[strings.ToLower(name)] = bound
	return bound, nil
}

func givenValue(name string, given map[string]any) (any, bool, error) {
	entry, found := get(given, name)
	if !found {
		return nil, false, nil
	}
	object, isObject := entry.(map[string]any)
	if reference, _ := get(object, "reference"); reference != nil {
		return nil, false, invalid("The parameter '%s' is a reference to a key vault, which the embedded Azure does "+
			"not have.", name)
	}
	value, hasValue := get(object, "value")
	if !isObject || !hasValue {
		return nil, false, &Error{"InvalidDeploymentParameterValue",
			fmt.Sprintf("The value of deployment parameter '%s' is null. Please specify the value "+
				"or use the parameter reference. See https://aka.ms/arm-create-parameter-file for details.", name)}
	}
	return value, true, nil
}

func (p *Plan) defaultOf(name string, declaration map[string]any) (any, error) {
	line, column := p.template.where(".parameters." + name)
	written, has := get(declaration, "defaultValue")
	nullable, _ := get(declaration, "nullable")
	switch {
	case !has && nullable == true:
		return nil, nil
	case !has:
		return nil, invalid("The value for the template parameter '%s' at line '%d' and column '%d' is not provided. "+
			"Please see https://aka.ms/arm-create-parameter-file for usage details.", name, line, column)
	case p.binding[strings.ToLower(name)]:
		return nil, invalid("The default value of the template parameter '%s' at line '%d' and column '%d' refers to itself.",
			name, line, column)
	}
	p.binding[strings.ToLower(name)] = true
	env := &environment{plan: p, inDefault: true}
	value, err := env.value(".parameters."+name+".defaultValue", written)
	if err != nil {
		return nil, notEvaluated("parameter '"+name+"'", err)
	}
	return value, nil
}

// checkLimits never repeats a secure value.
func checkLimits(name, kind string, declaration map[string]any, value any) error {
	shown := "of the request"
	if !isSecure(kind) {
		shown = "'" + text(value) + "'"
	}
	if list, limited := get(declaration, "allowedValues"); limited && list != nil {
		allowed, _ := list.([]any)
		if !isAllowed(allowed, value) {
			return invalid("The provided value %s for the template parameter '%s' is not valid. The parameter value is not "+
				"part of the allowed value(s): %s.",
				shown, name, text(allowed))
		}
	}
	size, what := int64(0), "length"
	switch value := value.(type) {
	case string:
		size = int64(utf8.RuneCountInString(value))
	case []any:
		size = int64(len(value))
	case json.Number:
		size, _ = integer(value)
		what = "value"
	default:
		return nil
	}
	least, bounded := limit(declaration, "min", what)
	most, limited := limit(declaration, "max", what)
	if bounded && size < least || limited && size > most {
		return invalid("The provided value %s for the template parameter '%s' is not valid: its %s is %d, beyond the "+
			"limits of the template.", shown, name, what, size)
	}
	return nil
}

func isAllowed(allowed []any, value any) bool {
	list, isList := value.([]any)
	if !isList {
		return slices.ContainsFunc(allowed, func(one any) bool { return reflect.DeepEqual(one, value) })
	}
	return slices.ContainsFunc(allowed, func(one any) bool { return reflect.DeepEqual(one, value) }) ||
		!slices.ContainsFunc(list, func(one any) bool { return !isAllowed(allowed, one) })
}

func limit(declaration map[string]any, which, of string) (int64, bool) {
	value, _ := get(declaration, which+of)
	return integer(value)
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "Null"
	case string:
		return "String"
	case bool:
		return "Boolean"
	case json.Number:
		if _, isInteger := integer(value); isInteger {
			return "Integer"
		}
		return "Float"
	case []any:
		return "Array"
	}
	return "Object"
}
