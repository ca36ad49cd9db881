package page

import (
	"salve/internal/report/postmortem"
)

// appendixView is what the decisions rest on.
type appendixView struct {
	Guards    []guardView
	Left      int
	Held      []heldView
	HeldTotal string
	HeldLeft  int
	Figures   *figuresView // what the picture shows, if there is one
}

// guardView is an answer that stopped a run, could not be given, or was passed over.
type guardView struct {
	Guard, Answer, Tone, Mark string
	For, Stamp, At, Times     string
	Reason                    []part
	Override                  string
	Evidence                  []evidenceView
	EvidenceTotal             string
	Source                    sourceView
}

// evidenceView is an observed fact.
type evidenceView struct{ Query, Identity, Seen, Value string }

// heldView is a guard that held.
type heldView struct {
	Guard   string
	Reason  []part
	Times   string
	Queries []string
	Source  sourceView
}

func (w *writer) appendixView() appendixView {
	a := w.draft.Appendix
	view := appendixView{Left: a.Omitted, HeldTotal: plural(len(a.Held), "guard or check", "guards and checks"),
		Figures: w.figures()}
	space := room{guardsRoom}
	for _, g := range a.Guards {
		shown := w.guardView(g)
		if !space.takes(shown.size(), "") {
			view.Left++
			continue
		}
		view.Guards = append(view.Guards, shown)
	}
	space = room{heldRoom}
	for _, h := range a.Held {
		shown := w.heldView(h)
		if !space.takes(rowOverhead+sizeOf(shown.Reason), append(shown.Queries, shown.Guard, shown.Source.Text)...) {
			view.HeldLeft++
			continue
		}
		view.Held = append(view.Held, shown)
	}
	return view
}

func (w *writer) guardView(g postmortem.GuardFinding) guardView {
	view := guardView{Guard: one(g.Guard), Answer: one(string(g.Answer)), Tone: "known", Mark: "!", For: one(g.For),
		Stamp: stamp(g.At), At: g.At.UTC().Format("2 Jan 2006 15:04:05 UTC"), Reason: linked(one(g.Reason)),
		Override: one(g.Override), Source: w.lines.cite(g.Source),
		EvidenceTotal: plural(len(g.Evidence), "piece of evidence", "pieces of evidence")}
	if g.Count > 1 {
		view.Times = times(g.Count)
	}
	for _, e := range g.Evidence {
		view.Evidence = append(view.Evidence, evidenceView{one(e.Query), one(e.Identity),
			e.Seen.UTC().Format("15:04:05"), one(e.Value)})
	}
	return view
}

func (g guardView) size() int {
	size := 2*rowOverhead + sizeOf(g.Reason) + escaped(g.Guard+g.Answer+g.For+g.Override+g.Source.Text)
	for _, e := range g.Evidence {
		size += rowOverhead + escaped(e.Query+e.Identity+e.Value)
	}
	return size
}

func (w *writer) heldView(h postmortem.HeldGuard) heldView {
	view := heldView{Guard: one(h.Guard), Reason: linked(one(h.Reason)), Times: plural(h.Times, "time", "times"),
		Source: w.lines.cite(h.Source)}
	for _, query := range h.Queries {
		view.Queries = append(view.Queries, one(query))
	}
	return view
}
