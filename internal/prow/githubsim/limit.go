package githubsim

import (
	"net/http"
	"strconv"
	"time"
)

// window is a user's rate limit.
type window struct {
	limit, used int
	reset       time.Time
}

// Limit sets how many requests a user has left in the window that lasts.
func (s *Server) Limit(login string, remaining int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	w := s.windowOf(login)
	w.used = w.limit - remaining
}

// windowOf begins a window with a user's first request, or with the first one after the last window.
func (s *Server) windowOf(login string) *window {
	now := s.clock.Now()
	w := s.windows[login]
	if w == nil || !now.Before(w.reset) {
		w = &window{limit: s.options.Limit, reset: now.Add(s.options.Window).Truncate(time.Second)}
		if login == "" {
			w.limit = min(w.limit, 60)
		}
		s.windows[login] = w
	}
	return w
}

func (c *call) window() *window { return c.sim.windowOf(c.token.Login) }

// spent is what one request cost of the points of a minute.
type spent struct {
	at     time.Time
	points int
}

// points are what a request costs of the secondary limit
// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
func points(method string) int {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return 1
	}
	return 5
}

// tooFast tells how long a user has to be silent, who spent the points of this minute; zero for nobody.
func (c *call) tooFast() time.Duration {
	limit := c.sim.options.PointsPerMinute
	if limit == 0 {
		return 0
	}
	login, sum := c.token.Login, points(c.request.Method)
	var recent []spent
	for _, one := range c.sim.spent[login] {
		if c.now.Sub(one.at) < time.Minute {
			recent, sum = append(recent, one), sum+one.points
		}
	}
	if sum > limit {
		c.sim.spent[login] = recent
		return time.Minute
	}
	c.sim.spent[login] = append(recent, spent{c.now, points(c.request.Method)})
	return 0
}

// limited refuses a request for being too many
// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api).
func (c *call) limited(fault *Fault) *reply {
	if fault != nil && fault.Secondary {
		status := fault.Status
		if status == 0 {
			status = http.StatusForbidden
		}
		return c.secondary(status, fault.RetryAfter)
	}
	if c.path() == "rate_limit" {
		return nil
	}
	if pause := c.tooFast(); pause > 0 {
		return c.secondary(http.StatusForbidden, pause)
	}
	if c.window().used < c.window().limit {
		return nil
	}
	c.window().used = c.window().limit
	answer := c.fail(http.StatusForbidden, "API rate limit exceeded for user ID "+strconv.FormatInt(c.userID(), 10)+
		". If you reach out to GitHub Support for help, please include the request ID "+c.id+".")
	answer.body.(object)["documentation_url"] = limitDocs
	return c.encoded(answer)
}

const limitDocs = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"

// secondary refuses in the words of the secondary limit.
func (c *call) secondary(status int, pause time.Duration) *reply {
	answer := c.fail(status, "You have exceeded a secondary rate limit. Please wait a few minutes before you try "+
		"again. If you reach out to GitHub Support for help, please include the request ID "+c.id+".")
	answer.body.(object)["documentation_url"] = limitDocs + "#about-secondary-rate-limits"
	if pause > 0 {
		answer.header.Set("Retry-After", strconv.Itoa(int(pause/time.Second)))
	}
	return c.encoded(answer)
}
