package azuresim

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// effect is what the faults make of one call.
type effect struct {
	status     int // 0: let it through
	code       string
	retryAfter time.Duration
	lost       bool
	hang       time.Duration
}

// faultSet is the faults that a world has at the moment: the scenario's, and those injected since.
type faultSet struct {
	active []*activeFault
}

// activeFault is a fault and what has become of it.
type activeFault struct {
	Fault
	since time.Time // its times are counted from here
	seen  int       // calls that matched
	// started: the call that a concurrent writer waits for has come.
	started bool
	// entries are what it will do by itself, undo is what it takes back when it is lifted.
	entries []*event
	undo    func()
}

func (t *faultSet) add(fault Fault, since time.Time) *activeFault {
	added := &activeFault{Fault: fault, since: since}
	t.active = append(t.active, added)
	return added
}

// postpone counts the times of every fault from later on.
func (t *faultSet) postpone(d time.Duration) {
	for _, fault := range t.active {
		fault.since = fault.since.Add(d)
	}
}

// lift ends every fault. What it did stays done, but for budgets that forbid every disruption.
func (t *faultSet) lift() {
	for _, fault := range t.active {
		for _, entry := range fault.entries {
			entry.off = true
		}
		if fault.undo != nil {
			fault.undo()
		}
	}
	t.active = nil
}

// apply counts the call against every fault; the first that refuses it decides.
func (t *faultSet) apply(call Call) effect {
	var v effect
	for _, fault := range t.active {
		if v.status != 0 {
			break
		}
		switch {
		case fault.Throttle != nil && fault.first(fault.Throttle.Match, fault.Throttle.First, call):
			v.status, v.code, v.retryAfter = http.StatusTooManyRequests, "TooManyRequests", fault.Throttle.RetryAfter.span()
		case fault.ServerError != nil && fault.first(fault.ServerError.Match, fault.ServerError.First, call):
			v.status, v.code = fault.ServerError.Status, "InternalServerError"
		case fault.RBACLag != nil && fault.hit(Match{Path: activityLogPattern, Until: fault.RBACLag.For}, call):
			v.status, v.code = http.StatusForbidden, "AuthorizationFailed"
		case fault.Deny != nil && fault.hit(fault.Deny.Match, call):
			v.status, v.code = http.StatusForbidden, fault.Deny.Code
		case fault.LostResponse != nil && call.Mutating && fault.nth(fault.LostResponse.Match, fault.LostResponse.Nth, call):
			v.lost = true
		case fault.Hang != nil && fault.first(fault.Hang.Match, fault.Hang.First, call):
			v.hang = fault.Hang.For.span()
		}
	}
	return v
}

// denies tells whether the call would be refused for lack of rights. It counts nothing.
func (t *faultSet) denies(call Call) bool {
	return slices.ContainsFunc(t.active, func(f *activeFault) bool { return f.Deny != nil && f.hit(f.Deny.Match, call) })
}

const activityLogPattern = "*/providers/Microsoft.Insights/eventtypes/management/values"

func (f *activeFault) first(match Match, first int, call Call) bool {
	if !f.hit(match, call) {
		return false
	}
	f.seen++
	return f.seen <= first
}

func (f *activeFault) nth(match Match, nth int, call Call) bool {
	if !f.hit(match, call) {
		return false
	}
	f.seen++
	return f.seen == nth
}

func (f *activeFault) hit(match Match, call Call) bool {
	age := call.At.Sub(f.since)
	return match.api() == call.API &&
		(match.Method == "" || strings.EqualFold(match.Method, call.Verb)) &&
		(match.Path == "" || globMatches(strings.ToLower(match.Path), strings.ToLower(call.Resource))) &&
		age >= match.After.span() &&
		(match.Until == 0 || age < match.Until.span())
}

func (m Match) api() string {
	if m.API == "" {
		return apiARM
	}
	return m.API
}

// matches are the calls that a fault has to do with.
func (f *Fault) matches() []*Match {
	var all []*Match
	switch {
	case f.Throttle != nil:
		all = append(all, &f.Throttle.Match)
	case f.ServerError != nil:
		all = append(all, &f.ServerError.Match)
	case f.LostResponse != nil:
		all = append(all, &f.LostResponse.Match)
	case f.Deny != nil:
		all = append(all, &f.Deny.Match)
	case f.Hang != nil:
		all = append(all, &f.Hang.Match)
	case f.ConcurrentWriter != nil && f.ConcurrentWriter.After != nil:
		all = append(all, f.ConcurrentWriter.After)
	}
	return all
}

// ofKubernetesCalls: the fault has to do with calls to the cluster's API.
func (f *Fault) ofKubernetesCalls() bool {
	return slices.ContainsFunc(f.matches(), func(m *Match) bool { return m.api() == apiKubernetes })
}

// globMatches: * stands for any run of characters.
func globMatches(pattern, text string) bool {
	head, rest, wild := strings.Cut(pattern, "*")
	if !strings.HasPrefix(text, head) {
		return false
	}
	text = text[len(head):]
	if !wild {
		return text == ""
	}
	if rest == "" {
		return true
	}
	for i := range len(text) + 1 {
		if globMatches(rest, text[i:]) {
			return true
		}
	}
	return false
}
