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
	// Label is empty where there is no room for it; it begins at LabelX, or ends there.
	Label  string
	LabelX float64
	End    bool
	Title  string
	// labels are what it may be called, the fullest first.
	labels []string
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
	laneHeight = 16.0
	laneSide   = 4.0 // above and below the lanes of a row
	labelGap   = 8.0 // from the middle of a mark to its label
	mostListed = 12  // in the title of a mark
	mostKinds  = 3   // in its label
)

// moment is something at one time.
type moment struct {
	at    time.Time
	shape Shape
	what  string // in the words of a label
	full  string
	count int
}

// marks adds a row of moments: what went well above what did not, those that are too close together as one.
func (p *Panel) marks(row Row, moments []moment) {
	var lanes [][]moment
	for lane := range 2 {
		var in []moment
		for _, m := range moments {
			if laneOf(m.shape) == lane {
				in = append(in, m)
			}
		}
		if len(in) > 0 {
			lanes = append(lanes, in)
		}
	}
	row.Height = 2*laneSide + float64(max(1, len(lanes)))*laneHeight
	added := p.add(row)
	for i, in := range lanes {
		marks := p.lane(in, added.Top+laneSide+(float64(i)+0.5)*laneHeight)
		p.label(marks)
		added.Marks = append(added.Marks, marks...)
	}
}

func laneOf(s Shape) int {
	switch s {
	case Refused, Unanswered, Cleared:
		return 1
	default:
		return 0
	}
}

// lane places moments on one line.
func (p *Panel) lane(moments []moment, y float64) []Mark {
	slices.SortStableFunc(moments, func(a, b moment) int { return a.at.Compare(b.at) })
	var marks []Mark
	for len(moments) > 0 {
		first, n := p.scale.At(moments[0].at), 1
		for n < len(moments) && p.scale.At(moments[n].at)-first < markGap {
			n++
		}
		marks = append(marks, p.mark(moments[:n], y))
		moments = moments[n:]
	}
	return marks
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
	m.labels = labelsOf(order, kinds, m.Count)
	m.Title = titled("%s", strings.Join(lines, "; "))
	if left := len(group) - len(lines); left > 0 {
		m.Title += fmt.Sprintf("; and %d more", left)
	}
	return m
}

// labelsOf are what a mark may be called: all that it stands for, where that is of few kinds; how much it is.
func labelsOf(order []string, kinds map[string]int, count int) []string {
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(kinds[b], kinds[a]) })
	var all []string
	if len(order) <= mostKinds {
		var parts []string
		for _, kind := range order {
			if n := kinds[kind]; n > 1 {
				kind = fmt.Sprintf("%s ×%d", kind, n)
			}
			parts = append(parts, kind)
		}
		all = append(all, strings.Join(parts, ", "))
	}
	if count > 1 {
		all = append(all, fmt.Sprintf("×%d", count))
	}
	return all
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

// label gives the marks of a lane their labels: the fullest for which there is room on the right of a mark, or else on
// its left. What has none is left to the title.
func (p *Panel) label(marks []Mark) {
	taken := plotLeft - labelGap // up to where the lane is full
	for i := range marks {
		m := &marks[i]
		left, right := taken, plotRight+labelGap
		if i+1 < len(marks) {
			right = marks[i+1].X - labelGap
		}
		for _, b := range p.Breaks { // a label does not stand in a break
			if b.X >= m.X {
				right = min(right, b.X)
			} else if end := b.X + b.Width; end <= m.X {
				left = max(left, end)
			}
		}
		taken = m.X + labelGap
		for _, text := range m.labels {
			width := float64(cells(text)) * letter
			if m.X+labelGap+width <= right {
				m.Label, m.LabelX = text, rounded(m.X+labelGap)
				taken = m.X + labelGap + width
				break
			}
			if m.X-labelGap-width >= left {
				m.Label, m.LabelX, m.End = text, rounded(m.X-labelGap), true
				break
			}
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
		p.marks(Row{Kind: r.kind, Full: r.name, Note: note, Tone: tone}, moments)
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
