package drift

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/internal/prow/blocked"
	"salve/internal/prow/check"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
	"salve/kube"
)

// maximumTime bounds one reading of GitHub, however slowly it answers.
const maximumTime = 10 * time.Minute

// Reader reads one GitHub.
type Reader struct {
	GitHub *github.Client
	Clock  clock.Clock
	// Changes tells whether open pull requests are read that a change of the configuration is about.
	Changes bool
}

// Read asks GitHub for what rules are asked over, in the order of its worth: protection and rulesets of all branches,
// what was reported on the branches that require a context nobody is known to report, open pull requests. What did
// not fit into the rate limit, or failed, is said in the result.
func (r *Reader) Read(ctx context.Context, facts check.Facts) *check.GitHub {
	return r.read(ctx, facts, nil)
}

// read takes the ProwJobs from where there are some; nil where Prow's own cluster is not given.
func (r *Reader) read(ctx context.Context, facts check.Facts, jobs func(context.Context) *blocked.Jobs) *check.GitHub {
	ctx, cancel := clock.WithTimeout(ctx, r.Clock, maximumTime)
	defer cancel()
	if facts.Now.Incomplete() {
		return &check.GitHub{Failed: "the configuration could not be read as a whole: it says what to look at"}
	}
	if _, err := r.GitHub.RateLimits(ctx); err != nil && !errors.Is(err, github.ErrNotLimited) {
		return &check.GitHub{Failed: r.reason(err)}
	}
	seen := &check.GitHub{
		Branches: map[config.Branch]check.LiveBranch{}, Unread: map[string]string{},
		Heads: map[config.Branch]check.Heads{}, PullsUnread: map[string]string{}, OpenUnread: map[string]string{},
	}
	reading := &reading{Reader: r, comparer: comparerOf(facts), prowJobs: jobs, heard: map[commit]*head{}, seen: seen}
	reading.branches(ctx)
	facts.GitHub = reading.seen
	reading.heads(ctx, check.Suspects(facts))
	if r.Changes {
		reading.pulls(ctx, check.Awaited(facts))
	}
	reading.open(ctx, facts)
	return reading.seen
}

func comparerOf(facts check.Facts) protection.Comparer {
	comparer := protection.Comparer{Config: facts.Now.Partial()}
	if facts.Base != nil && facts.Base.Failed == "" && !facts.Base.Config.Incomplete() {
		comparer.Base = facts.Base.Config.Partial()
	}
	return comparer
}

// reading is one that is under way.
type reading struct {
	*Reader
	comparer protection.Comparer
	// prowJobs reads the ProwJobs; nil where Prow's own cluster is not given. before are those of before anything was
	// read about the head of a pull request.
	prowJobs func(context.Context) *blocked.Jobs
	begin    sync.Once
	before   *blocked.Jobs

	lock sync.Mutex
	seen *check.GitHub
	// heard are commits whose reports were asked for.
	heard map[commit]*head
}

// jobsBefore are the ProwJobs of before the reports of pull requests' heads were read: a report that is missing there
// is judged by jobs that are not younger. They are read at the first call.
func (r *reading) jobsBefore(ctx context.Context) *blocked.Jobs {
	r.begin.Do(func() {
		if r.prowJobs != nil {
			r.before = r.prowJobs(ctx)
		}
	})
	return r.before
}

// note changes what was seen.
func (r *reading) note(change func(seen *check.GitHub)) {
	r.lock.Lock()
	defer r.lock.Unlock()
	change(r.seen)
}

// each calls do for each item, several at a time. What panics is said of the item.
func each[T any](ctx context.Context, r *reading, items []T, do func(context.Context, T), failed func(T, string)) {
	done := make([]bool, len(items))
	err := kube.Parallel(ctx, len(items), func(ctx context.Context, i int) error {
		do(ctx, items[i])
		done[i] = true
		return nil
	})
	for i, item := range items {
		if !done[i] {
			failed(item, r.reason(fmt.Errorf("not asked for: %w", err)))
		}
	}
}

// maximumPause bounds how long GitHub may ask for silence, after many requests in a minute, for a reading to go on
// after it. The hour until the rate limit is reset is never waited for.
const maximumPause = 2 * time.Minute

// patiently reads, and again after each pause that GitHub asked for: else all that a large instance has would never be
// seen in one reading, nor in the next one.
func patiently[T any](ctx context.Context, r *Reader, read func() (T, error)) (T, error) {
	for {
		value, err := read()
		pause := r.GitHub.Remaining().PausedUntil.Sub(r.Clock.Now())
		if apierr.ClassOf(err) != apierr.Throttled || pause <= 0 || pause > maximumPause ||
			clock.Sleep(ctx, r.Clock, pause) != nil {
			return value, err
		}
	}
}

// reason is why something could not be read. All that the rate limit kept back has one reason, with the time of reset.
func (r *Reader) reason(err error) string {
	rate := r.GitHub.Remaining()
	switch {
	case apierr.ClassOf(err) != apierr.Throttled:
		return err.Error()
	case !rate.PausedUntil.IsZero():
		return "GitHub asked for a pause until " + rate.PausedUntil.UTC().Format(time.RFC3339)
	case rate.Known:
		return fmt.Sprintf("rate limit: %d of %d requests left, the reserve; reset at %s", rate.Remaining, rate.Limit,
			rate.Reset.UTC().Format(time.RFC3339))
	}
	return err.Error()
}
