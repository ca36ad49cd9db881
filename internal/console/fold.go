package console

import (
	"fmt"

	"salve/journal"
)

// room is how much of a picture is drawn.
type room struct {
	// details of a step at work, lines of a text in a row, and lines of a paragraph.
	details, lines, paragraph int
	// warnings and said are how many of them are drawn, the newest.
	warnings, said int
	// steps are how many are drawn before those that need no eye are counted instead.
	steps int
	// near draws the last step that is over and the next one beside those that need an eye.
	near bool
	// bare leaves out what is no step at work: pools, guards that hold, the point of no return.
	bare bool
	// waves is how many lines the graph of a pipeline may take.
	waves int
}

// rooms are the ways to draw a picture, each smaller than the one before.
func rooms() []room {
	return []room{
		{details: 8, lines: 3, paragraph: 1 << 10, warnings: 4, said: 1 << 10, steps: 24, near: true, waves: 24},
		{details: 4, lines: 2, paragraph: 3, warnings: 4, said: 4, steps: 24, near: true, waves: 12},
		{details: 4, lines: 1, paragraph: 2, warnings: 3, said: 3, steps: 6, near: true, waves: 6},
		{details: 2, lines: 1, paragraph: 2, warnings: 2, said: 2, near: true},
		{details: 0, lines: 1, paragraph: 1, warnings: 1, said: 1, near: true},
		{details: 0, lines: 1, paragraph: 1, warnings: 1, said: 1},
		{details: 0, lines: 1, paragraph: 1, warnings: 1, said: 1, bare: true},
	}
}

// entry is a line of the list of steps: a step, or how many are not drawn.
type entry struct {
	step *row
	more string
}

// fold leaves out steps where there are too many, or where a graph shows them. What needs an eye stays: what went
// wrong, what is at work, the last that is over and the next one.
func (d *drawing) fold(p *picture) []entry {
	var steps []*row
	for _, step := range p.steps {
		if !step.undo {
			steps = append(steps, step)
		}
	}
	if len(p.waves) > 0 || len(p.steps) > rooms()[0].steps {
		return d.counted(p)
	}
	var entries []entry
	hidden := 0
	flush := func() {
		if hidden > 0 {
			entries = append(entries, entry{more: fmt.Sprintf("… %d more", hidden)})
		}
		hidden = 0
	}
	for i, step := range steps {
		if len(steps) > d.room.steps && !step.needsEye() && !(d.room.near && isNear(steps, i)) {
			hidden++
			continue
		}
		flush()
		entries = append(entries, entry{step: step})
	}
	flush()
	return entries
}

// needsEye tells whether a step is at work or went wrong.
func (s *row) needsEye() bool {
	if s.result == nil {
		return s.begun
	}
	return s.result.Result != journal.Done && s.result.Result != journal.Skipped
}

func (s *row) pending() bool { return s.result == nil && !s.begun }

// isNear tells whether a step is the last that is over before one that isn't, or the first to come.
func isNear(steps []*row, i int) bool {
	if steps[i].pending() {
		return i == 0 || !steps[i-1].pending()
	}
	return i == len(steps)-1 || steps[i+1].needsEye() || steps[i+1].pending()
}

// counted counts the steps of a pipeline, draws its graph, and gives those that need an eye.
func (d *drawing) counted(p *picture) []entry {
	var wrong, working []entry
	done, left, waiting := 0, 0, 0
	for _, step := range p.steps {
		switch {
		case step.pending():
			waiting++
		case step.result == nil:
			working = append(working, entry{step: step})
		case step.result.Result == journal.Done:
			done++
		case step.result.Result == journal.Skipped:
			left++
		default:
			wrong = append(wrong, entry{step: step})
		}
	}
	counted := fmt.Sprintf("%d of %d done, %d at work, %d to come", done, len(p.steps), len(working), waiting)
	if left > 0 {
		counted += fmt.Sprintf(", %d skipped", left)
	}
	if len(wrong) > 0 {
		counted += fmt.Sprintf(", %d went wrong", len(wrong))
	}
	mark, colour := "✓", green
	switch {
	case len(wrong) > 0:
		mark, colour = "✗", red
	case !d.over && len(working)+waiting > 0:
		mark, colour = d.spin(), blue
	}
	d.row(colour, mark, "steps", counted, "")
	d.graph(p)
	shown := append(wrong, working...)
	if most := max(d.room.steps, 4); len(shown) > most {
		return append(shown[:most:most], entry{more: fmt.Sprintf("… %d more", len(shown)-most)})
	}
	return shown
}
