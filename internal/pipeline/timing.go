package pipeline

import (
	"errors"
	"time"

	"go.yaml.in/yaml/v3"

	"salve/internal/pipeline/graph"
)

// ReadTimings reads how long steps took: a YAML mapping of steps, such as
// fleet/cluster, to durations, such as 12m30s.
func ReadTimings(path string) (map[string]time.Duration, error) {
	content, err := ReadContent(path)
	if err != nil {
		return nil, err
	}
	root, found := document(path, content)
	if root != nil && root.Kind != yaml.MappingNode {
		found = append(found, problem(position(path, root), "wrong-type", "timings must be a mapping of steps to durations"))
	}
	if len(found) > 0 {
		return nil, errors.New(found[0].String())
	}
	took := map[string]time.Duration{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		step, given := root.Content[i], root.Content[i+1]
		length, err := time.ParseDuration(given.Value)
		if err != nil || length < 0 {
			return nil, errors.New(problem(position(path, given), "wrong-value", "%q must be a length of time such as 12m30s",
				given.Value).String())
		}
		took[step.Value] = length
	}
	return took, nil
}

// Weights says how long each step of Steps takes, and by what that is known: by
// what was recorded, where that is given; else by timeouts, where each step has
// one; else not at all, and steps are counted. A Soak step takes as long as it
// soaks.
func (f *File) Weights(recorded map[string]time.Duration) (took []time.Duration, measure string) {
	steps := f.Steps()
	took = make([]time.Duration, len(steps))
	if len(recorded) > 0 {
		known := 0
		for i, step := range steps {
			length, ok := recorded[step.ID().String()]
			if took[i] = length; ok {
				known++
			}
		}
		measure = "by recorded durations"
		if known < len(steps) {
			measure += " (unknown of " + graph.Steps(len(steps)-known) + ")"
		}
		return took, measure
	}
	for i, step := range steps {
		switch {
		case step.Timeout != nil:
			took[i] = step.Timeout.Duration
		case step.Soak != nil:
			took[i] = step.Soak.Duration.Duration
		default:
			return nil, "by number of steps"
		}
	}
	return took, "by timeouts"
}
