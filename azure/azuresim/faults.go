package azuresim

import (
	"net/http"
	"strings"
	"time"
)

// Fault is one thing that goes wrong: exactly one of its fields is set. Times are counted from the start of the world.
type Fault struct {
	Throttle       *Throttle       `yaml:"throttle"`
	ServerError    *ServerError    `yaml:"serverError"`
	LostResponse   *LostResponse   `yaml:"lostResponse"`
	RBACLag        *RBACLag        `yaml:"rbacLag"`
	Deny           *Deny           `yaml:"deny"`
	Hang           *Hang           `yaml:"hang"`
	Quota          *Quota          `yaml:"quota"`
	Capacity       *Capacity       `yaml:"capacity"`
	NodeNeverJoins *NodeNeverJoins `yaml:"nodeNeverJoins"`
	PDBBlocks      *PDBBlocks      `yaml:"pdbBlocks"`
	Intruder       *Intruder       `yaml:"intruder"`
	Background     *Background     `yaml:"background"`
	Recovers       *Recovers       `yaml:"recovers"`
}

// Match selects calls. An empty field matches everything, but an empty API is "arm".
type Match struct {
	// API is arm, kubernetes or login.
	API string `yaml:"api"`
	// Method is an HTTP method, or a Kubernetes verb. Without case.
	Method string `yaml:"method"`
	// Path is a pattern over Call.Resource, without case; * stands for any characters, slashes included.
	Path string `yaml:"path"`
	// After and Until bound the time of the call.
	After Duration `yaml:"after"`
	Until Duration `yaml:"until"`
}

// Throttle answers 429 to the first calls that match.
type Throttle struct {
	Match      Match    `yaml:"match"`
	First      int      `yaml:"first"`
	RetryAfter Duration `yaml:"retryAfter"`
}

// ServerError answers a 5xx to the first calls that match.
type ServerError struct {
	Match  Match `yaml:"match"`
	First  int   `yaml:"first"`
	Status int   `yaml:"status"`
}

// LostResponse drops the answer of the Nth mutating call that matches, after the change happened.
type LostResponse struct {
	Match Match `yaml:"match"`
	Nth   int   `yaml:"nth"`
}

// RBACLag answers 403 AuthorizationFailed on the Activity Log until For has passed.
type RBACLag struct {
	For Duration `yaml:"for"`
}

// Deny answers 403 to every call that matches.
type Deny struct {
	Match Match  `yaml:"match"`
	Code  string `yaml:"code"`
}

// Hang executes the first calls that match at once and answers them only after For.
type Hang struct {
	Match Match    `yaml:"match"`
	First int      `yaml:"first"`
	For   Duration `yaml:"for"`
}

// Quota refuses to create a pool of more than Over machines.
type Quota struct {
	Pool string `yaml:"pool"`
	Over int    `yaml:"over"`
}

// Capacity lets the creation of a pool end Failed, After it began (default: half of its duration).
type Capacity struct {
	Pool  string   `yaml:"pool"`
	Code  string   `yaml:"code"`
	After Duration `yaml:"after"`
}

// NodeNeverJoins keeps that many machines of a created pool from ever registering.
type NodeNeverJoins struct {
	Pool  string `yaml:"pool"`
	Nodes int    `yaml:"nodes"`
}

// PDBBlocks adds a PodDisruptionBudget that allows no disruption of the named app, Until some time (zero: for ever).
type PDBBlocks struct {
	App   string   `yaml:"app"`
	Until Duration `yaml:"until"`
}

// Intruder starts an update of the named pool (empty: of the cluster) at a time, or after the first call that matches, or
// as soon after as nothing else runs.
type Intruder struct {
	At    Duration          `yaml:"at"`
	After *Match            `yaml:"after"`
	Pool  string            `yaml:"pool"`
	For   Duration          `yaml:"for"`
	Tags  map[string]string `yaml:"tags"` // merged into the pool's tags
}

// Background is an operation that AKS starts on the cluster by itself at a time, or as soon after as nothing else runs.
type Background struct {
	At  Duration `yaml:"at"`
	For Duration `yaml:"for"`
}

// Recovers heals the pool's scale set at a time: its missing machines register and it becomes Succeeded.
type Recovers struct {
	Pool string   `yaml:"pool"`
	At   Duration `yaml:"at"`
}

// Names for pools that a fault can use instead of a pool's own name.
const (
	anyStandIn   = "stand-in"
	anyRecreated = "recreated"
)

// verdict is what the faults make of one call.
type verdict struct {
	status     int // 0: let it through
	code       string
	retryAfter time.Duration
	lost       bool
	hang       time.Duration
}

// faultCounter remembers how often each fault matched.
type faultCounter struct {
	faults []Fault
	seen   []int
	start  time.Time
}

func newFaultCounter(faults []Fault, start time.Time) *faultCounter {
	return &faultCounter{faults: faults, seen: make([]int, len(faults)), start: start}
}

// judge counts the call against every fault; the first that refuses it decides.
func (c *faultCounter) judge(call Call) verdict {
	var v verdict
	for i, fault := range c.faults {
		if v.status != 0 {
			break
		}
		switch {
		case fault.Throttle != nil && c.firstOf(i, fault.Throttle.Match, fault.Throttle.First, call):
			v.status, v.code, v.retryAfter = http.StatusTooManyRequests, "TooManyRequests", fault.Throttle.RetryAfter.span()
		case fault.ServerError != nil && c.firstOf(i, fault.ServerError.Match, fault.ServerError.First, call):
			v.status, v.code = fault.ServerError.Status, "InternalServerError"
		case fault.RBACLag != nil && c.hits(Match{Path: activityLogPattern, Until: fault.RBACLag.For}, call):
			v.status, v.code = http.StatusForbidden, "AuthorizationFailed"
		case fault.Deny != nil && c.hits(fault.Deny.Match, call):
			v.status, v.code = http.StatusForbidden, fault.Deny.Code
		case fault.LostResponse != nil && call.Mutating && c.nthOf(i, fault.LostResponse.Match, fault.LostResponse.Nth, call):
			v.lost = true
		case fault.Hang != nil && c.firstOf(i, fault.Hang.Match, fault.Hang.First, call):
			v.hang = fault.Hang.For.span()
		}
	}
	return v
}

const activityLogPattern = "*/providers/Microsoft.Insights/eventtypes/management/values"

func (c *faultCounter) firstOf(index int, match Match, first int, call Call) bool {
	if !c.hits(match, call) {
		return false
	}
	c.seen[index]++
	return c.seen[index] <= first
}

func (c *faultCounter) nthOf(index int, match Match, nth int, call Call) bool {
	if !c.hits(match, call) {
		return false
	}
	c.seen[index]++
	return c.seen[index] == nth
}

func (c *faultCounter) hits(match Match, call Call) bool {
	api := match.API
	if api == "" {
		api = apiARM
	}
	age := call.At.Sub(c.start)
	return api == call.API &&
		(match.Method == "" || strings.EqualFold(match.Method, call.Verb)) &&
		(match.Path == "" || globMatches(strings.ToLower(match.Path), strings.ToLower(call.Resource))) &&
		age >= match.After.span() &&
		(match.Until == 0 || age < match.Until.span())
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
