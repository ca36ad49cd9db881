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
