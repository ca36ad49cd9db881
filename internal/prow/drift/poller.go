package drift

import (
	"context"
	"fmt"
	"sync"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/prow/check"
	"salve/internal/prow/finding"
	"salve/internal/prow/github"
	"salve/internal/prow/protector"
)

// Options are what a Poller polls.
type Options struct {
	// GitHub is asked within its budget. One that doesn't wait (MaxWait zero) gives what it has instead of holding a
	// poll up until the rate limit is reset; the answers that it keeps (CacheBytes) cost nothing as long as they don't
	// change.
	GitHub *github.Client
	// Cluster is Prow's own; nil where none is given.
	Cluster *protector.Reader
	// Facts gives the configuration, and with it the earlier one, manifests and options, as they are now: of what else
	// is in them nothing is used.
	Facts func(ctx context.Context) (check.Facts, error)
	Clock clock.Clock
}

// Poller asks GitHub again and again, and remembers what branches required for a day. It is safe for concurrent use;
// polls don't overlap.
type Poller struct {
	options Options

	lock    sync.Mutex
	history history
}

// NewPoller makes a poller. It makes no call.
func NewPoller(options Options) (*Poller, error) {
	if options.GitHub == nil || options.Facts == nil {
		return nil, fmt.Errorf("a poller requires a GitHub and a configuration")
	}
	if options.Clock == nil {
		options.Clock = clock.Real{}
	}
	return &Poller{options: options}, nil
}

// Poll asks GitHub once, and gives what holds now with the verdict of each rule: UNKNOWN, with the cause, where
// something could not be read.
func (p *Poller) Poll(ctx context.Context) (finding.List, []finding.Verdict) {
	p.lock.Lock()
	defer p.lock.Unlock()
	var result check.Result
	err := apierr.Recovered(func() (err error) {
		result, err = p.poll(ctx)
		return err
	})
	if err != nil {
		return nil, check.Unasked(err.Error())
	}
	return result.Findings, result.Verdicts
}

func (p *Poller) poll(ctx context.Context) (check.Result, error) {
	facts, err := p.options.Facts(ctx)
	if err != nil {
		return check.Result{}, fmt.Errorf("the configuration could not be read: %w", err)
	}
	facts.GitHub, facts.Protector = nil, nil
	reader := &Reader{GitHub: p.options.GitHub, Clock: p.options.Clock}
	facts = reader.Observe(ctx, p.options.Cluster, facts)
	facts.Options.Now = p.options.Clock.Now()
	p.history.learn(facts.Options.Now, facts.GitHub)
	facts.History = p.history.told()
	facts.Options.Watched = true
	return check.RunLive(facts)
}
