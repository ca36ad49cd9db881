package recordable

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// opaque tells whether a type writes and reads its own JSON, as time.Time does.
func opaque(t reflect.Type) bool {
	of := reflect.PointerTo(t)
	return of.Implements(reflect.TypeFor[json.Marshaler]()) && of.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && of.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// Problem is the first part of a type that would not be the same when it is read back from JSON; empty when there is
// none.
func Problem(t reflect.Type) string { return problem(t, "", nil) }

func problem(t reflect.Type, path string, above []reflect.Type) string {
	if opaque(t) || slices.Contains(above, t) {
		return ""
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return problem(t.Elem(), path, above)
	case reflect.Struct:
		names := map[string]bool{}
		for _, field := range fieldsOf(t) {
			at := strings.TrimPrefix(path+"."+field.Name, ".")
			switch {
			case !field.known:
				return fmt.Sprintf("field %s of %s is not exported, or embedded without a JSON name", at, t)
			case names[field.key]:
				return fmt.Sprintf("field %s of %s has the name %q twice", at, t, field.key)
			}
			names[field.key] = true
			if wrong := problem(field.Type, at, above); wrong != "" {
				return wrong
			}
		}
		return ""
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Sprintf("%s %s is not a value", strings.TrimSpace("field "+path), t)
	default:
		return ""
	}
}

// field is one field of a struct as encoding/json sees it.
type field struct {
	reflect.StructField
	// key is its name in JSON; known tells whether encoding/json reads and writes it.
	key   string
	known bool
	// optional fields are left out when they are empty.
	optional bool
}

// fieldsOf gives the fields of a struct, those of embedded structs in their place. A field that says it is not
// part of the JSON is not part of the reading.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		of := t.Field(i)
		tag, options, _ := strings.Cut(of.Tag.Get("json"), ",")
		switch {
		case of.Tag.Get("json") == "-":
			continue
		case of.Anonymous && tag == "" && of.Type.Kind() == reflect.Struct && !opaque(of.Type):
			fields = append(fields, fieldsOf(of.Type)...)
			continue
		case tag == "":
			tag = of.Name
		}
		// An embedded pointer would be left out, or spread out, by what it points to.
		named := of.Tag.Get("json") != ""
		known := of.IsExported() && (!of.Anonymous || named) || of.Anonymous && of.Type.Kind() == reflect.Struct
		optional := slices.ContainsFunc(strings.Split(options, ","), func(option string) bool {
			return option == "omitempty" || option == "omitzero"
		})
		fields = append(fields, field{of, tag, known, optional})
	}
	return fields
}

// Missing is the first field that a type has and a JSON value has not, such as "nodes[3].name"; empty when all are
// there. What a type leaves out when it is empty may be left out.
func Missing(t reflect.Type, raw json.RawMessage) string { return missingField(t, raw, "") }

func missingField(t reflect.Type, raw json.RawMessage, path string) string {
	for t.Kind() == reflect.Pointer && !opaque(t) {
		t = t.Elem()
	}
	if opaque(t) || string(raw) == "null" {
		return ""
	}
	switch t.Kind() { //nolint:exhaustive // the others have no fields
	case reflect.Struct:
		return missingOf(t, raw, path)
	case reflect.Slice, reflect.Array:
		if plain(t) {
			return ""
		}
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			return "" // bytes, or of another form, which decoding tells
		}
		for i, element := range elements {
			if missing := missingField(t.Elem(), element, fmt.Sprintf("%s[%d]", path, i)); missing != "" {
				return missing
			}
		}
	case reflect.Map:
		var elements map[string]json.RawMessage
		if json.Unmarshal(raw, &elements) != nil {
			return ""
		}
		for _, key := range slices.Sorted(maps.Keys(elements)) {
			if missing := missingField(t.Elem(), elements[key], fmt.Sprintf("%s[%q]", path, key)); missing != "" {
				return missing
			}
		}
	}
	return ""
}

// plain tells whether a list holds neither structs nor maps, however deep: no field can be missing in it.
func plain(t reflect.Type) bool {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() != reflect.Struct && t.Kind() != reflect.Map || opaque(t)
}

func missingOf(t reflect.Type, raw json.RawMessage, path string) string {
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return ""
	}
	for _, field := range fieldsOf(t) {
		at := strings.TrimPrefix(path+"."+field.key, ".")
		value, found := values[field.key]
		switch {
		case !found && !field.optional:
			return at
		case !found:
			continue
		}
		if missing := missingField(field.Type, value, at); missing != "" {
			return missing
		}
	}
	return ""
}
