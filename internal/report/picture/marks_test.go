package picture

import (
	"fmt"
	"slices"
	"testing"

	"salve/internal/report/postmortem"
	"salve/journal"
)

func TestRequestsAreMarks(t *testing.T) {
	send := func(at float64, method, path string, status, count int) postmortem.Operation {
		return postmortem.Operation{At: minute(at), Run: run, Method: method, Path: path, Status: status,
			Count: count, Class: "timeout"}
	}
	all := []postmortem.Span{span("s", 0, 10, journal.Done)}
	p := drawn(t, 10, postmortem.Chart{Spans: all, Requests: []postmortem.Operation{
		send(1, "PUT", "/subscriptions/a", 201, 1), send(1, "PUT", "/subscriptions/a", 429, 3),
		send(5, "DELETE", "/subscriptions/b", 0, 1),
		send(6, "POST", "/api/v1/x", 201, 1), send(6.01, "PATCH", "/api/v1/y", 200, 2),
	}})
	for name, want := range map[string]string{
		"cloud operations":  "sent PUT 201 1 false; refused PUT 429 ×3 3 false; unanswered DELETE no answer 1 false; ",
		"Kubernetes writes": "sent PATCH 200 ×2, POST 201 3 false; ",
	} {
		got := ""
		for _, m := range row(t, p, name).Marks {
			got += fmt.Sprintf("%s %s %d %t; ", m.Shape, m.Label, m.Count, m.End)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if r := row(t, p, "cloud operations"); r.Note != "5 requests, 4 refused" || r.Marks[0].Y >= r.Marks[1].Y {
		t.Errorf("%s: what was refused is not below", r.Note)
	}
	want := "12:06:00 POST /api/v1/x: 201; 12:06:00 PATCH /api/v1/y: 200, 2 times"
	if m := row(t, p, "Kubernetes writes").Marks[0]; m.Title != want {
		t.Errorf("says %q", m.Title)
	}
}

// TestLabelsDoNotTouch one another or a break, and what has no label has a title.
func TestLabelsDoNotTouch(t *testing.T) {
	var sent []postmortem.Operation
	for i := range 40 {
		sent = append(sent, patched(float64(i)/40))
	}
	for i := range 12 {
		sent = append(sent, patched(float64(i*i)))
	}
	sent = append(sent, patched(5000))
	p := drawn(t, 5000, postmortem.Chart{Requests: sent})
	if len(p.Breaks) != 1 {
		t.Fatalf("breaks: %v", p.Breaks)
	}
	before, labels, count := 0.0, 0, 0
	for _, m := range p.Rows[0].Marks {
		from, to := m.X-4, m.X+4
		if m.Label != "" {
			labels++
			width := float64(cells(m.Label)) * letter
			if m.End {
				from = m.LabelX - width
			} else {
				to = m.LabelX + width
			}
		}
		if from < before-0.5 {
			t.Errorf("%q at %v touches what ends at %v", m.Label, from, before)
		}
		for _, b := range p.Breaks {
			if from < b.X+b.Width && to > b.X {
				t.Errorf("%q from %v to %v touches the break at %v", m.Label, from, to, b.X)
			}
		}
		if before = to; m.Title == "" {
			t.Error("a mark says nothing")
		}
		count += m.Count
	}
	if labels < 3 || count != 53 || len(p.Rows[0].Marks) > 60 {
		t.Errorf("%d labels, %d requests in %d marks", labels, count, len(p.Rows[0].Marks))
	}
}

func patched(at float64) postmortem.Operation {
	return postmortem.Operation{At: minute(at), Run: run, Method: "PATCH", Status: 200, Count: 1}
}

// TestPoolThatWasOnlyDeletedHasNoBand: nobody looked at it.
func TestPoolThatWasOnlyDeletedHasNoBand(t *testing.T) {
	p := drawn(t, 10, postmortem.Chart{
		Spans:     []postmortem.Span{span("retire", 0, 5, journal.Done)},
		Readiness: []postmortem.Readiness{{At: minute(5), Run: run, Pool: "web", Gone: true}},
	})
	for _, r := range p.Rows {
		if r.Kind == Nodes {
			t.Errorf("%+v", r)
		}
	}
}

func TestReadinessIsABand(t *testing.T) {
	seen := func(at float64, ready, nodes int) postmortem.Readiness {
		return postmortem.Readiness{At: minute(at), Run: run, Pool: "web", Ready: ready, Nodes: nodes}
	}
	gone := func(at float64) postmortem.Readiness {
		return postmortem.Readiness{At: minute(at), Run: run, Pool: "web", Gone: true}
	}
	for name, test := range map[string]struct {
		seen []postmortem.Readiness
		want string // of each level: beginning, width, height of ready and of missing, label
		note string
	}{
		"held until the next reading": {[]postmortem.Readiness{seen(0, 4, 4), seen(5, 2, 4), seen(10, 4, 4)},
			"186 293 22 0 4/4; 479 293 11 11 2/4; 770 2 22 0 ; ", "4 of 4 nodes at last"},
		"the same is one": {[]postmortem.Readiness{seen(0, 4, 4), seen(2, 4, 4), seen(5, 4, 4), seen(10, 3, 4)},
			"186 586 22 0 4/4; 770 2 16.5 5.5 ; ", "3 of 4 nodes at last"},
		"none": {[]postmortem.Readiness{seen(0, 0, 0), seen(10, 0, 0)},
			"186 586 0 0 0/0; ", "0 of 0 nodes at last"},
		"one reading": {[]postmortem.Readiness{seen(0, 1, 2)}, "186 12 11 11 ; ", "1 of 2 nodes at last"},
		"what can't be": {[]postmortem.Readiness{seen(0, -3, 4), seen(5, 9, 4), seen(10, 4, -1)},
			"186 293 0 22 0/4; 479 293 22 0 9/9; 770 2 22 0 ; ",
			"4 of 0 nodes at last"},
		"in any order of time": {[]postmortem.Readiness{seen(5, 2, 4), seen(0, 4, 4)},
			"186 293 22 0 4/4; 479 12 11 11 ; ", "2 of 4 nodes at last"},
		"until the pool is deleted": {[]postmortem.Readiness{seen(0, 5, 5), gone(5)},
			"186 293 22 0 5/5; ", "5 of 5 nodes, then gone"},
		"nothing until it is seen again": {[]postmortem.Readiness{seen(0, 4, 4), gone(2.5), seen(5, 4, 4), gone(7.5)},
			"186 146.5 22 0 4/4; 479 146.5 22 0 4/4; ", "4 of 4 nodes, then gone"},
	} {
		t.Run(name, func(t *testing.T) {
			r := row(t, drawn(t, 10, postmortem.Chart{Readiness: test.seen}), "pool web")
			got := ""
			for _, l := range r.Levels {
				got += fmt.Sprintf("%v %v %v %v %s; ", l.X, l.W, l.H, l.MissH, l.Label)
			}
			if got != test.want || r.Note != test.note {
				t.Errorf("got %s note %q, want %s note %q", got, r.Note, test.want, test.note)
			}
		})
	}
}

// TestLevelsAreLabelledBeforeABreak or not at all.
func TestLevelsAreLabelledBeforeABreak(t *testing.T) {
	seen := func(at float64, ready int) postmortem.Readiness {
		return postmortem.Readiness{At: minute(at), Run: run, Pool: "web", Ready: ready, Nodes: 5}
	}
	p := drawn(t, 6000, postmortem.Chart{Spans: []postmortem.Span{span("s", 0, 20, journal.Done)},
		Readiness: []postmortem.Readiness{seen(0, 5), seen(10, 3), seen(19.9, 4), seen(6000, 5)}})
	got := ""
	for _, l := range row(t, p, "pool web").Levels {
		got += l.Label + ";"
		if l.Label != "" && l.LabelX+float64(cells(l.Label))*letter/2 > p.Breaks[0].X {
			t.Errorf("%s at %v reaches into the break at %v", l.Label, l.LabelX, p.Breaks[0].X)
		}
	}
	if got != "5/5;3/5;;;" || len(p.Breaks) != 1 {
		t.Errorf("labels %s, breaks %+v", got, p.Breaks)
	}
}

// TestABandIsAsHighAsTheShareThatWasReady, also where the pool has more nodes later.
func TestABandIsAsHighAsTheShareThatWasReady(t *testing.T) {
	reading := func(at float64, ready, nodes int) postmortem.Readiness {
		return postmortem.Readiness{At: minute(at), Run: run, Pool: "web", Ready: ready, Nodes: nodes}
	}
	p := drawn(t, 10, postmortem.Chart{Spans: []postmortem.Span{span("s", 0, 10, journal.Done)},
		Readiness: []postmortem.Readiness{reading(1, 3, 3), reading(4, 1, 4), reading(6, 0, 4), reading(8, 5, 5)}})
	var shares []float64
	for _, l := range row(t, p, "pool web").Levels {
		shares = append(shares, l.H/bandRoom)
		if l.H+l.MissH != bandRoom {
			t.Errorf("%s: the whole is %v high", l.Label, l.H+l.MissH)
		}
	}
	if !slices.Equal(shares, []float64{1, 0.25, 0, 1}) {
		t.Errorf("shares %v", shares)
	}
}
