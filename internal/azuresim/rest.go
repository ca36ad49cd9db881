package azuresim

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// request is one decoded request to ARM.
type request struct {
	method     string
	base       string // scheme and host that the caller used, for the URLs in answers
	query      url.Values
	header     http.Header
	body       []byte
	parameters map[string]string // of the route's path, by name in lower case
}

func (r *request) parameter(name string) string { return r.parameters[name] }

// ask is a parameter of the query; ARM takes its name in any case.
func (r *request) ask(name string) string {
	if values := r.query[name]; len(values) > 0 {
		return values[0]
	}
	for _, key := range slices.Sorted(maps.Keys(r.query)) {
		if values := r.query[key]; strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

func (r *request) version() string { return r.ask("api-version") }

// answer is what a request comes to.
type answer struct {
	status int
	header http.Header
	body   any // nil: none
}

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

func (a answer) with(key, value string) answer {
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(key, value)
	return a
}

// ServeHTTP speaks ARM, and the identity endpoints that a credential needs.
func (w *World) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	handler{w.ARM()}.ServeHTTP(response, r)
}

// serveARM answers a request to ARM.
func (w *World) serveARM(r *http.Request, body []byte) (*http.Response, error) {
	a, err := w.serve(r, r.URL.Scheme+"://"+r.URL.Host, body)
	if err != nil {
		return nil, err
	}
	return responseTo(r, a.status, a.header, a.encoded(), nil), nil
}

// serve is the way of every request: recorded, asked about, subjected to the faults, executed, answered.
func (w *World) serve(r *http.Request, base string, body []byte) (answer, error) {
	found, parameters := w.findRoute(r.Method, r.URL)
	call := w.record(Call{
		API: found.api, Verb: r.Method, Resource: r.URL.Path, Mutating: found.mutating,
		RequestID: r.Header.Get("x-ms-client-request-id"),
	})
	treated := w.treat(call)
	if treated.verdict == DropBefore {
		return answer{}, networkError(false)
	}
	if err := r.Context().Err(); err != nil {
		return answer{}, err
	}
	w.lock()
	injected := w.model.faults.apply(call)
	asked := &request{
		method: r.Method, base: base, query: r.URL.Query(), header: r.Header, body: body, parameters: parameters,
	}
	a := treated.armAnswer(func() answer { return w.answer(found, asked, injected) })
	w.startConcurrentWriters(call)
	w.finish(call, a.status)
	requestID := w.model.names.uuid("request")
	w.unlock()
	treated.executed()

	if !w.wait(r.Context(), injected.hang+treated.delay) {
		return answer{}, r.Context().Err()
	}
	if treated.verdict == DropAfter || injected.lost {
		return answer{}, networkError(true)
	}
	a = a.with("x-ms-request-id", requestID).with("x-ms-correlation-request-id", requestID).
		with("Date", w.clock.Now().UTC().Format(http.TimeFormat))
	if call.RequestID != "" {
		a = a.with("x-ms-client-request-id", call.RequestID)
	}
	if a.body != nil {
		a = a.with("Content-Type", "application/json; charset=utf-8")
	}
	return a, nil
}

// answer is the fault's, the front door's or the route's, in this order.
func (w *World) answer(found route, asked *request, injected effect) answer {
	switch {
	case injected.status == http.StatusTooManyRequests:
		seconds := int((injected.retryAfter + time.Second - 1) / time.Second)
		return armError(injected.status, injected.code,
			"The request is being throttled as the limit has been reached for operation type - "+asked.method+
				". For more information, see - https://aka.ms/srpthrottlinglimits").with("Retry-After", strconv.Itoa(seconds))
	case injected.status == http.StatusForbidden:
		return armError(injected.status, injected.code, "The client does not have authorization to perform the action, or "+
			"the scope is invalid. If access was recently granted, please refresh your credentials.")
	case injected.status != 0:
		return armError(injected.status, injected.code, "The server encountered an error. Please retry after some time.")
	case found.api == apiLogin:
		return found.handle(w, asked)
	case asked.header.Get("Authorization") == "":
		return armError(http.StatusUnauthorized, "AuthenticationFailed",
			"Authentication failed. The 'Authorization' header is missing.")
	}
	if found.unknown {
		return found.handle(w, asked)
	}
	if why := w.refuseVersion(found, asked); why != nil {
		return why.ofARM()
	}
	if why := w.scopeMissing(asked); why != nil {
		return why.ofARM()
	}
	return found.handle(w, asked)
}

// startConcurrentWriters lets those in who wait for a call like this one.
func (w *World) startConcurrentWriters(call Call) {
	for _, fault := range w.model.faults.active {
		writer := fault.ConcurrentWriter
		if writer == nil || writer.After == nil || fault.started || !fault.hit(*writer.After, call) ||
			w.model.cluster == nil {
			continue
		}
		fault.started = true
		w.model.writeConcurrently(writer)
	}
}

func (a answer) encoded() []byte {
	if a.body == nil {
		return nil
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		panic("azuresim: encoding an answer: " + err.Error()) // bodies are made of maps, slices and texts
	}
	return text
}

// armError is an error in the envelope of ARM itself.
func armError(status int, code, message string) answer {
	body := map[string]any{"error": failure{Code: code, Message: message}}
	return answer{status: status, body: body}.with("x-ms-failure-cause", "gateway")
}

// aksError is an error as AKS writes it: without ARM's envelope.
func aksError(status int, code, message string, details ...failure) answer {
	body := map[string]any{"code": code, "message": message, "details": nil, "subcode": ""}
	if len(details) > 0 {
		body["details"] = details
	}
	return answer{status: status, body: body}
}

var _ http.Handler = (*World)(nil)
