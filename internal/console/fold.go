package console

import (
	"fmt"

	"salve/journal"
)

// shownSteps is how many steps are drawn: more than that would not fit a terminal.
const shownSteps = 24

// fold leaves out steps where there are too many, or where a graph shows them:
// those that are done, skipped or have not begun are counted in a line. What
// needs an eye stays: first what went wrong, then what is at work.
func (d *drawing) fold(p *picture) []*row {
	steps := p.steps
	if len(p.waves) == 0 && len(steps) <= shownSteps {
		return steps
	}
	var wrong, working []*row
	done, left, waiting := 0, 0, 0
	for _, step := range steps {
		switch {
		case step.result == nil && !step.begun:
			waiting++
		case step.result == nil:
			working = append(working, step)
		case step.result.Result == journal.Done:
			done++
		case step.result.Result == journal.Skipped:
			left++
		default:
			wrong = append(wrong, step)
		}
	}
	counted := fmt.Sprintf("%d of %d done, %d at work, %d to come", done, len(steps), len(working), waiting)
	if left > 0 {
		counted += fmt.Sprintf(", %d skipped", left)
	}
	if len(wrong) > 0 {
		counted += fmt.Sprintf(", %d went wrong", len(wrong))
	}
	d.row(green, "✓", "steps", counted, "")
	d.graph(p)
	shown := append(wrong, working...)
	return shown[:min(len(shown), shownSteps)]
}
