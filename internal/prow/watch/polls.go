package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/prow/finding"
)

// stalePolls is after how many times its pause a poll that has not ended makes the last one stale.
const stalePolls = 3

// GitHub stands for all rules that are polled, as long as no poll has said which they are.
const GitHub = "GitHub"

// polls keeps what the last poll came to.
type polls struct {
	poller  Poller
	every   time.Duration
	clock   clock.Clock
	changed func()

	mu       sync.Mutex
	at       time.Time
	round    int
	findings finding.List
	verdicts []finding.Verdict
}

func (p *polls) run(ctx context.Context) error {
	if p.poller == nil {
		return nil
	}
	for {
		err := apierr.Recovered(func() error {
			found, verdicts := p.poller.Poll(ctx)
			if context.Cause(ctx) != nil {
				return nil // a poll that was cut off has seen nothing
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.round++
			p.at, p.findings, p.verdicts = p.clock.Now(), found, verdicts
			return nil
		})
		if err != nil || context.Cause(ctx) != nil {
			return err
		}
		p.changed()
		if err := clock.Sleep(ctx, p.clock, p.every); err != nil {
			return err
		}
	}
}

// polled is what the last poll came to.
type polled struct {
	findings finding.List
	verdicts []finding.Verdict
	// blind are the rules that lacked something that was given.
	blind map[string]bool
	// rounds is, for each rule that is polled, how many polls there were.
	rounds map[string]int
}

// last is what the last poll found.
func (p *polls) last() polled {
	p.mu.Lock()
	defer p.mu.Unlock()
	blind, rounds := map[string]bool{}, map[string]int{}
	verdicts := append([]finding.Verdict{}, p.verdicts...)
	switch {
	case p.poller == nil:
		lack := finding.Lack{Reason: "GitHub is not asked", NotGiven: true}
		return polled{verdicts: []finding.Verdict{{Rule: GitHub, Severity: finding.Unknown, Lack: lack}}}
	case p.at.IsZero():
		lack := finding.Lack{Reason: "GitHub was not asked yet"}
		return polled{verdicts: []finding.Verdict{{Rule: GitHub, Severity: finding.Unknown, Lack: lack}}}
	}
	old := p.clock.Since(p.at)
	for i := range verdicts {
		if old > stalePolls*p.every && (verdicts[i].Reason == "" || verdicts[i].NotGiven) {
			verdicts[i].Lack = finding.Lack{Reason: fmt.Sprintf("GitHub was last asked at %s", p.at.UTC().Format(time.RFC3339))}
			if !verdicts[i].Severity.AtLeast(finding.Unknown) {
				verdicts[i].Severity = finding.Unknown
			}
		}
		rounds[verdicts[i].Rule] = p.round
		blind[verdicts[i].Rule] = verdicts[i].Reason != "" && !verdicts[i].NotGiven
	}
	verdicts = append(verdicts, finding.Verdict{Rule: GitHub, Severity: finding.OK})
	return polled{append(finding.List{}, p.findings...), verdicts, blind, rounds}
}
