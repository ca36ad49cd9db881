package template

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// logicFunctions are the functions that decide and compare.
func logicFunctions() map[string]*function {
	return map[string]*function{
		"if": {least: 3, most: 3, lazy: func(env *environment, a []expression) (any, error) {
			holds, err := condition(env, a[0], "if")
			if err != nil {
				return nil, err
			}
			if holds {
				return a[1].evaluate(env)
			}
			return a[2].evaluate(env)
		}},
		"and": {least: 2, most: -1, lazy: func(env *environment, a []expression) (any, error) {
			return untilOne(env, a, "and", false)
		}},
		"or": {least: 2, most: -1, lazy: func(env *environment, a []expression) (any, error) {
			return untilOne(env, a, "or", true)
		}},
		"coalesce": {least: 1, most: -1, lazy: func(env *environment, a []expression) (any, error) {
			for _, one := range a {
				if value, err := one.evaluate(env); value != nil || err != nil {
					return value, err
				}
			}
			return nil, nil
		}},
		"not": pure(1, 1, func(a []any) (any, error) {
			value, err := boolAt(a, 0)
			return !value, err
		}),
		"true":            pure(0, 0, func([]any) (any, error) { return true, nil }),
		"false":           pure(0, 0, func([]any) (any, error) { return false, nil }),
		"null":            pure(0, 0, func([]any) (any, error) { return nil, nil }),
		"equals":          pure(2, 2, func(a []any) (any, error) { return same(a[0], a[1]), nil }),
		"less":            compared(func(order int) bool { return order < 0 }),
		"lessOrEquals":    compared(func(order int) bool { return order <= 0 }),
		"greater":         compared(func(order int) bool { return order > 0 }),
		"greaterOrEquals": compared(func(order int) bool { return order >= 0 }),
		"bool": pure(1, 1, func(a []any) (any, error) {
			switch value := a[0].(type) {
			case bool:
				return value, nil
			case string:
				switch strings.ToLower(value) {
				case "true", "1":
					return true, nil
				case "false", "0":
					return false, nil
				}
			case json.Number:
				n, err := value.Int64()
				return n != 0, err
			}
			return nil, unexpected(0, "a boolean, an integer, or 'true' or 'false'", a[0])
		}),
	}
}

func condition(env *environment, e expression, name string) (bool, error) {
	value, err := e.evaluate(env)
	if err != nil {
		return false, err
	}
	holds, isBool := value.(bool)
	if !isBool {
		return false, fmt.Errorf("the template function '%s' takes booleans, not a value of type '%s'", name, typeOf(value))
	}
	return holds, nil
}

// untilOne asks one after the other until one is decisive.
func untilOne(env *environment, a []expression, name string, decisive bool) (any, error) {
	for _, one := range a {
		holds, err := condition(env, one, name)
		if err != nil || holds == decisive {
			return decisive, err
		}
	}
	return !decisive, nil
}

// same compares numbers by their value, everything else as it is.
func same(x, y any) bool {
	if n, isInteger := integer(x); isInteger {
		m, isToo := integer(y)
		return isToo && n == m
	}
	return reflect.DeepEqual(x, y)
}

// compared compares two integers or two strings.
func compared(holds func(order int) bool) *function {
	return pure(2, 2, func(a []any) (any, error) {
		if x, isText := a[0].(string); isText {
			y, err := textAt(a, 1)
			return holds(strings.Compare(x, y)), err
		}
		x, err := integerAt(a, 0)
		if err != nil {
			return nil, err
		}
		y, err := integerAt(a, 1)
		switch {
		case err != nil:
			return nil, err
		case x < y:
			return holds(-1), nil
		case x > y:
			return holds(1), nil
		}
		return holds(0), nil
	})
}
