package deployment_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compiler puts a program bicep, or az, first on PATH. It stands for the real one, which
// no package registry has; what that prints is from its documentation.
func compiler(t *testing.T, name, script string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

// asked is a compiler: for build-params it gives the parameters of the file and the template that its using statement
// names, each as a text within JSON; for build the file.
const asked = `
[ "$2" = --stdout ] || exit 8
case "$1" in
build) echo "warning: a linter's" >&2; cat "$3" ;;
build-params)
	value=$(sed -n "s/^param a = '\(.*\)'$/\1/p" "$3")
	template=$(sed 's/"/\\"/g' "$(dirname "$3")/$(sed -n "s/^using '\(.*\)'$/\1/p" "$3")")
	parameters="{\\\"parameters\\\": {\\\"a\\\": {\\\"value\\\": \\\"$value\\\"}}}"
	printf '{"parametersJson": "%s", "templateJson": "%s"}' "$parameters" "$template" ;;
*) exit 9 ;;
esac`

// TestBicep: the compiler reads the parameters with the configuration's values in them; the template is the one that
// they are for, and not the one that the step names. The path of the pipeline may be relative.
func TestBicep(t *testing.T) {
	for name, programs := range map[string]string{
		"bicep": "bicep", "the one that az brings": "az",
	} {
		t.Run(name, func(t *testing.T) {
			script := asked
			if programs == "az" {
				script = `[ "$1" = bicep ] && [ "$4" = --file ] || exit 7
set -- "$2" "$3" "$5"` + asked
			}
			compiler(t, programs, script)
			renderer, step := study{
				templateName: "other.json", template: withParameters(`"wrong": {"type": "string"}`),
				parametersName: "p.bicepparam", parameters: "using 'templates/t.bicep'\nparam a = '{{ .a }}-x'\n",
				config: "{a: blue}",
			}.step(t)
			if err := os.Mkdir(filepath.Join(renderer.Folder, "templates"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(renderer.Folder, "templates", "t.bicep"),
				[]byte(withParameters(`"a": {"type": "string"}`)), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Chdir(filepath.Dir(renderer.Folder))
			renderer.Folder = filepath.Base(renderer.Folder)
			order, err := renderer.Order(t.Context(), step, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(order.Parameters["a"]); got != `{"value": "blue-x"}` {
				t.Errorf("a is %s", got)
			}
			if !strings.Contains(string(order.Template), `"a": {"type": "string"}`) {
				t.Errorf("the template is %s", order.Template)
			}
			left, err := filepath.Glob(filepath.Join(renderer.Folder, ".salve-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestBicepTemplateWithParametersInJSON: the compiler reads the template that the step names.
func TestBicepTemplateWithParametersInJSON(t *testing.T) {
	compiler(t, "bicep", asked)
	renderer, step := study{templateName: "t.bicep", template: withParameters(`"a": {"type": "string"}`),
		parameters: values(`"a": {"value": "x"}`)}.step(t)
	t.Chdir(filepath.Dir(renderer.Folder))
	renderer.Folder = filepath.Base(renderer.Folder)
	if err := renderer.Check(t.Context(), step); err != nil {
		t.Error(err)
	}
}

func TestBicepMistakes(t *testing.T) {
	for name, row := range map[string]struct{ script, says string }{
		"what the compiler says": {"echo 't.bicep(1,2) : Error BCP018' >&2; exit 1",
			"bicep build-params ended with exit code 1: t.bicep(1,2) : Error BCP018"},
		"a compiler that says too much": {"yes | head -c 120000 >&2; exit 1", "characters are left out"},
		"a compiler that is killed":     {"kill -9 $$", "bicep build-params ended with killed by"},
		"a template that isn't one": {`echo '{"parametersJson": "{\"parameters\": {}}", "templateJson": "[]"}'`,
			"p.bicepparam: json: cannot unmarshal array"},
		"a compiler too old for parameters": {`echo '{}'`,
			"the bicep program gave no parameters; a version of 0.18 or later does"},
		"using none": {`echo '{"parametersJson": "{\"parameters\": {}}"}'`, "gave no template"},
	} {
		t.Run(name, func(t *testing.T) {
			compiler(t, "bicep", row.script)
			renderer, step := study{templateName: "t.bicep", parametersName: "p.bicepparam"}.step(t)
			if err := renderer.Check(t.Context(), step); err == nil || !strings.Contains(err.Error(), row.says) ||
				len(err.Error()) > 3000 {
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
