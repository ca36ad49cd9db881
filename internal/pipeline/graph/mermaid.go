package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Mermaid writes the graph in Mermaid's language, which Markdown pages show.
func Mermaid(w io.Writer, p Picture) error {
	g, c := p.Graph.Reduced(), p.critical()
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%%%% %s\n%%%% %s\nflowchart LR\n", mermaidText(p.Title), mermaidText(p.says(c)))
	m := mermaid{out: out, picture: p}
	m.cluster(g.clusters(), "  ")
	var marked []string
	for i, link := 0, 0; i < len(g.nodes); i++ {
		for _, before := range g.waits[i] {
			arrow := "-->"
			if g.kept[Edge{before, i}] {
				arrow = "-.->"
			}
			fmt.Fprintf(out, "  n%d %s n%d\n", before, arrow, i)
			if c.edges[Edge{before, i}] {
				marked = append(marked, fmt.Sprint(link))
			}
			link++
		}
	}
	fmt.Fprintln(out, "  classDef critical stroke:#b3261e,stroke-width:3px")
	fmt.Fprintln(out, "  classDef aside stroke-dasharray:4")
	for i, node := range g.nodes {
		if c.nodes[i] {
			fmt.Fprintf(out, "  class n%d critical\n", i)
		}
		if node.Aside || node.Virtual {
			fmt.Fprintf(out, "  class n%d aside\n", i)
		}
	}
	if len(marked) > 0 {
		fmt.Fprintf(out, "  linkStyle %s stroke:#b3261e,stroke-width:3px\n", strings.Join(marked, ","))
	}
	return out.Flush()
}

// mermaid writes nodes.
type mermaid struct {
	out     io.Writer
	picture Picture
	// clusters is how many were begun.
	clusters int
}

// cluster writes the nodes of a cluster and of those in it.
func (m *mermaid) cluster(of *cluster, indent string) {
	for _, i := range of.nodes {
		lines := strings.Split(m.picture.label(i, "\n"), "\n")
		for at := range lines {
			lines[at] = mermaidText(lines[at])
		}
		fmt.Fprintf(m.out, "%sn%d[\"%s\"]\n", indent, i, strings.Join(lines, "<br>"))
	}
	for _, below := range of.below {
		fmt.Fprintf(m.out, "%ssubgraph g%d[\"%s\"]\n", indent, m.clusters, mermaidText(below.name))
		m.clusters++
		m.cluster(below, indent+"  ")
		fmt.Fprintf(m.out, "%send\n", indent)
	}
}

// mermaidText is a text within a label in quotes: whatever is no letter, digit,
// space or harmless mark is an entity, which Mermaid begins with #.
func mermaidText(text string) string {
	var escaped strings.Builder
	for _, r := range printable(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,:;/_-()", r) {
			escaped.WriteRune(r)
		} else {
			fmt.Fprintf(&escaped, "#%d;", r)
		}
	}
	return escaped.String()
}
