package azuresim

import (
	"io"
	"net"
	"syscall"
	"time"
)

// Values of Call.API.
const (
	apiARM        = "arm"
	apiKubernetes = "kubernetes"
	apiLogin      = "login"
)

// Call is one request to the World.
type Call struct {
	Seq int       `json:"seq"`
	At  time.Time `json:"when"`
	// API is "arm", "kubernetes", or "login" for the identity endpoints of clients that come over HTTPS.
	API string `json:"api"`
	// Verb is an HTTP method, or get, list, watch, create, update, patch, delete.
	Verb string `json:"method"`
	// Resource is the URL's path, or such as "nodes", "nodes/name", "pods/eviction namespace/name".
	Resource string `json:"path"`
	// Mutating: executing it may change the world.
	Mutating bool `json:"mutating"`
	// RequestID is the x-ms-client-request-id of ARM calls.
	RequestID string `json:"clientRequestId"`
	// Status is what the execution came to, also when the answer was lost; 0 when it was not executed, or not yet.
	Status int `json:"status"`
}

// Verdict is what becomes of a call.
type Verdict int

const (
	// Proceed executes and answers the call.
	Proceed Verdict = iota
	// DropBefore is a network error; the call is not executed.
	DropBefore
	// DropAfter executes the call and loses its answer: a network error.
	DropAfter
)

// Calls lists every call so far, in the order of their arrival.
func (w *World) Calls() []Call {
	w.callMutex.Lock()
	defer w.callMutex.Unlock()
	return append([]Call(nil), w.calls...)
}

// Intercept asks hook for the verdict on every call, before it is executed; nil asks nobody. The hook runs on the
// caller's goroutine and without any of the World's locks: it may use the World.
func (w *World) Intercept(hook func(Call) Verdict) {
	w.callMutex.Lock()
	defer w.callMutex.Unlock()
	w.hook = hook
}

// record gives the call its number and time.
func (w *World) record(call Call) Call {
	w.callMutex.Lock()
	defer w.callMutex.Unlock()
	call.Seq, call.At = len(w.calls)+1, w.clock.Now()
	w.calls = append(w.calls, call)
	return call
}

func (w *World) finish(call Call, status int) {
	w.callMutex.Lock()
	defer w.callMutex.Unlock()
	w.calls[call.Seq-1].Status = status
}

func (w *World) ask(call Call) Verdict {
	w.callMutex.Lock()
	hook := w.hook
	w.callMutex.Unlock()
	if hook == nil {
		return Proceed
	}
	return hook(call)
}

// networkError is what a lost request or a lost answer looks like.
func networkError(executed bool) error {
	if executed {
		return io.ErrUnexpectedEOF
	}
	return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}
