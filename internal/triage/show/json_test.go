package show

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"salve/internal/triage"
	"salve/internal/triage/triagetest"
)

const schemaPath = "../../../docs/triage.schema.json"

func TestDocumentsAreWhatTheSchemaSays(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	samples := append(triagetest.Samples(), triagetest.Sample{Name: "large", Document: triagetest.Large(3, 4)},
		triagetest.Sample{Name: "bare", Document: bare()})
	for _, sample := range samples {
		if err := schema.Validate(written(t, sample.Document)); err != nil {
			t.Errorf("%s: %v", sample.Name, err)
		}
	}
	wrong := triagetest.Outage()
	wrong.Groups[0].Cause.State = "perhaps"
	if schema.Validate(written(t, wrong)) == nil {
		t.Error("a state that there is not is valid")
	}
}

// bare has everything that must stand, and nothing else.
func bare() triage.Document {
	return triage.Document{
		Format: triage.Format, Verdict: triage.New,
		Groups: []triage.Group{{
			Verdict: triage.New, Flakiness: triage.Flaky, Cause: triage.Cause{State: "undecided"},
			Alternative: triage.Alternative{State: "no-change"}, Baseline: triage.BaselineSays{Answer: triage.NewFailure},
		}},
		Heat: []triage.Heat{{}}, Timeline: []triage.Moment{{}},
	}
}

func written(t *testing.T, doc triage.Document) any {
	t.Helper()
	var out bytes.Buffer
	if err := JSON(&out, doc); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestJSONReadsBackAsTheDocument(t *testing.T) {
	for _, sample := range triagetest.Samples() {
		var out bytes.Buffer
		if err := JSON(&out, sample.Document); err != nil {
			t.Fatal(err)
		}
		var got triage.Document
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if sample.Name == "hostile" {
			continue // its credentials and broken encodings don't come back
		}
		if diff := cmp.Diff(listed(sample.Document), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sample.Name, diff)
		}
	}
}

func TestNumbersThatAreNoneAreNotWritten(t *testing.T) {
	doc := triagetest.Outage()
	doc.Groups[0].Cause.Candidates[0].LogP = math.Inf(-1)
	var out bytes.Buffer
	if err := JSON(&out, doc); err == nil || out.Len() > 0 {
		t.Errorf("%v, with %d bytes written", err, out.Len())
	}
}

// definition is what the test knows of a schema.
type definition struct {
	Ref        string                `json:"$ref"`
	Type       string                `json:"type"`
	Enum       []any                 `json:"enum"`
	Required   []string              `json:"required"`
	Properties map[string]definition `json:"properties"`
	Items      *definition           `json:"items"`
	Defs       map[string]definition `json:"$defs"`
}

// TestSchemaHasTheFieldsOfTheDocument, each of them and no other, with the right types, and requires those that are
// always written.
func TestSchemaHasTheFieldsOfTheDocument(t *testing.T) {
	raw, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	var root definition
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	compare(t, "document", reflect.TypeFor[triage.Document](), root, root.Defs)
	if got := len(root.Defs["verdict"].Enum); got != len(triage.Verdicts()) {
		t.Errorf("%d verdicts", got)
	}
}

func compare(t *testing.T, at string, is reflect.Type, says definition, defs map[string]definition) {
	t.Helper()
	if name, refers := strings.CutPrefix(says.Ref, "#/$defs/"); refers {
		says = defs[name]
	}
	switch {
	case is.Kind() == reflect.Pointer:
		compare(t, at, is.Elem(), says, defs)
	case is == reflect.TypeFor[time.Time]() || is.Kind() == reflect.String:
		if says.Type != "string" && says.Enum == nil && at != "document.format" {
			t.Errorf("%s: %q is no string", at, says.Type)
		}
	case is.Kind() == reflect.Slice:
		if says.Items == nil || says.Type != "array" {
			t.Errorf("%s: %q is no array", at, says.Type)
			return
		}
		compare(t, at+"[]", is.Elem(), *says.Items, defs)
	case is.Kind() == reflect.Struct:
		fields(t, at, is, says, defs)
	default:
		if want := map[reflect.Kind]string{
			reflect.Int: "integer", reflect.Float64: "number", reflect.Bool: "boolean",
		}[is.Kind()]; says.Type != want {
			t.Errorf("%s: %q, want %q", at, says.Type, want)
		}
	}
}

func fields(t *testing.T, at string, is reflect.Type, says definition, defs map[string]definition) {
	t.Helper()
	var names, required []string
	for i := range is.NumField() {
		field := is.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
		if options != "omitempty" {
			required = append(required, name)
		}
		property, there := says.Properties[name]
		if !there {
			t.Errorf("%s: %s is not in the schema", at, name)
			continue
		}
		compare(t, at+"."+name, field.Type, property, defs)
	}
	for name := range says.Properties {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			t.Errorf("%s: the schema has %s, the document has not", at, name)
		}
	}
	if diff := cmp.Diff(required, says.Required); diff != "" {
		t.Errorf("%s: what is always written (-), and required (+):\n%s", at, diff)
	}
}
