package console

import (
	"fmt"
	"strings"

	"salve/journal"
)

// graph draws the steps of a pipeline wave by wave: on a line are those that can
// run at once, each with its mark. One of too many lines is not drawn.
func (d *drawing) graph(p *picture) {
	var lines []string
	for number, wave := range p.waves {
		lines = append(lines, d.wave(fmt.Sprintf("%5d  ", number+1), wave, p.byName)...)
	}
	if len(lines) > d.room.waves {
		return
	}
	for _, line := range lines {
		d.put(line)
	}
}

// wave draws steps beside each other, on as many lines as they need.
func (d *drawing) wave(head string, names []string, steps map[string]*row) []string {
	const around = len("m ") + len("  ")
	lines, line, used := []string(nil), head, len(head)
	for _, name := range names {
		shown := cut(redacted(name), d.width-len(head)-around)
		room := columns(shown) + around
		if used+room > d.width && used > len(head) {
			lines = append(lines, line)
			line, used = strings.Repeat(" ", len(head)), len(head)
		}
		colour, mark := d.mark(steps[name])
		line += colour + mark + " " + shown + plain + "  "
		used += room
	}
	return append(lines, line)
}

// mark is how a step stands, in a colour and a sign.
func (d *drawing) mark(step *row) (colour, sign string) {
	switch {
	case step == nil || !step.begun && step.result == nil:
		return faint, "·"
	case step.result == nil && d.over:
		return yellow, "!"
	case step.result == nil:
		return blue, d.spin()
	case step.result.Result == journal.Done:
		return green, "✓"
	case step.result.Result == journal.Skipped:
		return faint, "–"
	case step.result.Result == journal.Unknown:
		return yellow, "?"
	}
	return red, "✗"
}
