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
	names, members := g.groups()
	for number, name := range names {
		fmt.Fprintf(out, "  subgraph g%d[\"%s\"]\n", number, mermaidText(name))
		for _, i := range members[name] {
			fmt.Fprintf(out, "    n%d[\"%s<br>%s\"]\n", i, mermaidText(g.nodes[i].Name), mermaidText(p.about(i)))
		}
		fmt.Fprintln(out, "  end")
	}
	var marked []string
	for i, link := 0, 0; i < len(g.nodes); i++ {
		for _, before := range g.waits[i] {
			fmt.Fprintf(out, "  n%d --> n%d\n", before, i)
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
		if node.Aside {
			fmt.Fprintf(out, "  class n%d aside\n", i)
		}
	}
	if len(marked) > 0 {
		fmt.Fprintf(out, "  linkStyle %s stroke:#b3261e,stroke-width:3px\n", strings.Join(marked, ","))
	}
	return out.Flush()
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
