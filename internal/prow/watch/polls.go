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
			p.mu.Lock()
			defer p.mu.Unlock()
			p.at, p.findings, p.verdicts = p.clock.Now(), found, verdicts
			return nil
		})
		if err != nil || context.Cause(ctx) != nil {
			return err // a poll that was cut off has seen nothing
		}
		p.changed()
		if err := clock.Sleep(ctx, p.clock, p.every); err != nil {
			return err
		}
	}
}

// last is what the last poll found. Rules that lacked something that was given are blind.
func (p *polls) last() (finding.List, []finding.Verdict, map[string]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	blind := map[string]bool{}
	verdicts := append([]finding.Verdict{}, p.verdicts...)
	switch {
	case p.poller == nil:
		lack := finding.Lack{Reason: "GitHub is not asked", NotGiven: true}
		return nil, []finding.Verdict{{Rule: GitHub, Severity: finding.Unknown, Lack: lack}}, blind
	case p.at.IsZero():
		lack := finding.Lack{Reason: "GitHub was not asked yet"}
		return nil, []finding.Verdict{{Rule: GitHub, Severity: finding.Unknown, Lack: lack}}, blind
	}
	old := p.clock.Since(p.at)
	for i := range verdicts {
		if old > stalePolls*p.every && (verdicts[i].Reason == "" || verdicts[i].NotGiven) {
			verdicts[i].Lack = finding.Lack{Reason: fmt.Sprintf("GitHub was last asked at %s", p.at.UTC().Format(time.RFC3339))}
			if !verdicts[i].Severity.AtLeast(finding.Unknown) {
				verdicts[i].Severity = finding.Unknown
			}
		}
		blind[verdicts[i].Rule] = verdicts[i].Reason != "" && !verdicts[i].NotGiven
	}
	verdicts = append(verdicts, finding.Verdict{Rule: GitHub, Severity: finding.OK})
	return append(finding.List{}, p.findings...), verdicts, blind
}
