package gotemplate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/pipeline/gotemplate"
)

func data() map[string]any {
	return map[string]any{"a": map[string]any{"b": "text", "list": []any{"x", "y"}, "on": true, "none": nil}}
}

func TestExecute(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"{{ .a.b }}-{{ .a.on }}":          "text-true",
		"{{range .a.list}}[{{.}}]{{end}}": "[x][y]",
		"{{range $i, $x := .a.list}}{{$i}}{{$x}}{{$.a.b}}{{end}}":          "0xtext1ytext",
		"{{if and .a.on (eq .a.b \"text\")}}yes{{else}}no{{end}}":          "yes",
		"{{ index .a.list 1 }} {{ len .a.list }} {{ printf \"%q\" .a.b }}": `y 2 "text"`,
		"{{ define \"t\" }}<{{ .b }}>{{ end }}{{ template \"t\" .a }}":     "<text>",
		"{{ .a.none }}": "<no value>",
	} {
		t.Run(text, func(t *testing.T) {
			parsed, err := gotemplate.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := parsed.Execute(data()); got != want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestErrorsHaveTheirPlace(t *testing.T) {
	for text, want := range map[string]gotemplate.Error{
		"a\n{{ .a":         {Line: 2, Reason: "unclosed action"},
		"\n{{ upper .a }}": {Line: 2, Reason: `function "upper" not defined`},
		"\n  {{ .a.c }}":   {Line: 2, Column: 6, Missing: "a.c", Reason: `{{ .a.c }}: map has no entry for key "c"`},
		"{{range .a.list}}{{$.x}}{{end}}": {Line: 1, Column: 20, Missing: "x",
			Reason: `{{ $.x }}: map has no entry for key "x"`},
		"{{ .a.b.c }}": {Line: 1, Column: 4, Missing: "a.b.c",
			Reason: "{{ .a.b.c }}: can't evaluate field c in type interface {}"},
		"{{ range .a.on }}{{ end }}": {Line: 1, Column: 10, Reason: "{{ .a.on }}: range can't iterate over true"},
		"{{define \"t\"}}{{template \"t\"}}{{end}}{{template \"t\"}}": {Line: 1, Column: 15,
			Reason: `{{ {{template "t"}} }}: exceeded maximum template depth (100000)`},
	} {
		t.Run(text, func(t *testing.T) {
			parsed, err := gotemplate.Parse(text)
			if err == nil {
				_, err = parsed.Execute(data())
			}
			var wrong *gotemplate.Error
			if !errors.As(err, &wrong) {
				t.Fatalf("no error of its own: %v", err)
			}
			if diff := cmp.Diff(want, *wrong); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOutputIsBounded: a few words that write more than any file holds are refused.
func TestOutputIsBounded(t *testing.T) {
	parsed, err := gotemplate.Parse(`{{range 1000000}}{{range 1000000}}` + strings.Repeat("x", 1000) + `{{end}}{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parsed.Execute(data()); err == nil || !strings.Contains(err.Error(), "larger than 16777216 bytes") {
		t.Error(err)
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string][]gotemplate.Part{
		"a {{ .b.c }}":            {{Literal: "a ", At: 0}, {Path: "b.c", At: 5}},
		"{{ range .a }}{{ end }}": nil, "{{ .a | len }}": nil, "{{ $x := .a }}": nil, "{{ . }}": nil,
		"{{ define \"t\" }}{{ end }}": nil,
	} {
		parsed, err := gotemplate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		parts, more := parsed.Parts()
		if diff := cmp.Diff(want, parts); diff != "" || (more == nil) != (want != nil) {
			t.Errorf("%s: %v\n%s", text, more, diff)
		}
	}
}

func TestPaths(t *testing.T) {
	for text, want := range map[string][]string{
		"{{ .b.c }}{{ .a }}{{ .a }}": {"a", "b.c"},
		"{{ range .list }}{{ .name }}{{ $.a.b }}{{ else }}{{ .other }}{{ end }}": {"a.b", "list", "other"},
		"{{ with .x }}{{ .y }}{{ end }}{{ if .z }}{{ .w }}{{ end }}":             {"w", "x", "z"},
		`{{ index .a "b" | printf "%s" }}{{ (index .c 0).d }}`:                   {"a", "c"},
		`{{ $v := .v }}{{ $v.w }}`:                                               {"v"},
	} {
		parsed, err := gotemplate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, parsed.Paths()); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

// TestEndlessTemplatesAreGivenUp: a loop that says nothing does not make a command hang.
func TestEndlessTemplatesAreGivenUp(t *testing.T) {
	parsed, err := gotemplate.Parse(`{{range 100000}}{{range 100000}}{{end}}{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parsed.ExecuteWithin(data(), time.Millisecond)
	var wrong *gotemplate.Error
	if !errors.As(err, &wrong) || !wrong.Endless {
		t.Error(err)
	}
}
