// Package purity has guards whose decisions look at what they may not.
package purity

import (
	"context"
	"net/http"
	"os"
	"time"

	"k8s.io/utils/clock"

	"salve/runbook"
)

type reading struct{ At time.Time }

type rule struct {
	clock  clock.PassiveClock
	shared runbook.Shared[reading]
}

func read(context.Context, runbook.Run) (reading, error) { return reading{At: time.Now()}, nil }

func deep(seen reading) runbook.Finding { return deeper(seen) }

func deeper(seen reading) runbook.Finding {
	if time.Since(seen.At) > time.Hour || os.Getenv("FORCE") != "" {
		return runbook.No("old")
	}
	return runbook.Yes("young")
}

func (r *rule) byClock(reading) runbook.Finding { return runbook.Yes("%s", r.clock.Now()) }

func (r *rule) guard(name string, decide func(reading) runbook.Finding) runbook.Guard {
	return runbook.Ask(name, "?", read, decide)
}

// Guards are all of them.
func Guards(run runbook.Run) []runbook.Guard {
	r := &rule{}
	byNetwork := func(reading) runbook.Finding {
		_, err := http.Get("http://example.com")
		return runbook.Unknown(err)
	}
	return []runbook.Guard{
		runbook.Ask("deep", "?", read, deep),
		r.guard("clock", r.byClock),
		r.guard("shared", func(reading) runbook.Finding { return runbook.Yes("%v", r.shared.Last()) }),
		r.guard("run", func(reading) runbook.Finding { return runbook.Yes("%s", run.ID()) }),
		runbook.Ask("network", "?", read, byNetwork),
		runbook.Ask("time", "?", read, func(reading) runbook.Finding { return runbook.Yes("%s", time.Now()) }),
		runbook.Ask("pure", "?", read, func(seen reading) runbook.Finding { return runbook.Yes("%s", seen.At) }),
	}
}
