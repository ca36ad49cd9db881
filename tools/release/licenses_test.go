package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLicensesOfWhatIsLinked: each once, with the names of all that have it; also of a part of a module, and of what one
// platform alone is linked from.
func TestLicensesOfWhatIsLinked(t *testing.T) {
	root := t.TempDir()
	for path, content := range map[string]string{
		"lib/LICENSE": "be kind\n", "lib/inner/code.go": "package inner", "lib/inner/COPYING.txt": "and gentle",
		"lib/NOTICE": "made with care", "lib/license.go": "package lib", "twin/LICENCE.md": "be kind", "twin/a/b.go": "",
		"bare/readme": "", "go/src/io/io.go": "", "go/LICENSE": "as Go", "go/src/vendor/x/x.go": "",
	} {
		write(t, filepath.Join(root, path), content)
	}
	of := func(importPath, folder, module string) linked {
		one := linked{ImportPath: importPath, Dir: filepath.Join(root, folder)}
		one.Module = &struct {
			Path, Version, Dir string
			Main               bool
			Replace            *struct{ Path, Version string }
		}{Path: module, Version: "v1.0.0", Dir: filepath.Join(root, strings.Split(folder, "/")[0])}
		return one
	}
	own := of("mine", "bare", "mine")
	own.Module.Main = true
	packages := []linked{
		own, of("lib", "lib", "lib"), of("lib/inner", "lib/inner", "lib"), of("twin/a", "twin/a", "twin"),
		{ImportPath: "io", Dir: filepath.Join(root, "go/src/io"), Standard: true},
		{ImportPath: "vendor/x", Dir: filepath.Join(root, "go/src/vendor/x"), Standard: true},
	}
	text, err := licensesOf(packages)
	check(t, err)
	line := strings.Repeat("=", 80)
	want := "This program is linked from the following, under the licenses given with each.\n" + strings.Join([]string{"",
		"The Go standard library\n\nas Go\n", "lib v1.0.0\n\nand gentle\n", "lib v1.0.0\n\nmade with care\n",
		"lib v1.0.0\ntwin v1.0.0\n\nbe kind\n",
	}, "\n"+line+"\n\n")
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	if _, err := licensesOf(append(packages, of("bare", "bare", "bare"))); err == nil ||
		err.Error() != "no license found of bare v1.0.0" {
		t.Errorf("a module without one: %v", err)
	}
}

// TestLicensesOfThisProgram: go list is asked for each platform.
func TestLicensesOfThisProgram(t *testing.T) {
	into := t.TempDir()
	check(t, writeLicenses(".", []string{"linux/amd64", "windows/amd64"}, into))
	text := read(t, filepath.Join(into, licensesName))
	for _, want := range []string{"The Go standard library", "github.com/google/go-containerregistry v", "Apache License"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it", want)
		}
	}
	if err := writeLicenses(".", []string{"linux"}, into); err == nil || !strings.Contains(err.Error(), "invalid platform") {
		t.Error(err)
	}
}
