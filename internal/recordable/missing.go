package recordable

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Missing gives the first field that a type has and a JSON value has not; empty when all are there. What a type leaves
// out when it is empty may be left out, and null is no value of a type that never writes it: decoding would leave its
// default. What has another form than the type, decoding tells.
func Missing(t reflect.Type, raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return ""
	}
	place, lacks := missingIn(t, value)
	if !lacks {
		return ""
	}
	return cmp.Or(strings.TrimPrefix(place, "."), "its reading")
}

// missingIn gives the place of what is missing, as seen from the value: empty for the value itself.
func missingIn(t reflect.Type, value any) (place string, lacks bool) {
	if value == nil {
		return "", !writesNull(t)
	}
	for t.Kind() == reflect.Pointer && !opaque(t) {
		t = t.Elem()
	}
	if opaque(t) {
		return "", false
	}
	switch of := value.(type) {
	case map[string]any:
		if t.Kind() == reflect.Struct {
			return missingField(t, of)
		}
		if t.Kind() == reflect.Map {
			return missingUnder(t.Elem(), of)
		}
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return "", false
		}
		for i, element := range of {
			if place, lacks := missingIn(t.Elem(), element); lacks {
				return fmt.Sprintf("[%d]%s", i, place), true
			}
		}
		if t.Kind() == reflect.Array && len(of) < t.Len() {
			return fmt.Sprintf("[%d]", len(of)), true
		}
	}
	return "", false
}

func missingField(t reflect.Type, members map[string]any) (string, bool) {
	for _, field := range fieldsOf(t) {
		value, found := members[field.key]
		if !found && field.optional {
			continue
		}
		if !found {
			return "." + field.key, true
		}
		if place, lacks := missingIn(field.Type, value); lacks {
			return "." + field.key + place, true
		}
	}
	return "", false
}

func missingUnder(t reflect.Type, members map[string]any) (string, bool) {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if place, lacks := missingIn(t, members[key]); lacks {
			return fmt.Sprintf("[%q]%s", key, place), true
		}
	}
	return "", false
}

// writesNull tells whether a value of a type can be null.
func writesNull(t reflect.Type) bool {
	raw, err := json.Marshal(reflect.New(t).Interface())
	return err == nil && string(raw) == "null"
}
