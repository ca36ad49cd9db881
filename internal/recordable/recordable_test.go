package recordable_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"salve/internal/recordable"
)

type (
	plain struct {
		Name  string
		Size  int `json:"size"`
		Ratio float64
		Since time.Time
		Raw   json.RawMessage
		Bytes []byte
		Of    map[string][]*plain
	}
	embedded struct {
		plain
		More int
	}
	word string
	// boiling writes words, and reads none.
	boiling struct{ Degrees int }
	// thawing reads words, and writes none.
	thawing struct{ Degrees int }
	// written is a key that writes its text, and does not read it.
	written struct{ Of int }
)

func (boiling) MarshalJSON() ([]byte, error)   { return []byte(`"hot"`), nil }
func (*thawing) UnmarshalJSON([]byte) error    { return nil }
func (w written) MarshalText() ([]byte, error) { return fmt.Append(nil, w.Of), nil }

// twice is a struct that nobody may write: two of its fields have one name.
func twice() any {
	number := reflect.TypeFor[int]()
	return reflect.Zero(reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: number, Tag: `json:"x"`}, {Name: "B", Type: number, Tag: `json:"x"`},
	})).Interface()
}

// TestTypesThatComeBackFromARecord: what a reading may be made of, and what not, with its place.
func TestTypesThatComeBackFromARecord(t *testing.T) {
	for rule, row := range map[string]struct {
		of   any
		want string // what the problem says; empty: none
	}{
		"values, lists and maps of them":            {plain{}, ""},
		"a pointer to one":                          {&plain{}, ""},
		"a list that is no struct":                  {[]plain{}, ""},
		"a type that writes and reads its own JSON": {time.Time{}, ""},
		"what is said not to be part of it": {struct {
			Say func() `json:"-"`
		}{}, ""},
		"an embedded struct, whose fields are spread": {embedded{}, ""},
		"an embedded struct with a name": {struct {
			plain `json:"plain"`
		}{}, ""},
		"a word as a key":              {map[word]int{}, ""},
		"a number as a key":            {map[int8]int{}, ""},
		"a key that reads its text":    {map[time.Time]int{}, ""},
		"a type that holds itself":     {struct{ Next *plain }{}, ""},
		"a field that is not exported": {struct{ Shown, kept int }{}, "field kept of struct"},
		"one deep inside": {struct {
			Deep map[string][]struct{ kept int }
		}{},
			"field Deep.kept of struct"},
		"an embedded pointer":      {struct{ *plain }{}, "embedded without a JSON name"},
		"an embedded word":         {struct{ word }{}, "embedded without a JSON name"},
		"two fields with one name": {twice(), `has the name "x" twice`},
		"a field that an embedded one has": {struct {
			plain
			Name string
		}{}, `has the name "Name" twice`},
		"an interface: of which type, JSON does not say": {struct{ Of any }{}, "field Of interface {} is not a value"},
		"a function":          {struct{ Of func() }{}, "field Of func() is not a value"},
		"a channel in a list": {[]chan int{}, "chan int is not a value"},
		"a complex number":    {struct{ Of complex128 }{}, "field Of complex128 is not a value"},
		"a type that writes its own JSON alone": {struct{ Of boiling }{},
			"field Of recordable_test.boiling writes its own JSON, and does not read it"},
		"a type that reads its own JSON alone": {struct{ Of thawing }{},
			"field Of recordable_test.thawing reads its own JSON, and does not write it"},
		"a key that JSON does not have":    {struct{ Of map[bool]int }{}, "field Of map[bool]int has keys"},
		"a key that writes its text alone": {map[written]int{}, "map[recordable_test.written]int has keys"},
	} {
		got := recordable.Problem(reflect.TypeOf(row.of))
		if row.want == "" && got != "" || !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q", rule, got, row.want)
		}
	}
}

// TestTypesWithoutAProblemAreTheSameReadBack: the rule holds what it promises.
func TestTypesWithoutAProblemAreTheSameReadBack(t *testing.T) {
	at := time.Date(2026, 11, 22, 2, 13, 0, 7, time.UTC)
	leaf := &plain{Name: "leaf", Raw: json.RawMessage(`{"a":1}`), Bytes: []byte{0, 255}}
	for _, value := range []any{
		plain{Name: "n", Size: -1, Ratio: 0.1, Since: at, Raw: json.RawMessage(`[]`), Bytes: []byte{},
			Of: map[string][]*plain{"x": {leaf, nil}}},
		embedded{plain: plain{Name: "n", Raw: json.RawMessage(`1`)}, More: 3},
		map[time.Time]int{at: 4},
		map[word][2]int8{"w": {5, 6}},
	} {
		of := reflect.TypeOf(value)
		if wrong := recordable.Problem(of); wrong != "" {
			t.Errorf("%T: %s", value, wrong)
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if lacks := recordable.Missing(of, raw); lacks != "" {
			t.Errorf("%s lacks %s", raw, lacks)
		}
		back := reflect.New(of)
		if err := json.Unmarshal(raw, back.Interface()); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back.Interface())
		if err != nil || string(again) != string(raw) {
			t.Errorf("%s\n%s, %v", raw, again, err)
		}
	}
}
