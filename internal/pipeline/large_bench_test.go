package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/internal/pipeline"
)

// BenchmarkValidateBesideYAML validates a pipeline of 10,000 steps, and parses the same text with the YAML library
// alone, in turn: how many times as long validation takes does not depend on the machine.
func BenchmarkValidateBesideYAML(b *testing.B) {
	content := large(10_000)
	config, _ := pipeline.ParseConfig("config.yaml", []byte("a: {b: text, d: 90m}\n"))
	var plain, validated time.Duration
	for b.Loop() {
		began := time.Now()
		var node yaml.Node
		if err := yaml.Unmarshal(content, &node); err != nil {
			b.Fatal(err)
		}
		plain += time.Since(began)
		began = time.Now()
		file, found := pipeline.Parse("p.yaml", content)
		_, wrong := pipeline.Validate(file, pipeline.Environment{Config: config, FileOnly: true})
		if len(found)+len(wrong) > 0 {
			b.Fatal(found, wrong)
		}
		validated += time.Since(began)
	}
	b.ReportMetric(float64(validated)/float64(plain), "times-YAML-alone")
}

// BenchmarkValidateMany validates pipelines of 100,000 steps in all, together, and tells how much memory the heap came
// to: of each an outline is kept, and nothing else while the next one is read.
func BenchmarkValidateMany(b *testing.B) {
	for _, files := range []int{100, 10} {
		b.Run(fmt.Sprintf("%d-files", files), func(b *testing.B) { validateMany(b, files, 100_000/files) })
	}
}

func validateMany(b *testing.B, files, steps int) {
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // as salve pipeline validate does
	folder := b.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "step.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		b.Fatal(err)
	}
	config, _ := pipeline.ParseConfig("config.yaml", []byte("a: {b: text, d: 90m}\n"))
	text, path := string(large(steps)), filepath.Join(folder, "pipeline.yaml")
	for b.Loop() {
		var outlines []*pipeline.Outline
		for i := range files {
			own := strings.Replace(text, "serviceGroup: S", "serviceGroup: S"+strings.Repeat("x", i), 1)
			if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
				b.Fatal(err)
			}
			file, found, err := pipeline.Read(path)
			if err != nil || len(found) > 0 {
				b.Fatal(found, err)
			}
			file, wrong := pipeline.Validate(file, pipeline.Environment{Config: config})
			if len(wrong) > 0 {
				b.Fatal(wrong)
			}
			outlines = append(outlines, file.Outline())
		}
		if found := pipeline.ValidateTogether(outlines, nil); len(found) > 0 {
			b.Fatal(found)
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapSys)/(1<<20), "MB-heap")
}
