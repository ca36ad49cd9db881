package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// function is one of the expression language: it takes from least to most arguments (below 0: any number).
type function struct {
	least, most int
	apply       func(env *environment, arguments []any) (any, error)
	// lazy, in place of apply, evaluates the arguments itself.
	lazy func(env *environment, arguments []expression) (any, error)
}

// functions are those that the embedded Azure knows, by name in lower case.
//
//nolint:gochecknoglobals // a table that nobody writes to, made once
var functions = func() map[string]*function {
	all := map[string]*function{}
	for _, some := range []map[string]*function{
		logicFunctions(), stringFunctions(), collectionFunctions(), numberFunctions(), deploymentFunctions(),
	} {
		for name, f := range some {
			all[strings.ToLower(name)] = f
		}
	}
	return all
}()

// pure makes a function that needs its arguments only.
func pure(least, most int, apply func(a []any) (any, error)) *function {
	return &function{least: least, most: most, apply: func(_ *environment, a []any) (any, error) { return apply(a) }}
}

func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// text is a value as concat, format and string write it.
func text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		if value {
			return "True"
		}
		return "False"
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "" // it is made of what JSON has
	}
	return string(encoded)
}

func textAt(a []any, i int) (string, error) {
	if value, isText := a[i].(string); isText {
		return value, nil
	}
	return "", unexpected(i, "a string", a[i])
}

func integerAt(a []any, i int) (int64, error) {
	if n, isInteger := integer(a[i]); isInteger {
		return n, nil
	}
	return 0, unexpected(i, "an integer", a[i])
}

func boolAt(a []any, i int) (bool, error) {
	if value, isBool := a[i].(bool); isBool {
		return value, nil
	}
	return false, unexpected(i, "a boolean", a[i])
}

func unexpected(i int, want string, value any) error {
	return fmt.Errorf("parameter %d must be %s, it is of type '%s'", i+1, want, typeOf(value))
}

// eachText makes a function of strings only.
func eachText(count int, apply func(s []string) (any, error)) *function {
	return pure(count, count, func(a []any) (any, error) {
		s := make([]string, len(a))
		for i := range a {
			var err error
			if s[i], err = textAt(a, i); err != nil {
				return nil, err
			}
		}
		return apply(s)
	})
}

// eachInteger makes a function of two integers.
func eachInteger(apply func(x, y int64) (any, error)) *function {
	return pure(2, 2, func(a []any) (any, error) {
		x, err := integerAt(a, 0)
		if err != nil {
			return nil, err
		}
		y, err := integerAt(a, 1)
		if err != nil {
			return nil, err
		}
		return apply(x, y)
	})
}

func cloned(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return maps.Clone(object)
}
