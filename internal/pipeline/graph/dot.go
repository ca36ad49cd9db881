package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// DOT writes the graph in Graphviz's language.
func DOT(w io.Writer, p Picture) error {
	g, c := p.Graph.Reduced(), p.critical()
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph pipeline {\n  rankdir=LR\n  label=%s\n  node [shape=box, style=rounded, "+
		"fontname=\"sans-serif\"]\n",
		dotQuoted(p.Title+"\n"+p.says(c)))
	names, members := g.groups()
	for number, name := range names {
		fmt.Fprintf(out, "  subgraph cluster_%d {\n    label=%s\n", number, dotQuoted(name))
		for _, i := range members[name] {
			look := ""
			if g.nodes[i].Aside {
				look += ", style=\"rounded,dashed\""
			}
			if c.nodes[i] {
				look += ", color=\"#b3261e\", penwidth=2"
			}
			fmt.Fprintf(out, "    n%d [label=%s%s]\n", i, dotQuoted(g.nodes[i].Name+"\n"+p.about(i)), look)
		}
		fmt.Fprintf(out, "  }\n")
	}
	for i := range g.nodes {
		for _, before := range g.waits[i] {
			look := ""
			if c.edges[Edge{before, i}] {
				look = " [color=\"#b3261e\", penwidth=2]"
			}
			fmt.Fprintf(out, "  n%d -> n%d%s\n", before, i, look)
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// dotQuoted is a text as a label: in DOT a backslash may begin an escape of its
// own, and an ampersand an entity. What looks like HTML is none within quotes.
func dotQuoted(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "&", "&amp;").Replace(printable(line))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
