package github_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"salve/internal/apierr"
	"salve/internal/prow/github"
	"salve/internal/prow/githubsim"
)

func patience(d time.Duration) func(*github.Options) {
	return func(o *github.Options) { o.MaxWait = d }
}

func reserve(n int) func(*github.Options) { return func(o *github.Options) { o.Reserve = n } }

func uncached(o *github.Options) { o.CacheBytes = -1 }

// TestReserveIsLeftToOthers: the client stops before GitHub does.
func TestReserveIsLeftToOthers(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, world(), reserve(100), uncached)
		b.sim.Limit("root", 105)
		var err error
		for n := 0; err == nil && n < 50; n++ {
			_, err = b.client.Repository(t.Context(), widgets)
		}
		if apierr.ClassOf(err) != apierr.Throttled || !strings.Contains(err.Error(), "100 are reserved") {
			t.Fatalf("class %s: %v", apierr.ClassOf(err), err)
		}
		if wait := apierr.RetryAfter(err); wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("to wait: %s", wait)
		}
		rate := b.client.Remaining()
		if !rate.Known || rate.Remaining != 100 || rate.Limit != 5000 {
			t.Errorf("%+v", rate)
		}
		if calls := b.sim.Calls(); len(calls) != 5 {
			t.Errorf("%d calls", len(calls))
		}
	})
}

// TestReserveHoldsForManyAtOnce: what is under way counts.
func TestReserveHoldsForManyAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, world(), reserve(10), uncached)
		b.sim.Limit("root", 15)
		if _, err := b.client.Repository(t.Context(), widgets); err != nil {
			t.Fatal(err)
		}
		b.sim.Inject(githubsim.Fault{Delay: time.Second, Times: -1})
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() { _, _ = b.client.Repository(t.Context(), widgets) })
		}
		all.Wait()
		if rate := b.client.Remaining(); rate.Remaining != 10 {
			t.Errorf("%+v", rate)
		}
	})
}

// TestWaitsForTheReset when it may, and no longer than it may.
func TestWaitsForTheReset(t *testing.T) {
	for name, row := range map[string]struct {
		patience time.Duration
		limit    int
		waits    bool
	}{
		"may wait":                        {2 * time.Hour, 0, true},
		"may wait, with one left":         {2 * time.Hour, 1, true},
		"may not wait":                    {0, 0, false},
		"may wait for less than it takes": {time.Minute, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				b := newBench(t, world(), patience(row.patience), uncached)
				b.sim.Limit("root", row.limit)
				began := time.Now()
				_, err := b.client.Repository(t.Context(), widgets)
				if err == nil && row.limit > 0 {
					_, err = b.client.Repository(t.Context(), widgets)
				}
				took := time.Since(began)
				if row.waits && (err != nil || took < 59*time.Minute || took > 61*time.Minute) {
					t.Errorf("took %s: %v", took, err)
				}
				if !row.waits && (apierr.ClassOf(err) != apierr.Throttled || took > 0) {
					t.Errorf("took %s, class %s: %v", took, apierr.ClassOf(err), err)
				}
			})
		})
	}
}

// TestWaitEndsWithTheContext rather than with the window.
func TestWaitEndsWithTheContext(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, world(), patience(2*time.Hour))
		b.sim.Limit("root", 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if _, err := b.client.Repository(ctx, widgets); apierr.ClassOf(err) != apierr.Throttled {
			t.Errorf("class %s: %v", apierr.ClassOf(err), err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("took %s", took)
		}
	})
}

