package show

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"

	"salve/internal/onepage"
	"salve/internal/triage"
)

//go:embed page/page.css page/page.tmpl page/group.tmpl
var pageFiles embed.FS

// HTML writes the document as one page that needs nothing else: no network, no script, no fonts. Its policy forbids
// the browser to load or run anything. Limit is of no account.
func HTML(w io.Writer, doc triage.Document, options Options) error {
	own, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return fmt.Errorf("reading the page's styles: %w", err)
	}
	made, err := template.New("page.tmpl").Funcs(pageWords()).ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	var out bytes.Buffer
	if err := made.Execute(&out, newPage(masked(doc, options.KeepSecrets), onepage.Styles(string(own)))); err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func pageWords() template.FuncMap {
	return template.FuncMap{
		"percent": percent, "number": number, "probability": probability, "discovery": discovery, "share": share,
		"name": name, "aside": aside, "known": known, "place": place, "plural": plural, "size": size, "cause": cause,
		"flakiness": flakiness, "alternative": alternative, "state": state, "because": because,
		"tone": tone, "mark": mark, "stance": stance,
	}
}

// page is what the template shows.
type page struct {
	Doc      triage.Document
	Styles   template.CSS
	Policy   string
	Verdict  string
	Change   string
	Aborted  string
	Run      []segment
	Groups   []groupView
	Heat     heatView
	Timeline *timelineView
}

// groupView is a group with what is worked out of it for the page.
type groupView struct {
	triage.Group
	Number int
	Title  string
	Color  string  // the class of its colour
	Width  float64 // its failures in hundredths of the run's
	Tables []tableView
	Dose   *doseView
	Bound  *bar
	Seen   string
	Pips   []string // occurrences up to the threshold, as classes
}

func newPage(doc triage.Document, styles string) page {
	return page{
		Doc: doc, Styles: template.CSS(styles), //nolint:gosec // our own file, in which nothing is the document's
		Policy:  onepage.Policy(styles),
		Verdict: verdict(doc), Change: change(doc.Change), Aborted: aborted(doc.Aborted),
		Run: run(doc.Counts), Groups: groupViews(doc), Heat: newHeat(doc), Timeline: newTimeline(doc),
	}
}

func groupViews(doc triage.Document) []groupView {
	views := make([]groupView, 0, len(doc.Groups))
	for i, g := range doc.Groups {
		view := groupView{
			Group: g, Number: i + 1, Title: title(g), Color: groupColor(i),
			Width: 100 * min(1, share(g.Failures, doc.Counts.Failed)),
			Seen:  seen(g.Occurrences), Pips: pips(g.Occurrences), Dose: newDose(dose(g.Alternative)),
		}
		for at, c := range g.Cause.Candidates {
			view.Tables = append(view.Tables, newTable(at, c))
		}
		if most := g.Alternative.MaxShare; most != nil {
			view.Bound = newBar(triage.Interval{Estimate: *most, Upper: *most}, 0, "at most "+percent(*most))
		}
		views = append(views, view)
	}
	return views
}

// Figures tells whether there are tables, or what stands beside them.
func (v groupView) Figures() bool {
	return len(v.Tables) > 0 || v.Dose != nil || len(v.Cause.Explained) > 0 || len(v.Cause.Unjudged) > 0
}

// groupColors is how many groups have a colour of their own; the others share one.
const groupColors = 6

// groupColor is the class of a group's colour, by its place in the document.
func groupColor(at int) string {
	if at >= groupColors {
		return "g-more"
	}
	return fmt.Sprintf("g-%d", at+1)
}

// tone is the class of a verdict's colour.
func tone(v triage.Verdict) string {
	switch v {
	case triage.Passed:
		return "good"
	case triage.KnownInfrastructure, triage.KnownProduct:
		return "known"
	case triage.Undecided:
		return "open"
	default: // what nobody knows of is not called harmless
		return "bad"
	}
}

// mark is a verdict's mark, for those who see no colour.
func mark(v triage.Verdict) string {
	sign, _ := marked(v)
	return sign
}

// stance is the mark of what a check says of the change.
func stance(s triage.Stance) string {
	switch s {
	case triage.Refutes:
		return "✗"
	case triage.Supports:
		return "✓"
	default:
		return "○"
	}
}
