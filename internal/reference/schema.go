package reference

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// module is the prefix of the packages whose types get a definition of their own.
const module = "salve/"

// Schema describes the JSON of a Go value: its named types are definitions, their comments descriptions. What a type
// writes by a method of its own is described by the overrides.
func Schema(kind string, value any, overrides map[reflect.Type]*jsonschema.Schema, comments *Comments) ([]byte, error) {
	g := &generator{overrides: overrides, comments: comments, names: map[reflect.Type]string{}}
	root := reflect.TypeOf(value)
	g.collect(root)
	delete(g.names, root)
	schema, err := g.schemaOf(root)
	if err == nil {
		err = complete(schema, value)
	}
	if err != nil {
		return nil, err
	}
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = kind
	if named, ok := schema.Properties["kind"]; ok {
		var is any = kind
		named.Const = &is
	}
	if len(g.names) > 0 {
		schema.Defs = map[string]*jsonschema.Schema{}
	}
	for defined, name := range g.names {
		if schema.Defs[name], err = g.schemaOf(defined); err != nil {
			return nil, err
		}
	}
	g.prune(schema)
	raw, err := json.MarshalIndent(schema, "", "  ")
	return append(raw, '\n'), err
}

// complete finds fields that are written and that the schema lacks: the library goes by the names of Go, by which one
// field may hide another that has another name in JSON.
func complete(schema *jsonschema.Schema, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var written map[string]json.RawMessage
	if err := json.Unmarshal(raw, &written); err != nil {
		return err
	}
	for name := range written {
		if schema.Properties[name] == nil {
			return fmt.Errorf("schema of %T: field %q is written and not described: does another field of the same Go name "+
				"hide it?", value, name)
		}
	}
	return nil
}

type generator struct {
	overrides map[reflect.Type]*jsonschema.Schema
	comments  *Comments
	// names are the definitions' names.
	names map[reflect.Type]string
}

// collect finds the named structs of this module that a type holds.
func (g *generator) collect(t reflect.Type) {
	switch t.Kind() { //nolint:exhaustive // other kinds hold no types
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		g.collect(t.Elem())
	case reflect.Struct:
		if _, known := g.names[t]; known || g.overrides[t] != nil {
			return
		}
		if t.Name() != "" && strings.HasPrefix(t.PkgPath(), module) {
			g.names[t] = g.unique(t)
		} else if t.Name() != "" {
			return // the library's business
		}
		for _, field := range fields(t) {
			g.collect(field)
		}
	}
}

// unique is a type's name, with its package where two packages have a type of that name.
func (g *generator) unique(t reflect.Type) string {
	name := t.Name()
	for other, taken := range g.names {
		if other != t && taken == name {
			path := strings.Split(t.PkgPath(), "/")
			return path[len(path)-1] + "." + name
		}
	}
	return name
}

// fields are the types of what a struct writes, in order: the first type of a name gets it without its package.
func fields(t reflect.Type) (all []reflect.Type) {
	for i := range t.NumField() {
		if field := t.Field(i); (field.IsExported() || field.Anonymous) && field.Tag.Get("json") != "-" {
			all = append(all, field.Type)
		}
	}
	return all
}

// schemaOf describes one type; other named ones are references.
func (g *generator) schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	types := map[reflect.Type]*jsonschema.Schema{}
	for other, schema := range g.overrides {
		types[other] = schema
	}
	embedded := map[reflect.Type]bool{}
	embeds(t, embedded)
	for other, name := range g.names {
		if other != t && !embedded[other] {
			types[other] = &jsonschema.Schema{Ref: "#/$defs/" + name}
		}
	}
	schema, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	g.describe(t, schema)
	settle(schema)
	return schema, nil
}

// embeds collects what a struct embeds: its fields are the struct's own.
func embeds(t reflect.Type, into map[reflect.Type]bool) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		if field := t.Field(i); field.Anonymous && field.Tag.Get("json") == "" {
			into[field.Type] = true
			embeds(field.Type, into)
		}
	}
}

// describe takes descriptions from the comments of the source.
func (g *generator) describe(t reflect.Type, schema *jsonschema.Schema) {
	if t.Kind() != reflect.Struct {
		return
	}
	schema.Description = g.comments.Type(t)
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		property := schema.Properties[name]
		if property == nil || field.Anonymous {
			continue
		}
		owner := t
		for _, at := range field.Index[:len(field.Index)-1] {
			owner = owner.Field(at).Type
			if owner.Kind() == reflect.Pointer {
				owner = owner.Elem()
			}
		}
		property.Description = withoutName(g.comments.Field(owner, field.Name), field.Name)
	}
}

// withoutName takes the field's Go name off its comment: readers of JSON know it by another one.
func withoutName(comment, name string) string {
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(comment, name+verb); ok {
			return rest
		}
	}
	return comment
}

// settle takes back what the library only supposes: a field that is left out when it is empty is never null, and a
// reference that may be null is one of two. Fields may be added within a version of the schema, so that unknown ones
// are no error.
func settle(schema *jsonschema.Schema) {
	if schema == nil {
		return
	}
	for name, property := range schema.Properties {
		if !slices.Contains(schema.Required, name) {
			property.Types = slices.DeleteFunc(property.Types, func(one string) bool { return one == "null" })
			switch len(property.Types) {
			case 0:
				property.Types = nil
			case 1:
				property.Type, property.Types = property.Types[0], nil
			}
		}
		settle(property)
	}
	if schema.Ref != "" && slices.Contains(schema.Types, "null") {
		schema.AnyOf = []*jsonschema.Schema{{Type: "null"}, {Ref: schema.Ref}}
		schema.Ref, schema.Types = "", nil
	}
	settle(schema.Items)
	if schema.Properties != nil {
		schema.AdditionalProperties = nil
	} else {
		settle(schema.AdditionalProperties)
	}
}

// prune removes definitions that nothing refers to: those of structs that are only embedded.
func (g *generator) prune(schema *jsonschema.Schema) {
	for {
		raw, err := json.Marshal(schema)
		if err != nil {
			return // said by who encodes the schema
		}
		before := len(schema.Defs)
		for name := range schema.Defs {
			if !strings.Contains(string(raw), `"#/$defs/`+name+`"`) {
				delete(schema.Defs, name)
			}
		}
		if len(schema.Defs) == before {
			return
		}
	}
}
