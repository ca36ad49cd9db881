package githubsim

import (
	"net/http"
	"strings"
	"time"
)

// Cut is when a connection ends.
type Cut string

const (
	// CutBefore ends it before anything happened.
	CutBefore Cut = "before"
	// CutAfter ends it after the request did its work, before an answer.
	CutAfter Cut = "after"
	// CutBody ends it in the middle of the answer's body.
	CutBody Cut = "body"
)

// Fault is a lapse of GitHub's.
type Fault struct {
	// Method and Path choose requests; empty is any. Path is a part of the escaped path with its query.
	Method, Path string
	// After lets that many pass first. Times is how often it strikes; zero is once, negative for ever.
	After, Times int
	// Delay comes before all else.
	Delay time.Duration
	// Status is the answer in the place of the work, with Message, such as 502.
	Status  int
	Message string
	// Secondary is a secondary rate limit in the place of the work: 403 or 429 by Status, with RetryAfter when it is
	// not zero.
	Secondary  bool
	RetryAfter time.Duration
	Cut        Cut
	// Plain answers with an HTML page, as a proxy does.
	Plain bool
}

// Inject adds a fault.
func (s *Server) Inject(fault Fault) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if fault.Times == 0 {
		fault.Times = 1
	}
	s.faults = append(s.faults, &fault)
}

// Heal takes all faults away.
func (s *Server) Heal() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.faults = nil
}

// faultFor gives the first fault that strikes a request.
func (s *Server) faultFor(r *http.Request) *Fault {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, fault := range s.faults {
		if fault.Method != "" && fault.Method != r.Method || !strings.Contains(r.URL.RequestURI(), fault.Path) {
			continue
		}
		if fault.After > 0 {
			fault.After--
			continue
		}
		if fault.Times != 0 {
			fault.Times--
			return fault
		}
	}
	return nil
}

// refusedBy is the answer that a fault gives in the place of the work; nil for none.
func (c *call) refusedBy(fault *Fault) *reply {
	switch {
	case fault == nil, fault.Secondary:
		return nil
	case fault.Plain:
		status := max(fault.Status, http.StatusOK)
		return &reply{
			status: status, header: http.Header{"Content-Type": {"text/html"}}, raw: []byte("<html>please log in</html>"),
		}
	case fault.Status != 0:
		return c.fail(fault.Status, fault.Message)
	}
	return nil
}
