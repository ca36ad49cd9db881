package recordable

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// opaque tells whether a type writes and reads its own JSON, as time.Time does.
func opaque(t reflect.Type) bool {
	if known, found := knownOpaque.Load(t); found {
		return known.(bool) //nolint:forcetypeassert // nothing else is stored
	}
	is := implements[json.Marshaler](t) && implements[json.Unmarshaler](t) || readsText(t)
	knownOpaque.Store(t, is)
	return is
}

// knownOpaque remembers what opaque found, by reflect.Type, for the same reason as knownFields.
var knownOpaque sync.Map //nolint:gochecknoglobals // a memo of what a type says of itself, as encoding/json keeps one

// readsText tells whether a type writes and reads its own text.
func readsText(t reflect.Type) bool {
	return implements[encoding.TextMarshaler](t) && implements[encoding.TextUnmarshaler](t)
}

func implements[T any](t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[T]())
}

// oneWay says of a type that is not opaque whether it writes its own form alone, or reads it alone: encoding/json does
// not look at its fields then.
func oneWay(t reflect.Type) string {
	if t.Kind() == reflect.Interface {
		return ""
	}
	writes := implements[json.Marshaler](t) || implements[encoding.TextMarshaler](t)
	reads := implements[json.Unmarshaler](t) || implements[encoding.TextUnmarshaler](t)
	switch {
	case writes && reads:
		return "writes its own JSON or text, and reads the other"
	case writes:
		return "writes its own JSON, and does not read it"
	case reads:
		return "reads its own JSON, and does not write it"
	}
	return ""
}

// isKey tells whether values of a type come back as they were when they are the names in an object of JSON.
func isKey(t reflect.Type) bool {
	if implements[encoding.TextMarshaler](t) || implements[encoding.TextUnmarshaler](t) {
		return readsText(t)
	}
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	default:
		return false
	}
}

// knownProblems remembers what Problem found, by reflect.Type: each runbook that is made asks for each of its guards.
var knownProblems sync.Map //nolint:gochecknoglobals // a memo of what a type says of itself, as encoding/json keeps one

// Problem is the first part of a type that would not be the same when it is read back from JSON; empty when there is
// none.
func Problem(t reflect.Type) string {
	if known, found := knownProblems.Load(t); found {
		return known.(string) //nolint:forcetypeassert // nothing else is stored
	}
	found := problem(t, "", nil)
	knownProblems.Store(t, found)
	return found
}

func problem(t reflect.Type, path string, above []reflect.Type) string {
	if opaque(t) || slices.Contains(above, t) {
		return ""
	}
	above = append(above, t)
	if wrong := oneWay(t); wrong != "" {
		return inField(path) + t.String() + " " + wrong
	}
	if t.Kind() == reflect.Map && !isKey(t.Key()) {
		return inField(path) + t.String() + " has keys that JSON does not have, or that are not read back"
	}
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
		return inField(path) + t.String() + " is not a value"
	default:
		return ""
	}
}

// inField is the place of a type, as the beginning of a sentence; empty for the whole.
func inField(path string) string {
	if path == "" {
		return ""
	}
	return "field " + path + " "
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

// knownFields remembers what fieldsOf found, by reflect.Type: a folder of records asks of the same few types many
// thousand times.
var knownFields sync.Map //nolint:gochecknoglobals // a memo of what a type says of itself, as encoding/json keeps one

// fieldsOf gives the fields of a struct, those of embedded structs in their place. A field that says it is not
// part of the JSON is not part of the reading.
func fieldsOf(t reflect.Type) []field {
	if known, found := knownFields.Load(t); found {
		return known.([]field) //nolint:forcetypeassert // nothing else is stored
	}
	fields := inspectFields(t)
	knownFields.Store(t, fields)
	return fields
}

func inspectFields(t reflect.Type) []field {
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
