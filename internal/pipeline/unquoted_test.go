package pipeline_test

import (
	"strings"
	"testing"

	"salve/internal/pipeline"
)

// TestTemplatesWithoutQuotes: what is the whole of a value has the type of what it is filled with, and is not judged
// before.
func TestTemplatesWithoutQuotes(t *testing.T) {
	const head = "serviceGroup: S\nrolloutName: R\nresourceGroups:\n" +
		"- name: fleet\n  resourceGroup: g\n  subscription: s\n" +
		"  steps:\n  - name: one\n    action: Shell\n    command: 'true'\n    shellIdentity: {value: me}\n"
	config := parseConfig(t, `
affirm: 'yes'
truth: true
three: 3
text: some text
empty: ''
pair: 'a: b'
comma: 'a, b'
lines: "a\nb: c"
comment: 'a # b'
tag: '!secret a'
open: '{'
`)
	for name, row := range map[string]struct{ text, parsed, resolved string }{
		"true or false":              {"    idempotent: {{ .truth }}", "", ""},
		"as rollout tools read YAML": {"    idempotent: {{ .affirm }} # why", "", ""},
		"a number": {
			"    automatedRetry: {maximumRetryCount: {{.three}}, errorContainsAny: [{{ .text }}, x]}", "", ""},
		"a text":                   {"    workingDir: {{ .text }}", "", ""},
		"a value that is one text": {"    variables: [{name: A, value: {{ .text }}}]", "", ""},
		"a text for true or false": {"    idempotent: {{ .text }}", "",
			`:12:17 "idempotent" must be true or false, and this is a string [wrong-type]`},
		"a number for a text": {"    workingDir: {{ .three }}", "",
			`:12:17 "workingDir" must be a string, and this is a number; write the template in quotes [wrong-type]`},
		"nothing": {"    idempotent: {{ .empty }}", "",
			`:12:17 "idempotent" must be true or false, and this is nothing [wrong-type]`},
		"two in a row are no whole": {

			"    automatedRetry: {maximumRetryCount: {{ .three }}{{ .three }}, errorContainsAny: [x]}",
			"p.yaml:11:5: this is not YAML", ""},
		"in quotes it is a text": {"    idempotent: '{{ .truth }}'",
			`:12:17 "idempotent" must be true or false, and this is a string; write the template without quotes ` +
				`[wrong-type]`, ""},
		"more of a file": {"    workingDir: {{ .pair }}", "",
			":12:17 a template without quotes must be filled with a text, a number, or true or false, and not with more of " +
				"the file; write the template in quotes [template]"},
		"more lines":           {"    workingDir: {{ .lines }}", "", ":12:17 a template without quotes must be filled"},
		"a tag":                {"    workingDir: {{ .tag }}", "", ":12:17 a template without quotes must be filled"},
		"what YAML can't read": {"    workingDir: {{ .open }}", "", ":12:17 a template without quotes must be filled"},
		"a comma ends no line": {"    workingDir: {{ .comma }}", "", ""},
		"but an entry of a list": {
			"    variables: [{name: A, value: {{ .comma }}}]",
			"", ":12:34 a template without quotes must be"},
		"a comment is no value":  {"    workingDir: {{ .comment }}", "", ""},
		"a path that leads away": {"    workingDir: {{ .absent }}", "", `:12:17 absent: the configuration has no "absent"`},
		"a function":             {"    workingDir: {{ print .three .text }}", "", ""},
		"a mapping is asked for": {
			"    automatedRetry: {{ .text }}",
			`"automatedRetry" must be a mapping, and this is a template`, ""},
		"one pair of braces": {"    workingDir: { {.text} }", "this is a mapping with a mapping as its key", ""},
		"a condition":        {"    dependsOn:\n    {{ if .text }}", " decides which lines the file has", ""},
		"a key":              {"    {{ .text }}: a", "a key must be a single word or text", ""},
		"a value of its own": {"    workingDir: {{ .text }}: b", "p.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file, found := pipeline.Parse("p.yaml", []byte(head+row.text+"\n"))
			if says := lines(found); !saysOnly(says, row.parsed) {
				t.Fatalf("parsed, it says %q, want %q", says, row.parsed)
			}
			if file == nil {
				return
			}
			if _, found = file.Resolve(config); !saysOnly(lines(found), row.resolved) {
				t.Errorf("resolved, it says %q, want %q", lines(found), row.resolved)
			}
		})
	}
}

// saysOnly tells whether a message is the only one of a list; where it is empty, that there is none.
func saysOnly(all, want string) bool {
	if want == "" {
		return all == ""
	}
	return strings.Count(all, "\n") == 1 && strings.Contains(strings.ReplaceAll(all, ": step fleet/one:", ""), want)
}
