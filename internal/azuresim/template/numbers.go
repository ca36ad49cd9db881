package template

import (
	"encoding/json"
	"errors"
	"strings"
)

var errDivision = errors.New("division by zero")

// numberFunctions are the functions of integers; there are no others in the language.
func numberFunctions() map[string]*function {
	return map[string]*function{
		"add": eachInteger(func(x, y int64) (any, error) { return number(x + y), nil }),
		"sub": eachInteger(func(x, y int64) (any, error) { return number(x - y), nil }),
		"mul": eachInteger(func(x, y int64) (any, error) { return number(x * y), nil }),
		"div": eachInteger(func(x, y int64) (any, error) {
			if y == 0 {
				return nil, errDivision
			}
			return number(x / y), nil
		}),
		"mod": eachInteger(func(x, y int64) (any, error) {
			if y == 0 {
				return nil, errDivision
			}
			return number(x % y), nil
		}),
		"min": outermost(func(candidate, best int64) bool { return candidate < best }),
		"max": outermost(func(candidate, best int64) bool { return candidate > best }),
		"int": pure(1, 1, func(a []any) (any, error) {
			if written, isText := a[0].(string); isText {
				if n, isInteger := integer(json.Number(strings.TrimSpace(written))); isInteger {
					return number(n), nil
				}
			}
			n, err := integerAt(a, 0)
			return number(n), err
		}),
	}
}

// outermost takes integers or one array of them.
func outermost(better func(candidate, best int64) bool) *function {
	return pure(1, -1, func(a []any) (any, error) {
		if list, isList := a[0].([]any); isList && len(a) == 1 {
			a = list
		}
		if len(a) == 0 {
			return nil, errors.New("the array is empty")
		}
		best, err := integerAt(a, 0)
		for i := 1; i < len(a) && err == nil; i++ {
			var candidate int64
			if candidate, err = integerAt(a, i); better(candidate, best) {
				best = candidate
			}
		}
		return number(best), err
	})
}
