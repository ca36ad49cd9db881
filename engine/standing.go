package engine

import (
	"fmt"
	"strings"

	"salve/journal"
)

// standing says which steps are done and which are not, for runs that stay open.
func (x *execution) standing() string {
	var done int
	var skipped, failed, waiting []string
	x.log.read(func(record *journal.Record) {
		for _, step := range x.book.Steps {
			switch history := record.Step(step.Name); {
			case history.Finished():
				done++
			case step.Skip != "" && history.Skipped():
				skipped = append(skipped, step.Name)
			case history.Attempts > 0:
				failed = append(failed, step.Name)
			default:
				waiting = append(waiting, step.Name)
			}
		}
	})
	parts := []string{tally(done, len(x.book.Steps), skipped)}
	if len(failed) > 0 {
		parts = append(parts, "not done: "+some(failed))
	}
	if len(waiting) > 0 {
		parts = append(parts, "not begun: "+some(waiting))
	}
	return strings.Join(parts, "; ")
}

// tally counts what is done, and names what was skipped: nobody has done that.
func tally(done, steps int, skipped []string) string {
	switch {
	case done == steps && steps == 1:
		return "its only step is done"
	case done == steps:
		return fmt.Sprintf("all %d steps are done", steps)
	case len(skipped) == 0:
		return fmt.Sprintf("%d of %d steps are done", done, steps)
	case len(skipped) == 1:
		return fmt.Sprintf("%d of %d steps are done, %s was skipped", done, steps, skipped[0])
	}
	return fmt.Sprintf("%d of %d steps are done, %d were skipped: %s", done, steps, len(skipped), some(skipped))
}

func some(names []string) string {
	const shown = 5
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
