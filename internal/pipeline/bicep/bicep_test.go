package bicep_test

import (
	"slices"
	"strings"
	"testing"

	"salve/internal/pipeline/bicep"
)

func TestUsing(t *testing.T) {
	for name, row := range map[string]struct {
		source, target string
		none, isPath   bool
		missing        bool
	}{
		"a template": {source: "using '../templates/a.bicep'\nparam b = 1\n",
			target: "../templates/a.bicep", isPath: true},
		"behind comments": {source: "// using 'no.bicep'\n/* using 'no.bicep'\n*/\n\nusing './a.bicep' // yes",
			target: "./a.bicep", isPath: true},
		"behind a template of Go": {source: "{{- /* it's */ -}}\nusing 'a.bicep'\n", target: "a.bicep", isPath: true},
		"with a template of Go in it": {source: "using '{{ .folder }}/a.bicep'",
			target: "{{ .folder }}/a.bicep", isPath: true},
		"an ARM template": {source: "using 'a.json'", target: "a.json", isPath: true},
		"none":            {source: "using none\nparam a = 1", none: true},
		"a module of a registry": {source: "using 'br:example.azurecr.io/bicep/a:v1'",
			target: "br:example.azurecr.io/bicep/a:v1"},
		"a module by an alias":         {source: "using 'br/public:avm/res/a:0.9.0'", target: "br/public:avm/res/a:0.9.0"},
		"a template spec":              {source: "using 'ts:0000/group/spec:1.0'", target: "ts:0000/group/spec:1.0"},
		"a quote in the name":          {source: `using 'it\'s.bicep'`, target: "it's.bicep", isPath: true},
		"in brackets, which is none":   {source: "param a = {\n  using 'a.bicep'\n}", missing: true},
		"in a text of several lines":   {source: "param a = '''\nusing 'a.bicep'\n'''", missing: true},
		"without a name":               {source: "using\n", missing: true},
		"a quote that is never closed": {source: "using 'a.bicep\nusing 'b.bicep'", target: "a.bicep", isPath: true},
		"nothing":                      {source: "", missing: true},
	} {
		t.Run(name, func(t *testing.T) {
			using, found := bicep.UsingOf(row.source)
			if found == row.missing || using.Target != row.target || found && using.None() != row.none ||
				found && using.IsPath() != row.isPath {
				t.Errorf("%+v, found %v, is a path %v", using, found, using.IsPath())
			}
		})
	}
}

func TestUsingIsFoundWhereItStands(t *testing.T) {
	using, _ := bicep.UsingOf("// ä\n\nusing 'a.bicep'\n")
	if using.Line != 3 || using.Column != 7 {
		t.Errorf("line %d, column %d", using.Line, using.Column)
	}
}

func TestOutputs(t *testing.T) {
	source := `
@description('output no string = 1')
param output string = 'a'
var text = 'output no string, ${concat('output', 'no')} }'
var many = '''
output no string = 1
'''
/* output no string = 1 */
// output no string = 1
output name string = text
  output indented int = 1
@secure()
output secret {
  output: string
} = { output: 'a' }
output list array = [for one in many: {
  output: one
}]
resource a 'A/b@2024-01-01' existing = {
  name: 'output'
}
output last resource 'A/b@2024-01-01' = a
output
`
	want := []string{"name", "indented", "secret", "list", "last"}
	if got := bicep.Outputs(source); !slices.Equal(got, want) {
		t.Errorf("outputs %q, want %q", got, want)
	}
}

// FuzzReadsAnything: no text makes it hang or panic.
func FuzzReadsAnything(f *testing.F) {
	for _, seed := range []string{"using 'a'", "'${'${", "'''", "/*", "{{", "output a", "'\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		using, _ := bicep.UsingOf(source)
		if using.Line > 1+strings.Count(source, "\n") {
			t.Errorf("line %d", using.Line)
		}
		bicep.Outputs(source)
	})
}

// TestBombsAreRead: what is nested a million times deep does not exhaust the stack.
func TestBombsAreRead(*testing.T) {
	bicep.UsingOf(strings.Repeat("'${", 1_000_000))
	bicep.Outputs(strings.Repeat("[{", 1_000_000))
}
