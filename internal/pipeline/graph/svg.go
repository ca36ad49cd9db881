package graph

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// mostDrawn bounds the graphs that are drawn: nobody reads more, and every layer
// that an edge passes costs a point.
const mostDrawn = 2000

// TooLargeError says that a graph has too many nodes to be drawn.
type TooLargeError struct{ Nodes int }

// Error says what to do instead.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("a drawing of %d steps can't be read; at most %d are drawn: use text or dot", e.Nodes, mostDrawn)
}

// Widths within the drawing, in pixels.
const (
	margin     = 24.0
	headHeight = 64.0
	layerGap   = 56.0
	nameWidth  = 7.0 // of a character of 12 pixels, wide letters included
	aboutWidth = 6.3 // … of 11 pixels
	padding    = 12.0
)

// SVG writes the graph as a drawing that needs no other program: from left to
// right, what can run at once above each other.
func SVG(w io.Writer, p Picture) error {
	if p.Graph.Len() > mostDrawn {
		return &TooLargeError{p.Graph.Len()}
	}
	g, c := p.Graph.Reduced(), p.critical()
	d := g.draw()
	d.placePoints()
	s := canvas{Picture: p, graph: g, critical: c, drawing: d}
	s.services = g.services()
	s.shared = sharedPrefix(s.services)
	s.measure()
	out := bufio.NewWriter(w)
	s.head(out)
	for _, onPath := range []bool{false, true} { // the critical path on top
		s.edges(out, onPath)
	}
	for i := range g.nodes {
		s.box(out, i)
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// canvas is a drawing with its measures.
type canvas struct {
	Picture
	graph    *Graph
	critical critical
	drawing  *drawing
	// left and wide are where each layer begins and how wide its boxes are.
	left, wide    []float64
	width, height float64
	// services are the service groups, and shared what all of their names begin with.
	services []string
	shared   string
}

func (s *canvas) measure() {
	s.width = margin
	for _, layer := range s.drawing.layers {
		wide := 0.0
		for _, p := range layer {
			s.height = max(s.height, p.y+p.height()/2)
			if p.node >= 0 {
				name, about := s.lines(p.node)
				wide = max(wide, nameWidth*characters(name)+2*padding, aboutWidth*characters(about)+2*padding)
			}
		}
		s.left, s.wide = append(s.left, s.width), append(s.wide, wide)
		s.width += wide + layerGap
	}
	s.width += margin - layerGap
	head := max(10*characters(s.Title), aboutWidth*characters(s.says(s.critical)+" "+s.legend()))
	s.width = max(s.width, head+2*margin)
	s.height += headHeight + margin
}

func characters(text string) float64 { return float64(utf8.RuneCountInString(text)) }

// lines are the two lines of a box.
func (s *canvas) lines(i int) (name, about string) {
	node := s.graph.nodes[i]
	var parts []string
	for _, part := range []string{strings.TrimPrefix(node.Service, s.shared), node.Group, s.about(i)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if name = node.Name; name == "" {
		name, parts = parts[0], parts[1:]
	}
	return printable(name), printable(strings.Join(parts, " · "))
}

// sharedPrefix is what the names of all service groups begin with, up to a dot.
func sharedPrefix(services []string) string {
	if len(services) < 2 {
		return ""
	}
	shared := services[0]
	for _, name := range services {
		for !strings.HasPrefix(name, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	return shared[:strings.LastIndexByte(shared, '.')+1]
}

// services are the service groups of a graph, in the order of their first nodes.
func (g *Graph) services() []string {
	var names []string
	for _, node := range g.nodes {
		if node.Service != "" && !slices.Contains(names, node.Service) {
			names = append(names, node.Service)
		}
	}
	return names
}

// tint is the colour of a box, which tells the service groups apart; empty where there is none.
func (s *canvas) tint(i int) string {
	at := slices.Index(s.services, s.graph.nodes[i].Service)
	if at < 0 {
		return ""
	}
	const golden = 137.5 // degrees: neighbours are far apart, however many there are
	return fmt.Sprintf(` style="fill:hsl(%.0f,55%%,93%%)"`, math.Mod(float64(at)*golden, 360))
}

func (s *canvas) head(out io.Writer) {
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f"
 font-family="Helvetica, Arial, sans-serif" font-size="12">
<title>%s</title>
<style>
rect { fill: #ffffff; stroke: #5f6b7a }
rect.aside { stroke-dasharray: 4 }
rect.critical { stroke: #b3261e; stroke-width: 2.5 }
path { fill: none; stroke: #9aa5b1; stroke-width: 1.2; marker-end: url(#tip) }
path.between { stroke: #3b6ea5; stroke-dasharray: 6 4 }
path.critical { stroke: #b3261e; stroke-width: 2.5; marker-end: url(#critical-tip) }
text { fill: #1f2933 }
.about { fill: #5f6b7a; font-size: 11px }
.title { font-size: 16px; font-weight: bold }
</style>
<defs>
<marker id="tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8"
 markerUnits="userSpaceOnUse" orient="auto">
<path d="M0 0L8 4L0 8Z" style="fill:#9aa5b1;stroke:none;marker-end:none"/></marker>
<marker id="critical-tip" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="10" markerHeight="10"
 markerUnits="userSpaceOnUse" orient="auto">
<path d="M0 0L8 4L0 8Z" style="fill:#b3261e;stroke:none;marker-end:none"/></marker>
</defs>
<rect width="100%%" height="100%%" style="fill:#f7f8fa;stroke:none"/>
<text class="title" x="%.0f" y="%.0f">%s</text>
<text class="about" x="%.0f" y="%.0f">%s %s</text>
`, s.width, s.height, s.width, s.height, xml(s.Title), margin, margin+8, xml(s.Title),
		margin, margin+26, xml(s.says(s.critical)), s.legend())
}

// legend says what is drawn otherwise than the rest.
func (s *canvas) legend() string {
	if len(s.graph.kept) == 0 {
		return "(red)"
	}
	return "(red); dashed: waits for another service group (externalDependsOn)"
}

func (s *canvas) edges(out io.Writer, onPath bool) {
	for i := range s.graph.nodes {
		for _, before := range s.graph.waits[i] {
			edge := Edge{before, i}
			if s.critical.edges[edge] != onPath {
				continue
			}
			var classes []string
			if onPath {
				classes = append(classes, "critical")
			}
			if s.graph.kept[edge] {
				classes = append(classes, "between")
			}
			class := strings.TrimSuffix(` class="`+strings.Join(classes, " ")+`"`, ` class=""`)
			fmt.Fprintf(out, "<path%s d=\"%s\"/>\n", class, s.curve(s.drawing.ways[edge]))
		}
	}
}

// curve leads through the points of an edge: straight across a layer, bent between
// two.
func (s *canvas) curve(way []*point) string {
	var curve strings.Builder
	for at, p := range way {
		enters, leaves, y := s.left[p.layer], s.left[p.layer]+s.wide[p.layer], p.y+headHeight
		if at > 0 {
			last := way[at-1]
			from := s.left[last.layer] + s.wide[last.layer]
			middle := (from + enters) / 2
			fmt.Fprintf(&curve, "C%.1f %.1f %.1f %.1f %.1f %.1f", middle, last.y+headHeight, middle, y, enters, y)
		}
		if at == 0 {
			fmt.Fprintf(&curve, "M%.1f %.1f", leaves, y)
		} else if at < len(way)-1 {
			fmt.Fprintf(&curve, "L%.1f %.1f", leaves, y)
		}
	}
	return curve.String()
}

func (s *canvas) box(out io.Writer, i int) {
	p := s.drawing.nodes[i]
	x, y := s.left[p.layer], p.y+headHeight-boxHeight/2
	var classes []string
	if s.critical.nodes[i] {
		classes = append(classes, "critical")
	}
	if s.graph.nodes[i].Aside || s.graph.nodes[i].Virtual {
		classes = append(classes, "aside")
	}
	name, about := s.lines(i)
	fmt.Fprintf(out, "<g><title>%s</title><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" "+
		"rx=\"5\"%s/>",
		xml(s.graph.nodes[i].String()), strings.Join(classes, " "), x, y, s.wide[p.layer], boxHeight, s.tint(i))
	fmt.Fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">%s</text><text class=\"about\" x=\"%.1f\" y=\"%.1f\">%s</text></g>\n",
		x+padding, y+17, xml(name), x+padding, y+32, xml(about))
}

// xml is a text within an element of XML.
func xml(text string) string {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")
	return escape.Replace(printable(text))
}
