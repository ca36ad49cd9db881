package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/pipeline"
)

// FuzzValidate: whatever a file holds, it is validated without a crash, and each
// message has a place in the file and a rule that is listed.
//
//	go test -fuzz FuzzValidate ./pipeline
func FuzzValidate(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	rules := map[string]bool{}
	for _, rule := range pipeline.Rules {
		rules[rule.ID] = true
	}
	config, found := pipeline.ParseConfig("config.yaml", []byte("a: {b: text, c: [1, x], d: 90m}\n"))
	if len(found) > 0 {
		f.Fatal(found)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, found := pipeline.Parse("p.yaml", content)
		if file == nil && found.Errors() == 0 {
			t.Fatal("no file, and nothing is wrong")
		}
		if file != nil {
			resolved, wrong := pipeline.Validate(file, pipeline.Environment{Config: config, FileOnly: true})
			found = append(found, wrong...)
			resolved.Graph()
			file.ConfigPaths()
			file.Names()
		}
		// YAML counts more than \n as the end of a line.
		size := 2
		for _, character := range string(content) {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", character) {
				size++
			}
		}
		for _, d := range found {
			if !rules[d.Rule] || d.Position.File == "" || d.Position.Line < 1 || d.Position.Line > size ||
				d.Position.Column < 1 {
				t.Errorf("a message without a rule or a place: %+v", d)
			}
		}
	})
}

func seeds(f *testing.F) [][]byte {
	f.Helper()
	all := [][]byte{
		[]byte(small), []byte("a: &a [*a, *a]\n<<: *a\n"), []byte("? {a: b}\n: c\n"), []byte("\ta: b"),
		[]byte("a: b\n---\nc: d\n"),
		[]byte("resourceGroups: [{name: g, steps: [{name: s, action: Shell, command: 'if', timeout: '{{ .a.d }}'}]}]\n"),
		[]byte("a: !!binary gIGC\n"), []byte("\xef\xbb\xbfa: b\n"), []byte(strings.Repeat("[", 100)), []byte("a: |2\n   x\n"),
		[]byte("a: \"\\x1b\\ud800\"\n"),
	}
	pipelines, err := filepath.Glob("../../examples/*/pipeline.yaml")
	if err != nil || len(pipelines) == 0 {
		f.Fatal("no pipelines to begin with", err)
	}
	for _, path := range pipelines {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, raw)
	}
	return all
}

// large is a pipeline of many steps, each with two before it and an input from one
// of them.
func large(steps int) []byte {
	var text strings.Builder
	text.WriteString("serviceGroup: S\nrolloutName: R\nresourceGroups:\n- name: fleet\n  resourceGroup: '{{ .a.b }}'\n  " +
		"subscription: s\n  steps:\n")
	for i := range steps {
		fmt.Fprintf(&text,
			"  - name: step-%d\n    action: Shell\n    command: ./step.sh --number %d\n    timeout: '{{ .a.d }}'\n    "+
				"shellIdentity: {configRef: a.b}\n    outputs: [result]\n", i, i)
		if i > 1 {
			fmt.Fprintf(&text,
				"    dependsOn:\n    - {resourceGroup: fleet, step: step-%d}\n    - {resourceGroup: fleet, step: step-%d}\n",
				i-1, (i-1)/2)
			fmt.Fprintf(&text,
				"    variables:\n    - name: RESULT\n      input: {resourceGroup: fleet, step: step-%d, name: result}\n", i-1)
		}
	}
	return []byte(text.String())
}

// BenchmarkValidate reads and validates a pipeline of 10,000 steps, one after the
// other, its folder and the configuration included.
func BenchmarkValidate(b *testing.B) {
	folder := b.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "step.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(folder, "pipeline.yaml")
	if err := os.WriteFile(path, large(10_000), 0o644); err != nil {
		b.Fatal(err)
	}
	config, _ := pipeline.ParseConfig("config.yaml", []byte("a: {b: text, d: 90m}\n"))
	for b.Loop() {
		file, found, err := pipeline.Read(path)
		if err != nil {
			b.Fatal(err)
		}
		_, wrong := pipeline.Validate(file, pipeline.Environment{Config: config})
		if len(found)+len(wrong) > 0 {
			b.Fatal(found, wrong)
		}
	}
}

// BenchmarkMistakes is the same with as many wrong names as steps.
func BenchmarkMistakes(b *testing.B) {
	content := []byte(strings.ReplaceAll(strings.ReplaceAll(string(large(10_000)), "{resourceGroup: fleet, step: step-",
		"{resourceGroup: fleet, step: stp-"), ".a.d }}", ".a.e }}"))
	config, _ := pipeline.ParseConfig("config.yaml", []byte("a: {b: text, d: 90m}\n"))
	for b.Loop() {
		file, _ := pipeline.Parse("p.yaml", content)
		if _, found := pipeline.Validate(file,
			pipeline.Environment{Config: config, FileOnly: true}); found.Errors() < 20_000 {
			b.Fatal(found.Errors())
		}
	}
}
