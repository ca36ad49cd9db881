package graph

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text writes the graph for a terminal of a width in columns: wave by wave, each
// step with what it waits for. The critical path is marked.
func Text(w io.Writer, p Picture, width int) error {
	g, c := p.Graph.Reduced(), p.critical()
	out := bufio.NewWriter(w)
	for _, line := range slices.Concat(wrap(printable(p.Title), width), wrap(p.says(c), width)) {
		fmt.Fprintln(out, line)
	}
	column := 0
	for _, node := range g.nodes {
		if node.Virtual {
			continue
		}
		column = max(column, utf8.RuneCountInString(printable(node.String())))
	}
	for number, wave := range p.Graph.Waves() {
		fmt.Fprintf(out, "\nwave %d\n", number+1)
		for _, i := range wave {
			mark := " "
			if c.nodes[i] {
				mark = "┃"
			}
			head := printable(g.nodes[i].String())
			fmt.Fprintf(out, "  %s %s%s  %s\n", mark, head, strings.Repeat(" ", column-utf8.RuneCountInString(head)),
				printable(p.about(i)))
			for _, line := range wrap(g.after(i), width-10) {
				fmt.Fprintf(out, "  %s     %s\n", mark, line)
			}
		}
	}
	what := "Steps of a wave can run at once"
	if p.Services {
		what = "Service groups of a wave can be rolled out at once"
	}
	fmt.Fprintln(out)
	for at, line := range wrap("the critical path. "+what+"; what follows from other dependencies is left out.", 78) {
		fmt.Fprintf(out, "%s %s\n", []string{"┃", " "}[min(at, 1)], line)
	}
	return out.Flush()
}

// after says what a node waits for, those of its own group without the group, and of its own service group without
// that.
func (g *Graph) after(i int) string {
	if len(g.waits[i]) == 0 {
		return ""
	}
	names := make([]string, 0, len(g.waits[i]))
	for _, before := range g.waits[i] {
		other, own := g.nodes[before], g.nodes[i]
		if other.Service == own.Service {
			other.Service = ""
			if other.Group == own.Group {
				other.Group = ""
			}
		}
		name := other.String()
		names = append(names, printable(name))
	}
	return "after " + strings.Join(names, ", ")
}

// wrap breaks a text between words. A word that is too long has a line of its own.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// printable is a text without what a terminal would obey instead of show.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, text)
}
