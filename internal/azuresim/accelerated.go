package azuresim

import (
	"fmt"
	"slices"
	"time"
)

// fastest is where the machine's own time begins to count for more than the scenario's.
const fastest = 10_000

// shortestDrain is as short as a drain becomes: pods take the time to end that they are given, however fast the rest
// is.
const shortestDrain = Duration(time.Minute)

// Accelerated is the scenario with everything that it does from its start on sped up by a factor from 1 to 10000, for a
// World on a clock that people's own clients share. What happened before the start keeps its age. A call that hangs
// does so as long as before: that is measured by its client's patience.
func (s Scenario) Accelerated(factor float64) (Scenario, error) {
	if !(factor >= 1 && factor <= fastest) {
		return Scenario{}, fmt.Errorf("a scenario can be sped up by a factor from 1 to %d, not %v", fastest, factor)
	}
	quicken := func(spans ...*Duration) {
		for _, span := range spans {
			*span = Duration(float64(*span) / factor)
		}
	}
	quicken(&s.Durations.StandIn, &s.Durations.Delete, &s.Durations.Recreate, &s.Durations.RemoveStandIn,
		&s.Durations.Update, &s.Durations.Abort, &s.Durations.Settle, &s.Durations.Retry, &s.Durations.Cluster,
		&s.Durations.Resource, &s.Durations.Register, &s.Log.Lag, &s.RetryAfter)
	if drain := Duration(float64(s.Durations.Drain) / factor); s.Durations.Drain > shortestDrain {
		s.Durations.Drain = max(drain, shortestDrain)
	}
	if s.Operation != nil {
		operation := *s.Operation
		quicken(&operation.Ends)
		s.Operation = &operation
	}
	s.Faults = slices.Clone(s.Faults)
	for i := range s.Faults {
		s.Faults[i] = s.Faults[i].copied()
		quicken(s.Faults[i].times()...)
	}
	return s, nil
}
