package changedfiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"salve/internal/pipeline"
	"salve/internal/pipeline/changedfiles"
)

// site is a pipeline that executes a script of its folder and a program that its
// build step makes, reads a template, and works in a folder.
const site = `$schema: pipeline.schema.v1
serviceGroup: Example.Site
rolloutName: Site
buildStep: {command: go, args: [build, -o, made, ../source]}
resourceGroups:
- name: g
  resourceGroup: rg
  subscription: sub
  steps:
  - {name: a, action: Shell, command: ./a.sh, shellIdentity: {value: me}}
  - {name: made, action: Shell, command: ./made, shellIdentity: {value: me}}
  - {name: read, action: Shell, command: bash read.sh >trace, shellIdentity: {value: me}}
  - {name: work, action: Shell, command: 'touch mark', workingDir: work, shellIdentity: {value: me}}
  - {name: arm, action: ARM, template: ../templates/cluster.json, parameters: parameters.json, deploymentLevel: ResourceGroup}
`

// content is what change.Content says of the site, and must not depend on where
// that is seen from.
func (r *repository) content() string {
	r.Helper()
	file, found := pipeline.Parse(filepath.Join(r.folder, "site/pipeline.yaml"), []byte(site))
	if found.Errors() > 0 {
		r.Fatal(found)
	}
	said, err := changedfiles.Content(r.Context(), file)
	if err != nil {
		r.Fatal(err)
	}
	return said
}

func newSite(t *testing.T) *repository {
	r := newRepository(t)
	for name, text := range map[string]string{
		"site/pipeline.yaml": site, "site/a.sh": "#!/bin/sh\n", "site/read.sh": "true\n", "site/work/input": "1\n",
		"site/parameters.json": "{}\n", "site/README.md": "# Site\n", "source/main.go": "package main\n",
	} {
		r.write(name, text)
	}
	return r
}

// TestContent: what was written counts; what a build or a step makes does not, or
// no run could be gone on with.
func TestContent(t *testing.T) {
	for name, test := range map[string]struct {
		path             string
		tracked, foreign bool // whether it counts in a repository, and where there is none
	}{
		"a script that a step executes":        {"site/a.sh", true, true},
		"a template":                           {"templates/cluster.json", true, true},
		"its parameters":                       {"site/parameters.json", true, true},
		"a script that a command reads":        {"site/read.sh", true, false},
		"a file of the folder that a step has": {"site/work/input", true, false},
		"what the build step is made of":       {"source/main.go", true, false},
		"what a step leaves in its folder":     {"site/work/mark", false, false},
		"what a command writes":                {"site/trace", false, false},
		"what the build step makes":            {"site/made", false, false},
		"what nobody names":                    {"site/README.md", false, false},
		"a template of others":                 {"templates/other.json", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, inRepository := range []bool{true, false} {
				r := newSite(t)
				want := test.foreign
				if inRepository {
					r.commit()
					want = test.tracked
				} else if err := os.RemoveAll(filepath.Join(r.folder, ".git")); err != nil {
					t.Fatal(err)
				}
				before := r.content()
				if r.content() != before {
					t.Fatal("it is another one each time")
				}
				r.write(test.path, "#!/bin/sh\necho other\n")
				if changed := r.content() != before; changed != want {
					t.Errorf("in a repository: %t; changed: %t", inRepository, changed)
				}
			}
		})
	}
}

// TestContentOfOtherKinds: a script counts with its mode, a link by where it leads
// to, and that a file is gone counts too.
func TestContentOfOtherKinds(t *testing.T) {
	r := newSite(t)
	r.commit()
	path := filepath.Join(r.folder, "site/a.sh")
	seen := map[string]string{r.content(): "at first"}
	for _, step := range []struct {
		name   string
		change func() error
	}{
		{"executable", func() error { return os.Chmod(path, 0o755) }},
		{"gone", func() error { return os.Remove(path) }},
		{"a link", func() error { return os.Symlink("read.sh", path) }},
		{"another link", func() error { return errors.Join(os.Remove(path), os.Symlink("work/input", path)) }},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if before, twice := seen[r.content()]; twice {
			t.Errorf("%s is as %s", step.name, before)
		}
		seen[r.content()] = step.name
	}
}

// TestContentElsewhere: a checkout in another place is the same pipeline.
func TestContentElsewhere(t *testing.T) {
	one, other := newSite(t), newSite(t)
	one.commit()
	other.commit()
	if one.content() != other.content() {
		t.Error("it depends on the place")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(one.folder, link); err != nil {
		t.Fatal(err)
	}
	if linked := (&repository{T: t, folder: link}); linked.content() != one.content() {
		t.Error("it depends on the way there")
	}
}
