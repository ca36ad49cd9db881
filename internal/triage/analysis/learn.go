package analysis

import (
	"context"
	"fmt"

	"salve/internal/triage/catalogue"
	"salve/internal/triage/results"
	"salve/internal/triage/scenario"
)

// Bounds of what a proposal is made of.
const (
	learnedFailures = 50       // of the group, whose texts are looked at
	learnedBytes    = 64 << 20 // of passing texts
)

// Sample reads the results once more, for the texts of one group and of what passes.
func (r *Result) Sample(ctx context.Context, request Request, group *scenario.Group) (catalogue.Sample, error) {
	sample := catalogue.Sample{Message: group.Message, Place: r.place(group)}
	failing := map[results.Place]bool{}
	for _, row := range group.Rows {
		failing[r.Run.Scenarios[row].Origin] = true
	}
	passing := 0
	reader := results.Reader{Stdin: request.Stdin}
	for one, err := range reader.Cases(ctx, request.Paths...) {
		switch {
		case err != nil: // the document has it
		case failing[one.Origin] && one.Outcome.Failed() && len(sample.Failing) < learnedFailures:
			sample.Failing = append(sample.Failing, text(one))
		case one.Outcome == results.Pass && passing < learnedBytes:
			told := text(one)
			passing += len(told)
			sample.Passing = append(sample.Passing, told)
		}
	}
	if err := ctx.Err(); err != nil {
		return sample, fmt.Errorf("reading results: %w", err)
	}
	return sample, nil
}

func text(one results.Case) string {
	return one.Message + "\n" + one.Failure.String() + "\n" + one.Output.String()
}

// place is where all of a group fail; empty if they fail at several places.
func (r *Result) place(group *scenario.Group) string {
	place := ""
	for i, row := range group.Rows {
		file := r.Run.Scenarios[row].File
		if i > 0 && file != place {
			return ""
		}
		place = file
	}
	return place
}

// Statistics count which scenarios show which signatures.
func (r *Result) Statistics() *catalogue.Statistics {
	stats := &catalogue.Statistics{}
	for row := range r.Run.Scenarios {
		s := &r.Run.Scenarios[row]
		if s.Failing() || s.Outcome == results.Pass {
			stats.Add(s.Failing(), r.Attributes[row], r.Shown[row])
		}
	}
	return stats
}
