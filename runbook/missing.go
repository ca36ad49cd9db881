package runbook

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// missing gives the first field that a type has and a JSON value has not; empty when all are there. What a type
// leaves out when it is empty may be left out. What has another form than the type, decoding tells.
func missing(t reflect.Type, raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return ""
	}
	return strings.TrimPrefix(missingIn(t, value), ".")
}

// missingIn gives the place of what is missing, as seen from the value; empty when nothing is.
func missingIn(t reflect.Type, value any) string {
	for t.Kind() == reflect.Pointer && !opaque(t) {
		t = t.Elem()
	}
	switch of := value.(type) {
	case map[string]any:
		switch {
		case t.Kind() == reflect.Struct && !opaque(t):
			return missingField(t, of)
		case t.Kind() == reflect.Map && !opaque(t):
			return missingUnder(t.Elem(), of)
		}
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array || opaque(t) {
			return ""
		}
		for i, element := range of {
			if missing := missingIn(t.Elem(), element); missing != "" {
				return fmt.Sprintf("[%d]%s", i, missing)
			}
		}
	}
	return ""
}

func missingField(t reflect.Type, members map[string]any) string {
	for _, field := range fieldsOf(t) {
		value, found := members[field.key]
		if !found && !field.optional {
			return "." + field.key
		}
		if missing := missingIn(field.Type, value); missing != "" {
			return "." + field.key + missing
		}
	}
	return ""
}

func missingUnder(t reflect.Type, members map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if missing := missingIn(t, members[key]); missing != "" {
			return fmt.Sprintf("[%q]%s", key, missing)
		}
	}
	return ""
}
