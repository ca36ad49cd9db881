package simulation

import (
	"fmt"
	"path/filepath"
	"strings"
)

// texts writes what people keep beside the results: the catalogue, the map, the change.
func (g *generator) texts(folder string) error {
	if g.style.catalogue {
		g.world.Catalogue = filepath.Join(folder, "catalogue")
		if err := g.plain(filepath.Join(g.world.Catalogue, "catalogue.yaml"), g.catalogue()); err != nil {
			return err
		}
	}
	if g.style.mapped {
		g.world.Map = filepath.Join(folder, "components.yaml")
		if err := g.plain(g.world.Map, g.componentMap()); err != nil {
			return err
		}
	}
	g.world.Diff = filepath.Join(folder, "change.diff")
	return g.plain(g.world.Diff, g.diff())
}

func (g *generator) catalogue() string {
	var out strings.Builder
	out.WriteString(`kinds:
  - {kind: serial, files: ["serial-console.log"], producer: machine}
  - {kind: kubelet, files: ["kubelet.log"], producer: kubelet}
  - {kind: events, files: ["cluster-events.log"], producer: cluster}
attributes:
  - {name: distribution, from: name, pattern: '(?P<value>ubuntu2204|ubuntu2404|azurelinux3|flatcar)'}
  - {name: architecture, from: name, pattern: '(?P<value>amd64|arm64)'}
  - {name: bootstrap, from: name, pattern: '(?P<value>scriptless|default)'}
  - {name: cluster, from: line, literal: "using cluster: ", pattern: 'using cluster: (?P<value>[a-z0-9-]+)'}
  - {name: region, from: line, literal: "using region: ", pattern: 'using region: (?P<value>[a-z0-9]+)'}
  - {name: image, from: line, kind: serial, literal: "image-version: ", pattern: 'image-version: (?P<value>[a-z0-9]+)'}
  - name: architecture
    from: line
    kind: serial
    literal: "machine architecture: "
    pattern: 'architecture: (?P<value>[a-z0-9]+)'
signatures:
  - {id: watch-ended, class: infrastructure, all: "too old resource version", title: told by what passes as well}
  - {id: disk-full, class: infrastructure, all: "no space left on device", kind: serial}
  - {id: oom, class: product, all: "Out of memory: Killed process", kind: serial, owner: node-team}
  - {id: pull-limit, class: infrastructure, all: "toomanyrequests", links: "https://issues.example.io/12"}
`)
	for _, t := range knownTexts() {
		if g.lacks(t) {
			continue
		}
		fmt.Fprintf(&out, "  - {id: %s, class: %s, all: %q, owner: team-%s}\n", t.signature, t.class, t.literal(), t.class)
	}
	return out.String()
}

// lacks says whether nobody wrote a signature for a text yet: of one in four.
func (g *generator) lacks(t text) bool {
	return (hash(t.signature)+g.world.Seed*7)%4 == 0
}

func (g *generator) componentMap() string {
	var out strings.Builder
	out.WriteString("components:\n")
	for _, c := range g.components {
		fmt.Fprintf(&out, "  - name: %s\n    paths: [\"pkg/%s/**\"]\n", c.name, c.name)
		switch {
		case c.all:
			out.WriteString("    scenarios: [\"**\"]\n")
		case c.mode != "":
			fmt.Fprintf(&out, "    where: {bootstrap: [%s]}\n", c.mode)
		default:
			fmt.Fprintf(&out, "    scenarios: [\"Test%s*/**\"]\n", c.prefix)
		}
	}
	out.WriteString("ignore: [\"docs/**\", \"*.md\"]\n")
	return out.String()
}

func (g *generator) diff() string {
	files := []string{"pkg/" + g.changed.name + "/install.go"}
	if g.chance(0.4) {
		files = append(files, "pkg/"+g.changed.name+"/defaults.go")
	}
	if g.chance(0.3) {
		files = append(files, "docs/"+g.changed.name+".md")
	}
	var out strings.Builder
	for _, file := range files {
		fmt.Fprintf(&out, "diff --git a/%[1]s b/%[1]s\nindex 3f1a2b4..9c8d7e6 100644\n--- a/%[1]s\n+++ b/%[1]s\n"+
			"@@ -10,2 +10,3 @@ func plan() {\n \tone()\n+\tother()\n \ttwo()\n", file)
	}
	return out.String()
}
