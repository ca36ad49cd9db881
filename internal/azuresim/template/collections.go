package template

import (
	"errors"
	"slices"
	"strings"
)

// collectionFunctions are the functions of arrays, objects, and strings taken as such.
func collectionFunctions() map[string]*function {
	return map[string]*function{
		"concat":       pure(0, -1, concat),
		"join":         pure(2, 2, join),
		"length":       pure(1, 1, func(a []any) (any, error) { return length(a[0]) }),
		"empty":        pure(1, 1, func(a []any) (any, error) { return isEmpty(a[0]) }),
		"contains":     pure(2, 2, contains),
		"first":        pure(1, 1, func(a []any) (any, error) { return end(a[0], false) }),
		"last":         pure(1, 1, func(a []any) (any, error) { return end(a[0], true) }),
		"skip":         pure(2, 2, func(a []any) (any, error) { return cut(a, false) }),
		"take":         pure(2, 2, func(a []any) (any, error) { return cut(a, true) }),
		"union":        pure(2, -1, union),
		"intersection": pure(2, -1, intersection),
		"range":        eachInteger(numbersFrom),
		"createArray":  pure(0, -1, func(a []any) (any, error) { return append([]any{}, a...), nil }),
		"createObject": pure(0, -1, createObject),
		"array": pure(1, 1, func(a []any) (any, error) {
			if list, isList := a[0].([]any); isList {
				return list, nil
			}
			return []any{a[0]}, nil
		}),
		"items": pure(1, 1, items),
	}
}

func concat(a []any) (any, error) {
	lists := slices.ContainsFunc(a, func(one any) bool { _, isList := one.([]any); return isList })
	if !lists {
		var made strings.Builder
		for _, one := range a {
			if made.WriteString(text(one)); made.Len() > largest {
				return nil, errTooLarge
			}
		}
		return made.String(), nil
	}
	all := []any{}
	for i, one := range a {
		list, isList := one.([]any)
		if !isList {
			return nil, unexpected(i, "an array as the others are", one)
		}
		if all = append(all, list...); len(all) > largest {
			return nil, errTooLarge
		}
	}
	return all, nil
}

func join(a []any) (any, error) {
	list, isList := a[0].([]any)
	if !isList {
		return nil, unexpected(0, "an array", a[0])
	}
	between, err := textAt(a, 1)
	if err != nil {
		return nil, err
	}
	parts, size := make([]string, len(list)), 0
	for i, one := range list {
		parts[i] = text(one)
		if size += len(parts[i]) + len(between); size > largest {
			return nil, errTooLarge
		}
	}
	return strings.Join(parts, between), nil
}

func length(of any) (any, error) {
	switch of := of.(type) {
	case string:
		return number(int64(len([]rune(of)))), nil
	case []any:
		return number(int64(len(of))), nil
	case map[string]any:
		return number(int64(len(of))), nil
	}
	return nil, unexpected(0, "a string, an array or an object", of)
}

func isEmpty(value any) (any, error) {
	if value == nil {
		return true, nil
	}
	n, err := length(value)
	return n == number(0), err
}

// contains: keys of objects are found without case.
func contains(a []any) (any, error) {
	switch in := a[0].(type) {
	case string:
		return strings.Contains(in, text(a[1])), nil
	case []any:
		return slices.ContainsFunc(in, func(one any) bool { return same(one, a[1]) }), nil
	case map[string]any:
		_, found := get(in, text(a[1]))
		return found, nil
	}
	return nil, unexpected(0, "a string, an array or an object", a[0])
}

func end(of any, last bool) (any, error) {
	switch of := of.(type) {
	case string:
		runes := []rune(of)
		switch {
		case len(runes) == 0:
			return "", nil
		case last:
			return string(runes[len(runes)-1]), nil
		}
		return string(runes[0]), nil
	case []any:
		switch {
		case len(of) == 0:
			return nil, nil
		case last:
			return of[len(of)-1], nil
		}
		return of[0], nil
	}
	return nil, unexpected(0, "a string or an array", of)
}

