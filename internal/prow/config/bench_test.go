package config_test

import (
	"fmt"
	"strings"
	"testing"

	"salve/internal/prow/config"
)

// large is a configuration of 3,000 jobs of 100 repositories in 16,000 lines, in one
// file of jobs or in one for each repository.
func large(oneFile bool) files {
	f := files{"config.yaml": "branch-protection:\n  protect-tested-repos: true\n  orgs: {org: {protect: true}}\n"}
	for repo := range 100 {
		var jobs strings.Builder
		fmt.Fprintf(&jobs, "  org/repo-%d:\n", repo)
		for i := range 30 {
			fmt.Fprintf(&jobs, "  - name: pull-%d-%d\n    always_run: %t\n    spec:\n      containers:\n"+
				"      - {image: golang, command: [make, test]}\n", repo, i, i%2 == 0)
		}
		name := "jobs/all.yaml"
		if !oneFile {
			name = fmt.Sprintf("jobs/%d.yaml", repo)
		}
		if f[name] == "" {
			f[name] = "presubmits:\n"
		}
		f[name] += jobs.String()
	}
	return f
}

func BenchmarkLoad(b *testing.B) {
	for name, oneFile := range map[string]bool{"one file": true, "100 files": false} {
		b.Run(name, func(b *testing.B) {
			f := large(oneFile)
			tree, names := f.tree(), f.names()
			b.ReportAllocs()
			for b.Loop() {
				if c, err := config.Load(tree, names).Config(); err != nil || len(c.Jobs()) != 3000 {
					b.Fatal(err)
				}
			}
		})
	}
}
