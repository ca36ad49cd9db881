package githubsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"salve/internal/clock"
)

// bodyLimit bounds the body of a request.
const bodyLimit = 4 << 20

// Options say how a Server behaves.
type Options struct {
	// World is what it holds; nil is an empty one. It is the server's from then on: see Update.
	World *World
	// Clock is the real one when nil.
	Clock clock.Clock
	// Limit is how many requests a user has in a window; zero is 5,000, as GitHub's. Window is an hour when zero.
	Limit  int
	Window time.Duration
	// PointsPerMinute is the secondary limit of a user; GitHub's is 900, and zero is none. A change costs five.
	PointsPerMinute int
	// MergeReads is how often a pull request's merge state is "unknown" before it was computed.
	MergeReads int
	// Strong makes ETags strong; GitHub's are weak as a rule.
	Strong bool
}

// Server is a GitHub. It is safe for concurrent use.
type Server struct {
	options Options
	clock   clock.Clock

	lock      sync.Mutex
	world     *World
	windows   map[string]*window
	faults    []*Fault
	calls     []Call
	nextID    int64
	mergeSeen map[string]int
	spent     map[string][]spent
}

// Call is one request that was served, or cut.
type Call struct {
	Method string
	// Path is as it was sent, escaped, with the query.
	Path string
	// Login is who the token speaks for; empty for none.
	Login string
	// Body is what was sent.
	Body string
	// Status is the answer's; zero for a connection that was cut.
	Status int
	// Counted tells whether it was taken off the rate limit.
	Counted bool
}

// New makes a server of a world.
func New(options Options) *Server {
	if options.Clock == nil {
		options.Clock = clock.Real{}
	}
	if options.World == nil {
		options.World = &World{}
	}
	if options.Limit == 0 {
		options.Limit = 5000
	}
	if options.Window == 0 {
		options.Window = time.Hour
	}
	s := &Server{
		options: options, clock: options.Clock, world: options.World, windows: map[string]*window{}, nextID: 100_000,
		mergeSeen: map[string]int{}, spent: map[string][]spent{},
	}
	s.world.complete(s.clock.Now())
	return s
}

// Update changes the world, or looks at it, between two requests.
func (s *Server) Update(change func(*World)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	change(s.world)
	s.world.complete(s.clock.Now())
}

// Calls are the requests so far.
func (s *Server) Calls() []Call {
	s.lock.Lock()
	defer s.lock.Unlock()
	return append([]Call{}, s.calls...)
}

// Changes are the requests so far that are no reads.
func (s *Server) Changes() []Call {
	var changes []Call
	for _, call := range s.Calls() {
		if call.Method != http.MethodGet && call.Method != http.MethodHead {
			changes = append(changes, call)
		}
	}
	return changes
}

// ForgetCalls empties the log.
func (s *Server) ForgetCalls() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.calls = nil
}

// Listen serves on an address, such as 127.0.0.1:0, until stop is called.
func (s *Server) Listen(ctx context.Context, address string) (url string, stop func(), err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("serving GitHub: %w", err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // ends by Close
	}()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close() // what is under way is cut
		<-done
	}, nil
}

// ServeHTTP answers as GitHub would. The prefix /api/v3, of a GitHub Enterprise Server, is taken as well.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
		return
	}
	fault := s.faultFor(r)
	if fault != nil && fault.Delay > 0 {
		if err := clock.Sleep(r.Context(), s.clock, fault.Delay); err != nil {
			return
		}
	}
	if fault != nil && fault.Cut == CutBefore {
		s.log(Call{Method: r.Method, Path: r.URL.RequestURI(), Body: string(body)})
		panic(http.ErrAbortHandler)
	}
	answer := s.serve(r, body, fault)
	header := w.Header()
	for name, values := range answer.header {
		header[name] = values
	}
	if fault != nil && fault.Cut == CutAfter {
		panic(http.ErrAbortHandler)
	}
	if fault != nil && fault.Cut == CutBody {
		header.Set("Content-Length", fmt.Sprint(len(answer.raw)))
		answer.raw = answer.raw[:len(answer.raw)/2]
	}
	w.WriteHeader(answer.status)
	if _, err := w.Write(answer.raw); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		return // the client went away
	}
	if fault != nil && fault.Cut == CutBody {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) log(call Call) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.calls = append(s.calls, call)
}

// serve does a request under the lock.
func (s *Server) serve(r *http.Request, body []byte, fault *Fault) *reply {
	s.lock.Lock()
	defer s.lock.Unlock()
	c := s.newCall(r, body)
	answer, counted := c.limited(fault), false // a refusal for a limit is not taken off it
	if answer == nil {
		answer = c.answer(fault)
		counted = answer.status != http.StatusNotModified && c.path() != "rate_limit"
	}
	if counted {
		c.window().used++
	}
	c.head(answer)
	status := answer.status
	if fault != nil && fault.Cut != "" {
		status = 0
	}
	s.calls = append(s.calls, Call{
		Method: r.Method, Path: r.URL.RequestURI(), Login: c.token.Login, Body: string(body), Status: status,
		Counted: counted,
	})
	return answer
}

// reply is an answer.
type reply struct {
	status int
	header http.Header
	body   any
	raw    []byte
}

// answer does the request, encodes what comes of it, and makes a 304 of it when it is known.
func (c *call) answer(fault *Fault) *reply {
	answer := c.refusedBy(fault)
	if answer == nil {
		answer = c.route()
	}
	if answer.header == nil {
		answer.header = http.Header{}
	}
	if answer.body != nil {
		raw, err := json.Marshal(answer.body)
		if err != nil {
			panic(fmt.Sprintf("the simulator's own answer: %v", err))
		}
		answer.raw = raw
		answer.header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if c.request.Method == http.MethodGet && answer.status == http.StatusOK {
		tag := c.sim.etag(answer.raw)
		answer.header.Set("ETag", tag)
		answer.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
		answer.header.Set("Vary", "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With")
		if matches(c.request.Header.Get("If-None-Match"), tag) {
			answer.status, answer.raw = http.StatusNotModified, nil
			answer.header.Del("Content-Type")
		}
	}
	return answer
}

// etag names a body.
func (s *Server) etag(raw []byte) string {
	tag := `"` + SHA(string(raw)) + SHA("etag " + string(raw))[:24] + `"`
	if s.options.Strong {
		return tag
	}
	return "W/" + tag
}

// matches compares weakly, as If-None-Match does (RFC 9110, 13.1.2).
func matches(condition, tag string) bool {
	for one := range strings.SplitSeq(condition, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == "*" || one != "" && one == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
