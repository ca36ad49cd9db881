package picture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/report/postmortem"
)

// Mark is a moment, or several that could not be told apart.
type Mark struct {
	X, Y  float64
	Shape Shape
	Count int
	// Label is empty where there is no room for it; LabelX and LabelY are the middle of its foot.
	Label          string
	LabelX, LabelY float64
	Title          string
}

// Shape is what a mark looks like.
type Shape string

// What a mark may look like.
const (
	Sent       Shape = "sent"
	Refused    Shape = "refused"
	Unanswered Shape = "unanswered"
	Raised     Shape = "raised"
	Cleared    Shape = "cleared"
	Blind      Shape = "blind"
	Judged     Shape = "judged"
	Said       Shape = "said"
)

const (
	markGap    = 11.0 // marks that are closer are one
	markHeight = 16.0
	laneHeight = 13.0
	mostLanes  = 2
	labelGap   = 6.0
	mostListed = 12 // in the title of a mark
)

// moment is something at one time.
type moment struct {
	at    time.Time
	shape Shape
	what  string // in the words of a label
	full  string
	count int
}

// marks places moments on a row's line, those that are too close together as one.
func (p *Panel) marks(row *Row, moments []moment) {
	slices.SortStableFunc(moments, func(a, b moment) int { return a.at.Compare(b.at) })
	y := rounded(row.Top + markHeight/2 + 2)
	var group []moment
	flush := func() {
		if len(group) > 0 {
			row.Marks = append(row.Marks, p.mark(group, y))
			group = nil
		}
	}
	for _, m := range moments {
		if len(group) > 0 && p.scale.At(m.at)-p.scale.At(group[0].at) >= markGap {
			flush()
		}
		group = append(group, m)
	}
	flush()
	label(row.Marks, row.Top+markHeight+2, mostLanes)
}

// mark is a group of moments as one: it looks like the worst of them.
func (p *Panel) mark(group []moment, y float64) Mark {
	m := Mark{X: p.scale.At(group[0].at), Y: y, Shape: group[0].shape}
	var lines []string
	kinds := map[string]int{}
	var order []string
	for _, one := range group {
		m.Count += max(one.count, 1)
		if badness(one.shape) > badness(m.Shape) {
			m.Shape = one.shape
		}
		if kinds[one.what] == 0 {
			order = append(order, one.what)
		}
		kinds[one.what] += max(one.count, 1)
		if len(lines) < mostListed {
			lines = append(lines, clock(one.at)+" "+one.full)
		}
	}
	m.Label = labelOf(order, kinds, m.Count)
	m.Title = titled("%s", strings.Join(lines, "; "))
	if left := len(group) - len(lines); left > 0 {
		m.Title += fmt.Sprintf("; and %d more", left)
	}
	return m
}

// labelOf names what a mark stands for: all of it where that is one or two kinds.
func labelOf(order []string, kinds map[string]int, count int) string {
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(kinds[b], kinds[a]) })
	if len(order) > 2 {
		return fmt.Sprintf("%d×", count)
	}
	var parts []string
	for _, kind := range order {
		if n := kinds[kind]; n > 1 {
			kind = fmt.Sprintf("%s ×%d", kind, n)
		}
		parts = append(parts, kind)
	}
	return strings.Join(parts, ", ")
}

// badness orders shapes: of a group the worst is shown.
func badness(s Shape) int {
	switch s {
	case Unanswered, Raised:
		return 3
	case Refused, Blind:
		return 2
	case Judged:
		return 1
	default:
		return 0
	}
}

// label gives marks their labels, in lanes below them; a label for which there is no room is left to the title.
func label(marks []Mark, top float64, lanes int) {
	ends := make([]float64, lanes)
	for i := range ends {
		ends[i] = -Width
	}
	for i := range marks {
		m := &marks[i]
		width := float64(cells(m.Label)) * letter
		middle := min(max(m.X, plotLeft+width/2-4), plotRight-width/2+4)
		placed := false
		for lane := range ends {
			if from := middle - width/2; from >= ends[lane]+labelGap {
				ends[lane] = middle + width/2
				m.LabelX, m.LabelY = rounded(middle), rounded(top+float64(lane+1)*laneHeight-3)
				placed = true
				break
			}
		}
		if !placed {
			m.Label = ""
		}
	}
}

// requests draws the changes that a run sent: those to the cloud and those to clusters in rows of their own.
func (p *Panel) requests(sent []postmortem.Operation) {
	rows := []struct {
		kind RowKind
		name string
	}{{Cloud, "cloud operations"}, {Cluster, "Kubernetes writes"}}
	for _, r := range rows {
		var moments []moment
		all, refused := 0, 0
		for _, o := range sent {
			if (r.kind == Cluster) != inCluster(o.Path) {
				continue
			}
			m := request(o)
			all += m.count
			if o.Refused() {
				refused += m.count
			}
			moments = append(moments, m)
		}
		if len(moments) == 0 {
			continue
		}
		note, tone := plural(all, "request", "requests"), Good
		if refused > 0 {
			note, tone = note+fmt.Sprintf(", %d refused", refused), Unknown
		}
		row := p.add(Row{Kind: r.kind, Full: r.name, Height: markHeight + mostLanes*laneHeight + 4, Note: note, Tone: tone})
		p.marks(row, moments)
	}
}

// inCluster tells whether a path is one of a Kubernetes API server.
func inCluster(path string) bool {
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/apis/")
}

func request(o postmortem.Operation) moment {
	answer, shape := fmt.Sprint(o.Status), Sent
	switch {
	case o.Status == 0:
		answer, shape = "no answer", Unanswered
	case o.Refused():
		shape = Refused
	}
	what := shortened(oneLine(o.Method), 8) + " " + answer
	full := o.Method + " " + o.Path + ": " + answer
	if o.Count > 1 {
		full += fmt.Sprintf(", %d times", o.Count)
	}
	return moment{at: o.At, shape: shape, what: what, full: full, count: max(o.Count, 1)}
}
