package azuresim

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"salve/internal/azuresim/apiserver"
)

// Requests chooses calls by what they ask for: by API ("arm" when empty, "kubernetes", "login"), method and path as
// Call has them. Empty is any method or path; * in a path stands for any run of characters.
type Requests struct {
	API, Method, Path string
	// From is the first one that is chosen, counted among those that match; 0 is the first of all. Times is how many
	// are; 0 is all.
	From, Times int
}

func (r Requests) match(call Call) bool {
	fault := activeFault{}
	return fault.hit(Match{API: r.API, Method: r.Method, Path: r.Path}, call)
}

// hook is what a test does to the calls that it chooses.
type hook struct {
	requests      Requests
	seen          int
	before, after func()
	answer        *fixedAnswer
	rewrite       func(map[string]any)
	verdict       Verdict
	delay         time.Duration
}

type fixedAnswer struct {
	status int
	body   any
}

// Before runs do before a call is executed: the moment between a decision and its request. Like every hook it runs on
// the caller's goroutine without the World's locks, and may use the World.
func (w *World) Before(r Requests, do func()) { w.addHook(&hook{requests: r, before: do}) }

// After runs do when a call was executed, before its answer is given: the moment between a request
// and the next decision.
func (w *World) After(r Requests, do func()) { w.addHook(&hook{requests: r, after: do}) }

// Answer answers calls in place of the World, which executes nothing. The body is what JSON can be made of; for
// Kubernetes an API object, or an error for its Status. See ErrorBody for ARM's errors.
func (w *World) Answer(r Requests, status int, body any) {
	w.addHook(&hook{requests: r, answer: &fixedAnswer{status, body}})
}

// Rewrite changes the body of ARM's answers to calls that were executed.
func (w *World) Rewrite(r Requests, edit func(body map[string]any)) {
	w.addHook(&hook{requests: r, rewrite: edit})
}

// Lose loses calls, or their answers.
func (w *World) Lose(r Requests, verdict Verdict) { w.addHook(&hook{requests: r, verdict: verdict}) }

// Delay lets answers come late, to calls that were executed in time.
func (w *World) Delay(r Requests, by time.Duration) { w.addHook(&hook{requests: r, delay: by}) }

// ErrorBody is an error in the envelope of ARM.
func ErrorBody(code, message string) map[string]any {
	return map[string]any{"error": map[string]any{"code": code, "message": message}}
}

func (w *World) addHook(h *hook) {
	w.callMutex.Lock()
	defer w.callMutex.Unlock()
	w.hooks = append(w.hooks, h)
}

// chosen are the hooks of a call, in the order in which they were added.
func (w *World) chosen(call Call) []*hook {
	w.callMutex.Lock()
	defer w.callMutex.Unlock()
	var all []*hook
	for _, h := range w.hooks {
		if !h.requests.match(call) {
			continue
		}
		h.seen++
		first := max(h.requests.From, 1)
		if h.seen >= first && (h.requests.Times == 0 || h.seen < first+h.requests.Times) {
			all = append(all, h)
		}
	}
	return all
}

// treatment is what becomes of one call by its hooks and the interceptor.
type treatment struct {
	verdict Verdict
	answer  *fixedAnswer
	delay   time.Duration
	hooks   []*hook
}

// decide runs what is to be run before a call and says what becomes of it.
func (w *World) treat(call Call) treatment {
	t := treatment{hooks: w.chosen(call)}
	for _, h := range t.hooks {
		if h.before != nil {
			h.before()
		}
		if h.answer != nil && t.answer == nil {
			t.answer = h.answer
		}
		t.verdict, t.delay = max(t.verdict, h.verdict), t.delay+h.delay
	}
	if t.verdict == Proceed {
		t.verdict = w.ask(call)
	}
	return t
}

// executed runs what is to be run after a call.
func (t treatment) executed() {
	for _, h := range t.hooks {
		if h.after != nil {
			h.after()
		}
	}
}

// armAnswer is the answer that stands in place of ARM's, or ARM's with what is rewritten.
func (t treatment) armAnswer(execute func() answer) answer {
	if t.answer != nil {
		return answer{status: t.answer.status, body: t.answer.body}
	}
	a := execute()
	for _, h := range t.hooks {
		if h.rewrite == nil {
			continue
		}
		var body map[string]any
		if err := json.Unmarshal(a.encoded(), &body); err == nil {
			h.rewrite(body)
			a.body = body
		}
	}
	return a
}

// kubernetesAnswer is the answer that stands in place of the API server's.
func (t treatment) kubernetesAnswer(
	ctx context.Context, api *apiserver.Server, asked *apiserver.Request,
	execute func(context.Context) apiserver.Response,
) apiserver.Response {
	if t.answer == nil {
		return execute(ctx)
	}
	switch body := t.answer.body.(type) {
	case runtime.Object:
		return api.Answer(asked, t.answer.status, body)
	case error:
		return api.Refuse(asked, body)
	}
	panic("azuresim: an answer of Kubernetes is an API object or an error") // a mistake of the test's own
}
