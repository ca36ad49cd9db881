package replay

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"salve/engine"
	triage "salve/internal/triage/replay"
	"salve/journal"
	"salve/runbook"
)

// Case is one record of a suite.
type Case struct {
	// Name is the file's, or the run's.
	Name string `json:"name"`
	// Result is what its replay came to, if it is of a run; zero when it could not be replayed at all, for the reason Err.
	Result Result `json:"result,omitzero"`
	// Triage is what its replay came to, if it is of a triage.
	Triage *triage.Result `json:"triage,omitempty"`
	Err    string         `json:"error,omitempty"`
}

// Verdict is what the replay came to, of whichever kind.
func (c Case) Verdict() Verdict {
	if c.Triage != nil {
		return Verdict(c.Triage.Verdict)
	}
	return c.Result.Verdict
}

// Reason says why the verdict is not Same.
func (c Case) Reason() string {
	if c.Triage != nil {
		return c.Triage.Reason
	}
	return c.Result.Reason
}

// Passed tells whether every decision came out as recorded.
func (c Case) Passed() bool { return c.Err == "" && c.Verdict() == Same }

// Suite is a folder of records, each with what its replay came to.
type Suite struct {
	Cases []Case `json:"cases"`
	// NeverRefused are guards that no record of the suite saw refuse, by runbook: that they would, nothing shows.
	NeverRefused map[string][]string `json:"neverRefused,omitempty"`
	// PassedOver names what was found beside the records and is none.
	PassedOver []string `json:"passedOver,omitempty"`
	refused    map[string]map[string]bool
}

// Item is a record of a suite before it is replayed. Read reads it, if it is of a run; it is called once.
type Item struct {
	Name string
	Read func() (*journal.History, error)
	// Options say how it is replayed.
	Options func(*journal.History) Options
	// Triage replays it, if it is of a triage; else nil.
	Triage func() (triage.Result, error)
}

// RunSuite replays records, as many at once as there are processors. The cases are in the order of the items.
func RunSuite(items []Item) *Suite {
	suite := &Suite{Cases: make([]Case, len(items))}
	var next atomic.Int64
	var workers sync.WaitGroup
	var counting sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(items); i = int(next.Add(1)) - 1 {
				one := items[i].replay()
				if one.Err == "" && one.Triage == nil {
					counting.Lock()
					suite.count(one.Result)
					counting.Unlock()
				}
				one.Result.book = runbook.Runbook{} // a thousand of them would stay in memory
				suite.Cases[i] = one
			}
		})
	}
	workers.Wait()
	suite.NeverRefused = suite.neverRefused()
	return suite
}

// neverRefused are the guards that no case saw refuse, by runbook.
func (s *Suite) neverRefused() map[string][]string {
	never := map[string][]string{}
	for name, guards := range s.refused {
		for _, guard := range slices.Sorted(maps.Keys(guards)) {
			if !guards[guard] {
				never[name] = append(never[name], guard)
			}
		}
	}
	return never
}

// replay replays one record; the runbook is that of the recorded inputs.
func (i Item) replay() Case {
	if i.Triage != nil {
		result, err := i.Triage()
		if err != nil {
			return Case{Name: i.Name, Err: err.Error()}
		}
		return Case{Name: i.Name, Triage: &result}
	}
	history, err := i.Read()
	if err != nil {
		return Case{Name: i.Name, Err: err.Error()}
	}
	result, err := Run(history, i.Options(history))
	if err != nil {
		return Case{Name: i.Name, Result: result, Err: err.Error()}
	}
	return Case{Name: i.Name, Result: result}
}

// count remembers which guards of a runbook were seen to refuse.
func (s *Suite) count(result Result) {
	name, book := result.Runbook, result.book
	if s.refused == nil {
		s.refused = map[string]map[string]bool{}
	}
	seen := s.refused[name]
	if seen == nil {
		seen = map[string]bool{}
		s.refused[name] = seen
	}
	for _, guard := range guardsOf(book) {
		if _, known := seen[guard]; !known {
			seen[guard] = false
		}
	}
	for _, decision := range result.Decisions {
		for _, guard := range decision.Guards {
			if guard.Recorded != nil && guard.Recorded.Answer != runbook.AnswerHolds {
				seen[guard.Name] = true
			}
		}
	}
}

// guardsOf names all that a runbook asks.
func guardsOf(book runbook.Runbook) []string {
	purposes := []string{"start", "checks"}
	for _, step := range slices.Concat(book.Preflight, book.Steps) {
		purposes = append(purposes, "step "+step.Name)
		if step.Rollback != nil {
			purposes = append(purposes, "step "+step.Rollback.Name)
		}
	}
	var names []string
	for _, purpose := range purposes {
		guards, _ := engine.GuardsFor(book, journal.Evaluation{For: purpose})
		for _, guard := range guards {
			names = append(names, guard.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Failed counts the cases that did not pass.
func (s *Suite) Failed() int {
	failed := 0
	for _, one := range s.Cases {
		if !one.Passed() {
			failed++
		}
	}
	return failed
}
