package change_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"salve/internal/triage/change"
)

const components = `components:
  - name: node-controller
    paths: ["pkg/nodecontroller/**", "!**/*_test.go", "pkg/nodecontroller/e2e_test.go"]
    scenarios: ["*/scriptless"]
    where: {bootstrap: [scriptless, mixed], region: [eu]}
    except: ["TestOld/*"]
  - name: api
    paths: ["pkg/api/**"]
  - name: images
    paths: [images/**]
    scenarios: ["TestImage{A,B}/**"]
ignore: ["docs/**", "**/*.md"]
`

func parse(t *testing.T, text string) *change.Map {
	t.Helper()
	m, err := change.ParseMap("map.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFilesBelongToComponents(t *testing.T) {
	m := parse(t, components)
	for _, test := range []struct {
		name     string
		files    []change.File
		touched  []string
		unmapped []string
	}{
		{"of one", []change.File{{Path: "pkg/nodecontroller/a/b.go"}}, []string{"node-controller"}, nil},
		{"taken away again", []change.File{{Path: "pkg/nodecontroller/b_test.go"}}, nil,
			[]string{"pkg/nodecontroller/b_test.go"}},
		{"the last glob that matches decides", []change.File{{Path: "pkg/nodecontroller/e2e_test.go"}},
			[]string{"node-controller"}, nil},
		{"ignored", []change.File{{Path: "docs/a.txt"}, {Path: "pkg/README.md"}}, nil, nil},
		{"a component's document is the component's", []change.File{{Path: "pkg/api/README.md"}}, []string{"api"}, nil},
		{"of none, once, in order", []change.File{{Path: "z.go"}, {Path: "a.go"}, {Path: "z.go"}}, nil,
			[]string{"a.go", "z.go"}},
		{"renamed out of one into another",
			[]change.File{{Path: "images/x", OldPath: "pkg/api/x", Status: change.Renamed}}, []string{"api", "images"}, nil},
		{"copied out of one", []change.File{{Path: "images/x", OldPath: "pkg/api/x", Status: change.Copied}},
			[]string{"images"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			touched, unmapped := m.Touched(&change.Change{Files: test.files})
			var names []string
			for _, component := range touched {
				names = append(names, component.Name)
			}
			if different := cmp.Diff([][]string{test.touched, test.unmapped}, [][]string{names, unmapped}); different != "" {
				t.Error(different)
			}
		})
	}
}

// given are a scenario's attributes.
func given(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestWhichScenariosReachAComponent(t *testing.T) {
	m := parse(t, components)
	node, api, images := m.Components[0], m.Components[1], m.Components[2]
	for _, test := range []struct {
		name       string
		component  change.Component
		scenario   string
		attributes []string
		want       change.Reach
	}{
		{"by name", node, "TestA/scriptless", nil, change.Yes},
		{"* is one segment", images, "TestImageA/x/y", nil, change.Yes},
		{"no glob matches", images, "TestImageC/x", nil, change.No},
		{"all attributes", node, "TestA/default", []string{"bootstrap", "mixed", "region", "eu"}, change.Yes},
		{"one attribute is another", node, "TestA/default", []string{"bootstrap", "script", "region", "eu"}, change.No},
		{"one is another, one unknown", node, "TestA/default", []string{"region", "us"}, change.No},
		{"one fits, one unknown", node, "TestA/default", []string{"region", "eu"}, change.Unknown},
		{"none known", node, "TestA/default", nil, change.Unknown},
		{"by name, whatever the attributes", node, "TestA/scriptless", []string{"bootstrap", "script"}, change.Yes},
		{"excepted", node, "TestOld/scriptless", []string{"bootstrap", "mixed", "region", "eu"}, change.No},
		{"no rule", api, "TestA/default", nil, change.Unknown},
		{"only exceptions", change.Component{Except: []string{"A"}}, "B", nil, change.Unknown},
		{"only exceptions, and it is one", change.Component{Except: []string{"A"}}, "A", nil, change.No},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.component.Reach(test.scenario, given(test.attributes...)); got != test.want {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestReachOfAWholeChange(t *testing.T) {
	m := parse(t, components)
	node, api, images := m.Components[0], m.Components[1], m.Components[2]
	for _, test := range []struct {
		name     string
		touched  []change.Component
		unmapped []string
		want     change.Reach
	}{
		{"one yes is enough", []change.Component{api, images, node}, []string{"a.go"}, change.Yes},
		{"all no", []change.Component{images}, nil, change.No},
		{"no, and one that doesn't know", []change.Component{images, api}, nil, change.Unknown},
		{"no, and a file of no component", []change.Component{images}, []string{"a.go"}, change.Unknown},
		{"nothing touched", nil, nil, change.Unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := change.ReachAny(test.touched, test.unmapped, "TestA/scriptless", given()); got != test.want {
				t.Errorf("%s", got)
			}
		})
	}
	var none *change.Map
	touched, unmapped := none.Touched(&change.Change{Files: []change.File{{Path: "docs/a.md"}}})
	if touched != nil || len(unmapped) != 1 ||
		change.ReachAny(touched, unmapped, "TestA/scriptless", given()) != change.Unknown {
		t.Errorf("without a map: %v, %v", touched, unmapped)
	}
}

func TestMapsThatAreRefused(t *testing.T) {
	const begin = "components:\n  - name: a\n    paths: "
	for _, test := range []struct{ name, text, says string }{
		{"empty", "", "m.yaml:1:1: the file is empty"},
		{"no YAML", "a: [", "m.yaml:1:1: this is not YAML"},
		{"two documents", begin + "[a]\n---\na: 1\n", "m.yaml:4:1: a second YAML document"},
		{"no mapping", "- a\n", "m.yaml:1:1: expected a mapping; the keys are components, ignore"},
		{"an unknown key", begin + "[a]\n    path: [b]\n", `m.yaml:4:5: unknown key "path"; the keys are name, paths,`},
		{"a key twice", begin + "[a]\n    paths: [b]\n", `m.yaml:4:5: "paths" stands twice`},
		{"a component twice", begin + "[a]\n  - {name: a, paths: [b]}\n", `m.yaml:4:5: component "a" stands twice`},
		{"no paths", "components:\n  - name: a\n", "m.yaml:2:5: a component without paths:"},
		{"no name", "components:\n  - paths: [a]\n", "m.yaml:2:5: a component without name:"},
		{"no components", "ignore: [a]\n", "m.yaml:1:1: components: is missing"},
		{"not a list", begin + "a\n", "m.yaml:3:12: expected a list"},
		{"an empty list", begin + "[]\n", "m.yaml:3:12: an empty list"},
		{"a bad glob", begin + "['a[']\n", `m.yaml:3:13: glob "a[" is invalid`},
		{"a glob that only takes away", begin + "['!a']\n", "m.yaml:3:13: glob \"!a\" takes away"},
		{"a folder", begin + "[a/]\n", `m.yaml:3:13: glob "a/" matches no file; write "a/**"`},
		{"an absolute path", begin + "[/a]\n", `m.yaml:3:13: glob "/a": paths begin at`},
		{"a glob that costs too much", begin + "['**/a/**/b/**/c/**/d/**']\n", "more than 4 **"},
		{"an alias", begin + "[&x a, *x]\n", "m.yaml:3:13: an alias or anchor"},
		{"no text", begin + "[null]\n", "m.yaml:3:13: expected a text"},
		{"no attribute", begin + "[a]\n    where: {}\n", "m.yaml:4:12: no attribute"},
		{"too large", "# " + strings.Repeat("x", 1<<20), "more than the"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := change.ParseMap("m.yaml", []byte(test.text))
			var invalid *change.InvalidError
			if m != nil || !errors.As(err, &invalid) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestMapIsReadFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map.yaml")
	if _, err := change.LoadMap(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that isn't there: %v", err)
	}
	if err := os.WriteFile(path, []byte(components), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := change.LoadMap(path)
	if err != nil || len(m.Components) != 3 || len(m.Ignore) != 2 {
		t.Errorf("%v, %v", m, err)
	}
}
