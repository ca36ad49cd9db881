package deployment_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compiler puts a program bicep first on PATH. It stands for the real one, which
// no package registry has; what that prints is from its documentation.
func compiler(t *testing.T, script string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "bicep"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

// asked prints a template for build, and for build-params the parameters of the
// file as a text within JSON.
const asked = `
case "$1 $2" in
"build --stdout") echo "warning: a linter's" >&2; cat "$3" ;;
"build-params --stdout") printf '{"parametersJson": "{\\"parameters\\": {\\"a\\": {\\"value\\": \\"%s\\"}}}", "templateJson": "{}"}' "$(sed -n "s/^param a = '\(.*\)'$/\1/p" "$3")" ;;
*) exit 9 ;;
esac`

// TestBicep: the compiler reads the template, and the parameters with the
// configuration's values in them.
func TestBicep(t *testing.T) {
	compiler(t, asked)
	renderer, step := study{
		templateName: "t.bicep", template: withParameters(`"a": {"type": "string"}`),
		parametersName: "p.bicepparam", parameters: "using 't.bicep'\nparam a = '{{ .a }}-x'\n", config: "{a: blue}",
	}.step(t)
	order, err := renderer.Order(t.Context(), step, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(order.Parameters["a"]); got != `{"value": "blue-x"}` {
		t.Errorf("a is %s", got)
	}
	left, err := filepath.Glob(filepath.Join(renderer.Folder, ".salve-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestBicepMistakes(t *testing.T) {
	for name, row := range map[string]struct{ script, says string }{
		"what the compiler says": {"echo 't.bicep(1,2) : Error BCP018' >&2; exit 1",
			"bicep build ended with exit code 1: t.bicep(1,2) : Error BCP018"},
		"a compiler that is killed": {"kill -9 $$", "bicep build ended with killed by"},
		"a template that isn't one": {"echo '[]'", "cannot unmarshal array"},
		"a compiler too old for parameters": {`[ "$1" = build ] && cat "$3" || echo '{}'`,
			"the bicep program gave no parameters; a version of 0.18 or later does"},
	} {
		t.Run(name, func(t *testing.T) {
			compiler(t, row.script)
			renderer, step := study{templateName: "t.bicep", parametersName: "p.bicepparam"}.step(t)
			if err := renderer.Check(t.Context(), step); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("says %v, want %s", err, row.says)
			}
		})
	}
}

// TestRealBicep runs where the compiler is installed.
func TestRealBicep(t *testing.T) {
	if _, err := exec.LookPath("bicep"); err != nil {
		t.Skip("no bicep on PATH")
	}
	renderer, step := study{
		templateName: "t.bicep", template: "param a string\noutput b string = a\n",
		parametersName: "p.bicepparam", parameters: "using 't.bicep'\nparam a = '{{ .a }}'\n", config: "{a: \"it's ${x}\"}",
		more: "    outputOnly: true",
	}.step(t)
	order, err := renderer.Order(t.Context(), step, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(order.Parameters["a"]); !strings.Contains(got, `it's ${x}`) {
		t.Errorf("a is %s", got)
	}
}
