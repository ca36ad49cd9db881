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
	d := dot{out: out, picture: p, graph: g, critical: c}
	d.cluster(g.clusters(), "  ")
	for i := range g.nodes {
		for _, before := range g.waits[i] {
			var look []string
			if c.edges[Edge{before, i}] {
				look = append(look, `color="#b3261e"`, "penwidth=2")
			}
			if g.kept[Edge{before, i}] {
				look = append(look, "style=dashed")
			}
			fmt.Fprintf(out, "  n%d -> n%d%s\n", before, i, strings.TrimSuffix(" ["+strings.Join(look, ", ")+"]", " []"))
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// dot writes nodes.
type dot struct {
	out      io.Writer
	picture  Picture
	graph    *Graph
	critical critical
	// clusters is how many were begun.
	clusters int
}

// cluster writes the nodes of a cluster and of those in it.
func (d *dot) cluster(of *cluster, indent string) {
	for _, i := range of.nodes {
		d.node(i, indent)
	}
	for _, below := range of.below {
		fmt.Fprintf(d.out, "%ssubgraph cluster_%d {\n%s  label=%s\n", indent, d.clusters, indent, dotQuoted(below.name))
		d.clusters++
		d.cluster(below, indent+"  ")
		fmt.Fprintf(d.out, "%s}\n", indent)
	}
}

func (d *dot) node(i int, indent string) {
	node, look := d.graph.nodes[i], ""
	if node.Aside || node.Virtual {
		look += ", style=\"rounded,dashed\""
	}
	if d.critical.nodes[i] {
		look += ", color=\"#b3261e\", penwidth=2"
	}
	fmt.Fprintf(d.out, "%sn%d [label=%s%s]\n", indent, i, dotQuoted(d.picture.label(i, "\n")), look)
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