// TestSecondaryLimitHoldsEverythingBack for as long as GitHub asked, changes too.
func TestSecondaryLimitHoldsEverythingBack(t *testing.T) {
	for name, row := range map[string]struct {
		fault githubsim.Fault
		pause time.Duration
	}{
		"403 with Retry-After":    {githubsim.Fault{RetryAfter: 90 * time.Second}, 90 * time.Second},
		"429 with Retry-After":    {githubsim.Fault{RetryAfter: 90 * time.Second, Status: 429}, 90 * time.Second},
		"403 without Retry-After": {githubsim.Fault{}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				b := newBench(t, world(), uncached)
				branch := b.branch(t, "main")
				row.fault.Secondary = true
				b.sim.Inject(row.fault)
				_, err := b.client.Repository(t.Context(), widgets)
				if apierr.ClassOf(err) != apierr.Throttled || apierr.RetryAfter(err) != row.pause ||
					!strings.Contains(err.Error(), "secondary rate limit") {
					t.Fatalf("class %s after %s: %v", apierr.ClassOf(err), apierr.RetryAfter(err), err)
				}
				asked := len(b.sim.Calls())
				_, err = b.client.Repository(t.Context(), widgets)
				if apierr.ClassOf(err) != apierr.Throttled {
					t.Errorf("read in the pause: %v", err)
				}
				_, err = b.client.SetProtection(permitted(t), branch, github.Settings{})
				if apierr.ClassOf(err) != apierr.Throttled {
					t.Errorf("changed in the pause: %v", err)
				}
				if len(b.sim.Calls()) != asked || b.client.Remaining().PausedUntil.IsZero() {
					t.Errorf("%d calls, %+v", len(b.sim.Calls())-asked, b.client.Remaining())
				}
				time.Sleep(row.pause)
				if _, err := b.client.Repository(t.Context(), widgets); err != nil {
					t.Errorf("after the pause: %v", err)
				}
			})
		})
	}
}

// TestUnchangedCostsNothing: a second read is a 304, which is not counted.
func TestUnchangedCostsNothing(t *testing.T) {
	for _, strong := range []bool{false, true} {
		virtual(t, func(t *testing.T) {
			w := world()
			w.Repo("kube/widgets").Branch("main").Protection = githubsim.Require("unit")
			sim := githubsim.New(githubsim.Options{World: w, Strong: strong})
			client := newClient(t, sim)
			branch, err := client.Branch(t.Context(), widgets, "main")
			if err != nil {
				t.Fatal(err)
			}
			first, err := client.Protection(t.Context(), branch)
			if err != nil {
				t.Fatal(err)
			}
			before := client.Remaining().Remaining
			second, err := client.Protection(t.Context(), branch)
			if err != nil || string(second.Object) != string(first.Object) || second.ETag != first.ETag {
				t.Errorf("%+v, %v", second, err)
			}
			calls := sim.Calls()
			if last := calls[len(calls)-1]; last.Status != 304 || last.Counted || client.Remaining().Remaining != before {
				t.Errorf("%+v, %+v", last, client.Remaining())
			}
			sim.Update(func(w *githubsim.World) {
				w.Repo("kube/widgets").Branch("main").Protection = githubsim.Require("unit", "e2e")
			})
			third, err := client.Protection(t.Context(), branch)
			if err != nil || len(third.Settings.StatusChecks.Checks) != 2 || third.ETag == first.ETag {
				t.Errorf("%+v, %v", third, err)
			}
		})
	}
}

// TestCacheIsBounded: what does not fit is asked for again in full.
func TestCacheIsBounded(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, world(), func(o *github.Options) { o.CacheBytes = 1000 })
		for range 2 {
			for _, name := range []string{"main", "release-1"} {
				b.branch(t, name)
			}
			if _, err := b.client.Repository(t.Context(), widgets); err != nil {
				t.Fatal(err)
			}
		}
		counted := 0
		for _, call := range b.sim.Calls() {
			if call.Counted {
				counted++
			}
		}
		if counted < 5 {
			t.Errorf("%d of 6 were counted", counted)
		}
	})
}