// cut takes the first of an array or a string, or leaves them out.
func cut(a []any, first bool) (any, error) {
	count, err := integerAt(a, 1)
	if err != nil {
		return nil, err
	}
	switch of := a[0].(type) {
	case string:
		runes := []rune(of)
		at := max(min(count, int64(len(runes))), 0)
		if first {
			return string(runes[:at]), nil
		}
		return string(runes[at:]), nil
	case []any:
		at := max(min(count, int64(len(of))), 0)
		if first {
			return slices.Clone(of[:at]), nil
		}
		return slices.Clone(of[at:]), nil
	}
	return nil, unexpected(0, "a string or an array", a[0])
}

// union: of objects, the later wins, and objects inside of them are united too; of arrays, each item is there once.
func union(a []any) (any, error) {
	if object, isObject := a[0].(map[string]any); isObject {
		for i, one := range a[1:] {
			other, isToo := one.(map[string]any)
			if !isToo {
				return nil, unexpected(i+1, "an object as the others are", one)
			}
			object = united(object, other)
		}
		return object, nil
	}
	all := []any{}
	for i, one := range a {
		list, isList := one.([]any)
		if !isList {
			return nil, unexpected(i, "an array or an object, all of one kind", one)
		}
		for _, candidate := range list {
			if !slices.ContainsFunc(all, func(kept any) bool { return same(kept, candidate) }) {
				all = append(all, candidate)
			}
		}
	}
	return all, nil
}

func united(object, other map[string]any) map[string]any {
	all := cloned(object)
	for key, value := range other {
		inner, isObject := value.(map[string]any)
		if before, isToo := all[key].(map[string]any); isObject && isToo {
			value = united(before, inner)
		}
		all[key] = value
	}
	return all
}

func intersection(a []any) (any, error) {
	if object, isObject := a[0].(map[string]any); isObject {
		kept := cloned(object)
		for i, one := range a[1:] {
			other, isToo := one.(map[string]any)
			if !isToo {
				return nil, unexpected(i+1, "an object as the others are", one)
			}
			for key, value := range kept {
				if there, found := other[key]; !found || !same(there, value) {
					delete(kept, key)
				}
			}
		}
		return kept, nil
	}
	kept, isList := a[0].([]any)
	for i, one := range a {
		list, isToo := one.([]any)
		if !isList || !isToo {
			return nil, unexpected(i, "an array or an object, all of one kind", one)
		}
		kept = slices.DeleteFunc(slices.Clone(kept), func(candidate any) bool {
			return !slices.ContainsFunc(list, func(there any) bool { return same(there, candidate) })
		})
	}
	return kept, nil
}

// mostNumbers is ARM's limit of range.
const mostNumbers = 10_000

func numbersFrom(start, count int64) (any, error) {
	if count < 0 || count > mostNumbers {
		return nil, errors.New("the count must be from 0 to 10000")
	}
	list := make([]any, count)
	for i := range list {
		list[i] = number(start + int64(i))
	}
	return list, nil
}

func createObject(a []any) (any, error) {
	if len(a)%2 != 0 {
		return nil, errors.New("it takes keys and values in turn")
	}
	object := map[string]any{}
	for i := 0; i < len(a); i += 2 {
		key, err := textAt(a, i)
		if err != nil {
			return nil, err
		}
		object[key] = a[i+1]
	}
	return object, nil
}

// items gives an object's keys and values as an array, in the order of the keys.
func items(a []any) (any, error) {
	object, isObject := a[0].(map[string]any)
	if !isObject {
		return nil, unexpected(0, "an object", a[0])
	}
	list := []any{}
	for _, key := range sortedKeys(object) {
		list = append(list, map[string]any{"key": key, "value": object[key]})
	}
	return list, nil
}
