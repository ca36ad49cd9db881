package reference

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// head stands at the beginning.
type head struct {
	// Kind is what it is.
	Kind string `json:"kind"`
}

// part is one of several.
type part struct {
	// Name says which one.
	Name string `json:"name"`
	Raw  []byte `json:"raw,omitempty"`
}

// whole holds parts.
type whole struct {
	head
	Parts  []part     `json:"parts"`
	First  *part      `json:"first"`
	Last   *part      `json:"last,omitempty"`
	When   time.Time  `json:"when"`
	Counts []int      `json:"counts,omitempty"`
	Other  *[]float64 `json:"-"`
}

// TestSchema: named types are definitions with their comments, and null is allowed only where it can be.
func TestSchema(t *testing.T) {
	raw, err := Schema("whole", whole{}, map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time](): {Type: "string", Format: "date-time"},
		reflect.TypeFor[[]byte]():    {Type: "string"},
	}, NewComments("../.."))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "whole", "type": "object",
		"description": "whole holds parts.", "required": []any{"kind", "parts", "first", "when"},
		"properties": map[string]any{
			"kind":   map[string]any{"type": "string", "const": "whole", "description": "what it is."},
			"parts":  map[string]any{"type": []any{"null", "array"}, "items": map[string]any{"$ref": "#/$defs/part"}},
			"first":  map[string]any{"anyOf": []any{map[string]any{"type": "null"}, map[string]any{"$ref": "#/$defs/part"}}},
			"last":   map[string]any{"$ref": "#/$defs/part"},
			"when":   map[string]any{"type": "string", "format": "date-time"},
			"counts": map[string]any{"type": "array", "items": map[string]any{"type": "integer"}},
		},
		"$defs": map[string]any{"part": map[string]any{
			"type": "object", "description": "part is one of several.", "required": []any{"name"},
			"properties": map[string]any{
				"name": map[string]any{"type": "string", "description": "Name says which one."},
				"raw":  map[string]any{"type": "string"},
			},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// hiding has a field that hides one of what it embeds by its Go name, and not by its JSON name.
type hiding struct {
	head
	Kind string `json:"other"`
}

// TestFieldThatTheLibraryMissesIsAnError: a schema that lacks a field would forbid it, or say nothing of it.
func TestFieldThatTheLibraryMissesIsAnError(t *testing.T) {
	_, err := Schema("hiding", hiding{}, nil, NewComments("../.."))
	if err == nil || !strings.Contains(err.Error(), `"kind"`) {
		t.Errorf("got %v", err)
	}
}
