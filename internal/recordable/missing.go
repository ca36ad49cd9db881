package recordable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Missing gives the first field that a type has and a JSON value has not; empty when all are there. What a type leaves
// out when it is empty may be left out, and null is no value of a type that never writes it: decoding would leave its
// default. What has another form than the type, decoding tells.
func Missing(t reflect.Type, raw json.RawMessage) string {
	// Of two members of one name encoding/json keeps some of either: what one of them lacks is missing.
	walk := &walk{jsontext.NewDecoder(bytes.NewReader(raw),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	found, err := walk.value(t)
	if err != nil || !found.lacks {
		return ""
	}
	if _, err := walk.ReadToken(); !errors.Is(err, io.EOF) {
		return ""
	}
	return cmp.Or(strings.TrimPrefix(found.place, "."), "its reading")
}

// walk goes through a JSON value beside its type, and decodes nothing but names.
type walk struct{ *jsontext.Decoder }

// lack is what a value lacks, if it lacks something: its place as seen from the value, empty for the value itself.
type lack struct {
	place string
	lacks bool
}

// in is the lack as seen from the value that has it in a place.
func (l lack) in(place string) lack { return lack{place + l.place, l.lacks} }

func (w *walk) value(t reflect.Type) (lack, error) {
	kind := w.PeekKind()
	if kind == jsontext.KindNull {
		_, err := w.ReadToken()
		return lack{lacks: !writesNull(t)}, err
	}
	for t.Kind() == reflect.Pointer && !opaque(t) {
		t = t.Elem()
	}
	if !opaque(t) {
		switch {
		case kind == jsontext.KindBeginObject && t.Kind() == reflect.Struct:
			return w.fields(t)
		case kind == jsontext.KindBeginObject && t.Kind() == reflect.Map:
			return w.members(t.Elem())
		case kind == jsontext.KindBeginArray && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
			return w.elements(t)
		}
	}
	return lack{}, w.SkipValue()
}

func (w *walk) fields(t reflect.Type) (lack, error) {
	fields := fieldsOf(t)
	found := make([]lack, len(fields))
	for i, field := range fields {
		found[i] = lack{lacks: !field.optional}
	}
	there := make([]bool, len(fields))
	err := w.each(func(name string) error {
		at := slices.IndexFunc(fields, func(field field) bool { return field.key == name })
		if at < 0 {
			return w.SkipValue()
		}
		one, err := w.value(fields[at].Type)
		if !there[at] || one.lacks {
			found[at], there[at] = one, true
		}
		return err
	})
	for i, one := range found {
		if one.lacks {
			return one.in("." + fields[i].key), err
		}
	}
	return lack{}, err
}

// members names the first that lacks something by its name, not by where it stands: a map has no order.
func (w *walk) members(t reflect.Type) (lack, error) {
	lacking := map[string]lack{}
	err := w.each(func(name string) error {
		one, err := w.value(t)
		if one.lacks {
			lacking[name] = one
		}
		return err
	})
	if len(lacking) == 0 {
		return lack{}, err
	}
	first := slices.Min(slices.Collect(maps.Keys(lacking)))
	return lacking[first].in(fmt.Sprintf("[%q]", first)), err
}

// each calls for the value of each member of an object.
func (w *walk) each(member func(name string) error) error {
	if _, err := w.ReadToken(); err != nil {
		return err
	}
	for w.PeekKind() != jsontext.KindEndObject {
		name, err := w.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := w.ReadToken()
	return err
}

func (w *walk) elements(t reflect.Type) (lack, error) {
	var first lack
	if _, err := w.ReadToken(); err != nil {
		return first, err
	}
	length := 0
	for ; w.PeekKind() != jsontext.KindEndArray; length++ {
		one, err := w.value(t.Elem())
		if err != nil {
			return first, err
		}
		if one.lacks && !first.lacks {
			first = one.in(fmt.Sprintf("[%d]", length))
		}
	}
	if t.Kind() == reflect.Array && length < t.Len() && !first.lacks {
		first = lack{fmt.Sprintf("[%d]", length), true}
	}
	_, err := w.ReadToken()
	return first, err
}

// writesNull tells whether a value of a type can be null.
func writesNull(t reflect.Type) bool {
	raw, err := json.Marshal(reflect.New(t).Interface())
	return err == nil && string(raw) == "null"
}
