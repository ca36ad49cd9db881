package analysis

import (
	"context"
	"fmt"
)

// readBaseline reads the runs without the change. One that can't be read is a problem of the document, and none of the
// triage's.
func (a *analysis) readBaseline(ctx context.Context) error {
	for _, path := range a.Baseline {
		run, problems, err := a.read(ctx, path)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			a.problems = append(a.problems, "baseline: "+problem)
		}
		if len(run.Scenarios) == 0 {
			if len(problems) == 0 {
				a.problems = append(a.problems, fmt.Sprintf("baseline: %s: %v", path, ErrNothing))
			}
			run = nil
		}
		a.without = append(a.without, run)
	}
	return nil
}
