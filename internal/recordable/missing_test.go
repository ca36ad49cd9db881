package recordable_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"salve/internal/recordable"
)

type pool struct {
	Name  string         `json:"name"`
	Nodes []node         `json:"nodes"`
	Taint *string        `json:"taint"`
	Tags  map[string]tag `json:"tags"`
	Size  [2]int         `json:"size"`
	Seen  time.Time      `json:"seen"`
	Note  string         `json:"note,omitempty"`
	Until time.Time      `json:"until,omitzero"`
	part
}

type (
	node struct{ Ready bool }
	tag  struct {
		Value string `json:"value"`
	}
	part struct{ Zone int }
)

// TestWhatARecordLacksIsNamed: it is never taken for the default of its type.
func TestWhatARecordLacksIsNamed(t *testing.T) {
	const whole = `"nodes":[{"Ready":true}],"taint":null,"tags":{"a":{"value":"v"}},"size":[1,2],"seen":"2026-11-22T00:00:00Z","Zone":1`
	for rule, row := range map[string]struct{ raw, want string }{
		"all is there":                               {`{"name":"p",` + whole + `}`, ""},
		"what nobody asks for is there too":          {`{"name":"p","other":1,` + whole + `}`, ""},
		"no field":                                   {`{}`, "name"},
		"one field":                                  {`{` + whole + `}`, "name"},
		"a field in other letters is another":        {`{"NAME":"p",` + whole + `}`, "name"},
		"null for a word":                            {`{"name":null,` + whole + `}`, "name"},
		"null for a list, which an empty one writes": {`{"name":"p",` + with("nodes", "null") + `}`, ""},
		"null for a map, which an empty one writes":  {`{"name":"p",` + with("tags", "null") + `}`, ""},
		"null in a list of what is never null":       {`{"name":"p",` + with("nodes", "[null]") + `}`, "nodes[0]"},
		"a field of the second of a list":            {`{"name":"p",` + with("nodes", `[{"Ready":true},{}]`) + `}`, "nodes[1].Ready"},
		"null under a key":                           {`{"name":"p",` + with("tags", `{"a":null}`) + `}`, `tags["a"]`},
		"a field under a key, the first by name":     {`{"name":"p",` + with("tags", `{"b":{},"a":{}}`) + `}`, `tags["a"].value`},
		"the end of a list of fixed length":          {`{"name":"p",` + with("size", `[1]`) + `}`, "size[1]"},
		"null for a time":                            {`{"name":"p",` + with("seen", "null") + `}`, "seen"},
		"a field of an embedded struct":              {`{"name":"p",` + with("Zone", "") + `}`, "Zone"},
		"what may be left out, as null":              {`{"name":"p","note":null,` + whole + `}`, "note"},
		"the whole":                                  {`null`, "its reading"},
		"another form, of which decoding tells":      {`[1]`, ""},
		"a word for a list":                          {`{"name":"p",` + with("nodes", `"n"`) + `}`, ""},
		"no JSON":                                    {`{`, ""},
		"two things, of which decoding tells":        {`{} {}`, ""},
		"the first of two of one name":               {`{"name":null,"name":"p",` + whole + `}`, "name"},
		"the last of two of one name":                {`{"name":"p","name":null,` + whole + `}`, "name"},
		"either of two under one key":                {`{"name":"p",` + with("tags", `{"a":{},"a":{"value":"v"}}`) + `}`, `tags["a"].value`},
		"either of two maps of one name, which decoding merges": {
			`{"name":"p",` + with("tags", `{"a":{}},"tags":{"b":{"value":"v"}}`) + `}`, `tags["a"].value`},
		"the first of a list that lack something": {`{"name":"p",` + with("nodes", `[{},{}]`) + `}`, "nodes[0].Ready"},
		"bytes that are no text":                  {"{\"name\":\"\xff\"," + with("Zone", "") + `}`, "Zone"},
	} {
		if got := recordable.Missing(reflect.TypeFor[pool](), json.RawMessage(row.raw)); got != row.want {
			t.Errorf("%s: %q, want %q", rule, got, row.want)
		}
	}
}

// with is all of a pool but its name, with another value of a field; without the field if there is none.
func with(field, value string) string {
	rest := ""
	for _, one := range [][2]string{
		{"nodes", `[{"Ready":true}]`}, {"taint", "null"}, {"tags", `{"a":{"value":"v"}}`}, {"size", "[1,2]"},
		{"seen", `"2026-11-22T00:00:00Z"`}, {"Zone", "1"},
	} {
		if one[0] == field {
			one[1] = value
		}
		if one[1] == "" {
			continue
		}
		if rest != "" {
			rest += ","
		}
		rest += `"` + one[0] + `":` + one[1]
	}
	return rest
}

// TestReadingsThatAreNoStruct may lack something as well.
func TestReadingsThatAreNoStruct(t *testing.T) {
	for rule, row := range map[string]struct {
		of   reflect.Type
		raw  string
		want string
	}{
		"a list":                {reflect.TypeFor[[]tag](), `[{"value":"v"},{}]`, "[1].value"},
		"an empty list":         {reflect.TypeFor[[]tag](), `[]`, ""},
		"no list":               {reflect.TypeFor[[]tag](), `null`, ""},
		"a map":                 {reflect.TypeFor[map[string]int](), `{"a":null}`, `["a"]`},
		"a pointer to a struct": {reflect.TypeFor[*tag](), `{}`, "value"},
		"no pointer":            {reflect.TypeFor[*tag](), `null`, ""},
		"a number":              {reflect.TypeFor[int](), `null`, "its reading"},
		"bytes":                 {reflect.TypeFor[[]byte](), `"AAE="`, ""},
		"raw JSON":              {reflect.TypeFor[json.RawMessage](), `null`, ""},
		"raw JSON of any form":  {reflect.TypeFor[json.RawMessage](), `{"a":null}`, ""},
	} {
		if got := recordable.Missing(row.of, json.RawMessage(row.raw)); got != row.want {
			t.Errorf("%s: %q, want %q", rule, got, row.want)
		}
	}
}
