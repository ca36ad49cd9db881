package recordable_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/recordable"
)

type read struct {
	Name  string            `json:"name"`
	Count int               `json:"count,omitempty"`
	At    time.Time         `json:"at,omitzero"`
	Raw   json.RawMessage   `json:"raw,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	List  []byte            `json:"list,omitempty"`
	Next  *read             `json:"next,omitempty"`
	Pair  [2]int            `json:"pair"`
}

// A record that was written years ago has to mean what it meant then.
func TestUnmarshalFollowsEncodingJSON(t *testing.T) {
	for name, raw := range map[string]string{
		"usual":                     `{"name":"a","count":3,"at":"2026-11-26T00:00:00Z","raw":{"b": [1, 2]},"tags":{"x":"y"}}`,
		"nested":                    `{"next":{"next":{"name":"deep"}}}`,
		"bytes":                     `{"list":"c2FsdmU="}`,
		"a name in other letters":   `{"NAME":"a","Count":2}`,
		"a name twice":              `{"name":"a","name":"b","next":{"name":"a"},"next":{"count":2}}`,
		"null":                      `{"name":null,"count":null,"next":null,"raw":null}`,
		"unknown":                   `{"nam":"a"}`,
		"an array that is short":    `{"pair":[1]}`,
		"an array that is long":     `{"pair":[1,2,3]}`,
		"invalid UTF-8":             "{\"name\":\"a\xff\"}",
		"half a surrogate":          `{"name":"\ud800"}`,
		"HTML":                      `{"name":"\u003cb\u003e&"}`,
		"a fraction for a count":    `{"count":1.5}`,
		"a text for a count":        `{"count":"1"}`,
		"a count too large":         `{"count":9223372036854775808}`,
		"a time that is none":       `{"at":"yesterday"}`,
		"bytes that are not base64": `{"list":"?"}`,
		"something after its end":   `{"name":"a"} {}`,
		"cut off":                   `{"name":"a"`,
		"nothing":                   ``,
		"space around it":           " {\"name\":\"a\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			var want, got read
			wantErr, gotErr := json.Unmarshal([]byte(raw), &want), recordable.Unmarshal([]byte(raw), &got)
			if (wantErr == nil) != (gotErr == nil) {
				t.Fatalf("encoding/json: %v; here: %v", wantErr, gotErr)
			}
			if diff := cmp.Diff(want, got); wantErr == nil && diff != "" {
				t.Errorf("(-encoding/json +here)\n%s", diff)
			}
		})
	}
}

func TestUnmarshalStrictRefusesWhatATypeDoesNotHave(t *testing.T) {
	var got read
	err := recordable.UnmarshalStrict([]byte(`{"name":"a","nam":"b"}`), &got)
	if err == nil || !strings.Contains(err.Error(), `unknown field "nam"`) {
		t.Errorf("got %v", err)
	}
	if err := recordable.UnmarshalStrict([]byte(`{"name":"a","pair":[1,2]}`), &got); err != nil {
		t.Error(err)
	}
}
