package github

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"salve/internal/apierr"
	"salve/internal/clock"
)

const (
	// secondaryPause is how long to wait after a secondary limit that names no time
	// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit).
	secondaryPause = time.Minute
	// resetSkew is by how much GitHub's own servers differ about the end of one window.
	resetSkew = 30 * time.Second
)

// Rate is what is left of the rate limit of the REST API's core resource.
type Rate struct {
	// Known tells whether GitHub has said it in the window that lasts.
	Known bool
	// Limit and Remaining are requests in this window.
	Limit, Remaining int
	// Reset is the end of the window on this machine's clock.
	Reset time.Time
	// PausedUntil is until when GitHub asked for silence by a secondary limit; zero when it didn't.
	PausedUntil time.Time
}

// budget keeps count of the rate limit, from the headers of answers.
type budget struct {
	clock   clock.Clock
	reserve int

	lock     sync.Mutex
	rate     Rate
	epoch    int64 // the end of the window as GitHub wrote it
	inFlight int
}

func newBudget(clk clock.Clock, reserve int) *budget { return &budget{clock: clk, reserve: reserve} }

// take counts a request that is about to be sent. It fails with class Throttled, and with the time to wait, for one
// that would go below the reserve or into a pause.
func (b *budget) take() (done func(), err error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	now := b.clock.Now()
	if wait := b.rate.PausedUntil.Sub(now); wait > 0 {
		return nil, throttled(wait, "secondary rate limit: GitHub asked for a pause until %s",
			b.rate.PausedUntil.UTC().Format(time.RFC3339))
	}
	if b.rate.Known && !now.Before(b.rate.Reset) {
		b.rate.Known = false
	}
	if b.rate.Known && b.rate.Remaining-b.inFlight <= b.reserve {
		return nil, throttled(b.rate.Reset.Sub(now), "rate limit: %d of %d requests left, %d are reserved; reset at %s",
			b.rate.Remaining, b.rate.Limit, b.reserve, b.rate.Reset.UTC().Format(time.RFC3339))
	}
	b.inFlight++
	return func() {
		b.lock.Lock()
		defer b.lock.Unlock()
		b.inFlight--
	}, nil
}

func throttled(wait time.Duration, format string, args ...any) error {
	return &apierr.Error{Class: apierr.Throttled, RetryAfter: wait, Err: fmt.Errorf(format, args...)}
}

// observe learns from the headers of an answer.
func (b *budget) observe(header http.Header) {
	resource := header.Get("X-Ratelimit-Resource")
	remaining, errRemaining := strconv.Atoi(header.Get("X-Ratelimit-Remaining"))
	limit, errLimit := strconv.Atoi(header.Get("X-Ratelimit-Limit"))
	epoch, errEpoch := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64)
	if errRemaining != nil || errLimit != nil || errEpoch != nil || resource != "" && resource != "core" {
		return
	}
	b.learn(limit, remaining, epoch, header)
}

// learn takes in what an answer says. Answers of concurrent requests come in any order: within one window the least
// is true.
func (b *budget) learn(limit, remaining int, epoch int64, header http.Header) {
	b.lock.Lock()
	defer b.lock.Unlock()
	skew := int64(resetSkew / time.Second)
	current := b.rate.Known && b.clock.Now().Before(b.rate.Reset)
	switch {
	case current && epoch < b.epoch-skew:
		return // of a window that is over
	case current && epoch <= b.epoch+skew:
		b.rate.Remaining, b.rate.Limit = min(b.rate.Remaining, remaining), limit
		return
	}
	paused := b.rate.PausedUntil
	b.epoch, b.rate = epoch, b.rateOf(limit, remaining, epoch, header)
	b.rate.PausedUntil = paused
}

func (b *budget) rateOf(limit, remaining int, epoch int64, header http.Header) Rate {
	now := b.clock.Now()
	return Rate{Known: limit > 0, Limit: limit, Remaining: remaining, Reset: now.Add(lasts(epoch, header, now))}
}

// untilReset is how long the window of an answer lasts.
func untilReset(header http.Header, now time.Time) time.Duration {
	epoch, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil {
		return secondaryPause
	}
	return lasts(epoch, header, now)
}

// lasts is how long a window lasts. GitHub's own clock is asked, by the Date of the same answer: two clocks are never
// compared.
func lasts(epoch int64, header http.Header, now time.Time) time.Duration {
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	// A second more, because the headers have whole seconds.
	return max(time.Unix(epoch, 0).Sub(now), 0) + time.Second
}

// pause keeps all requests back.
func (b *budget) pause(wait time.Duration) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if until := b.clock.Now().Add(wait); until.After(b.rate.PausedUntil) {
		b.rate.PausedUntil = until
	}
}

func (b *budget) look() Rate {
	b.lock.Lock()
	defer b.lock.Unlock()
	seen, now := b.rate, b.clock.Now()
	seen.Known = seen.Known && now.Before(seen.Reset)
	if !seen.PausedUntil.After(now) {
		seen.PausedUntil = time.Time{}
	}
	return seen
}

// metered asks the budget before a request, and tells it the answer.
type metered struct {
	base   http.RoundTripper
	budget *budget
}

func (m *metered) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, "/rate_limit") {
		return m.base.RoundTrip(request) // it is not counted, and asked for when nothing is left
	}
	done, err := m.budget.take()
	if err != nil {
		closeBody(request)
		return nil, err
	}
	defer done()
	response, err := m.base.RoundTrip(request)
	if err == nil {
		m.budget.observe(response.Header)
	}
	return response, err
}
