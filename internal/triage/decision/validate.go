package decision

import (
	"fmt"
	"slices"
)

// Validate says what in evidence contradicts itself, or can't have been recorded. Evidence that was made here is valid;
// what comes from a file may be anything.
func (e Evidence) Validate() error {
	if err := e.Observed.Validate(); err != nil {
		return err
	}
	if e.Examined == nil {
		return nil
	}
	seen := make([]bool, len(e.Observed.Ways))
	for i, g := range e.Examined.Groups {
		if err := distinct(g.Ways, seen); err != nil {
			return fmt.Errorf("group %d: %w", i+1, err)
		}
		if e.Observed.changed() && len(g.Classes) != len(g.Cause.Candidates) {
			return fmt.Errorf("group %d has %d causes and %d classes", i+1, len(g.Cause.Candidates), len(g.Classes))
		}
	}
	if missing := slices.Index(seen, false); missing >= 0 {
		return fmt.Errorf("way %d is in no group", missing)
	}
	return nil
}

// distinct marks ways as seen. Each is one that there is, and in one group.
func distinct(ways []int, seen []bool) error {
	if len(ways) == 0 {
		return fmt.Errorf("no way of failing")
	}
	for _, way := range ways {
		if way < 0 || way >= len(seen) || seen[way] {
			return fmt.Errorf("way %d of %d is not there, or is there twice", way, len(seen))
		}
		seen[way] = true
	}
	return nil
}

// Validate says what contradicts itself.
func (o Observed) Validate() error {
	for i, way := range o.Ways {
		known := map[int]bool{}
		for _, shows := range way.Shows {
			if shows.Signature < 0 || shows.Signature >= len(o.Signatures) || known[shows.Signature] {
				return fmt.Errorf("way %d shows signature %d of %d", i, shows.Signature, len(o.Signatures))
			}
			known[shows.Signature] = true
		}
		if way.Failures < 1 {
			return fmt.Errorf("way %d has %d failures", i, way.Failures)
		}
	}
	if o.Scenarios == nil {
		return nil
	}
	if err := o.Scenarios.validate(len(o.Ways)); err != nil {
		return err
	}
	for i, failures := range o.Scenarios.failures(len(o.Ways)) {
		if failures != o.Ways[i].Failures {
			return fmt.Errorf("way %d has %d failures, and %d scenarios", i, o.Ways[i].Failures, failures)
		}
	}
	return nil
}

// failures counts those of each way.
func (s *Scenarios) failures(ways int) []int {
	count := make([]int, ways)
	for _, test := range s.Tests {
		for _, kind := range test[1:] {
			if way := s.Outcomes[kind]; way > 0 {
				count[way-1] += test[0]
			}
		}
	}
	return count
}