func TestRateLimitIsAskedForWhenNothingIsLeft(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, world())
		b.sim.Limit("root", 0)
		_, _ = b.client.Repository(t.Context(), widgets)
		limits, err := b.client.RateLimits(t.Context())
		if err != nil || limits.Core.Remaining != 0 || limits.Core.Limit != 5000 || limits.GraphQL.Remaining != 5000 {
			t.Fatalf("%+v, %v", limits, err)
		}
		if wait := time.Until(limits.Core.Reset); wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("reset in %s", wait)
		}
	})
}

// TestStumblesAreRepeated for reads: a 502, a cut connection, half a body.
func TestStumblesAreRepeated(t *testing.T) {
	for name, fault := range map[string]githubsim.Fault{
		"502": {Status: 502}, "cut": {Cut: githubsim.CutBefore}, "half a body": {Cut: githubsim.CutBody},
		"too slow": {Delay: 40 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T) {
				b := newBench(t, world())
				fault.Times = 2
				b.sim.Inject(fault)
				if _, err := b.client.Repository(t.Context(), widgets); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// limits answers with the headers of a rate limit.
type limits struct {
	remaining int
	reset     time.Time
	date      time.Time
}

func (l limits) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(`{"full_name": "kube/widgets"}`)),
		Header: http.Header{
			"Content-Type": {"application/json"}, "Date": {l.date.UTC().Format(http.TimeFormat)},
			"X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Remaining": {strconv.Itoa(l.remaining)},
			"X-Ratelimit-Reset": {strconv.FormatInt(l.reset.Unix(), 10)},
		},
	}, nil
}

// TestLeastOfOneWindowIsTrue: answers come in any order, and those of a window that is over say nothing.
func TestLeastOfOneWindowIsTrue(t *testing.T) {
	virtual(t, func(t *testing.T) {
		now := time.Now()
		answers := []struct {
			limits
			want int
		}{
			{limits{50, now.Add(time.Hour), now}, 50}, {limits{60, now.Add(time.Hour + time.Second), now}, 50},
			{limits{40, now.Add(time.Hour), now}, 40}, {limits{10, now.Add(-time.Minute), now}, 40},
			{limits{4999, now.Add(2 * time.Hour), now}, 4999},
		}
		at := 0
		client := newClient(t, githubsim.New(githubsim.Options{}), uncached, func(o *github.Options) {
			o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) { return answers[at].RoundTrip(r) })
		})
		for ; at < len(answers); at++ {
			if _, err := client.Repository(t.Context(), widgets); err != nil {
				t.Fatal(err)
			}
			if got := client.Remaining().Remaining; got != answers[at].want {
				t.Errorf("after answer %d: %d remain, want %d", at, got, answers[at].want)
			}
		}
	})
}

// TestClocksAreNotCompared: a GitHub whose clock is a day ahead is waited for no longer than it asks.
func TestClocksAreNotCompared(t *testing.T) {
	virtual(t, func(t *testing.T) {
		theirs := time.Now().Add(24 * time.Hour)
		client := newClient(t, githubsim.New(githubsim.Options{}), func(o *github.Options) {
			o.Transport = limits{remaining: 7, reset: theirs.Add(10 * time.Minute), date: theirs}
		})
		if _, err := client.Repository(t.Context(), widgets); err != nil {
			t.Fatal(err)
		}
		if wait := time.Until(client.Remaining().Reset); wait < 10*time.Minute || wait > 11*time.Minute {
			t.Errorf("reset in %s", wait)
		}
	})
}

// TestServerWithoutLimit: a GitHub Enterprise Server may have none, and says so.
func TestServerWithoutLimit(t *testing.T) {
	virtual(t, func(t *testing.T) {
		b := newBench(t, world())
		b.sim.Inject(githubsim.Fault{Path: "/rate_limit", Status: 404, Message: "Rate limiting is not enabled."})
		_, err := b.client.RateLimits(t.Context())
		if !errors.Is(err, github.ErrNotLimited) || apierr.ClassOf(err) != apierr.Missing {
			t.Errorf("class %s: %v", apierr.ClassOf(err), err)
		}
	})
}
