package runbooktest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"salve/journal"
	"salve/runbook"
)

// errKilled is what a dead process gets from everything that it still tries.
var errKilled = errors.New("the process was killed")

// kind is what a process is killed at.
type kind string

const (
	write kind = "write"
	call  kind = "call"
)

// cut is the moment at which a process is killed; the zero cut never comes.
type cut struct {
	kind kind
	// at counts the writes or the calls from 1.
	at int
	// after: it was done, and its answer is lost.
	after bool
}

func (c cut) String() string {
	if c.after {
		return fmt.Sprintf("%s %d, after it", c.kind, c.at)
	}
	return fmt.Sprintf("%s %d, before it", c.kind, c.at)
}

// Process is one that runs a runbook. Every call that the runbook makes to the world
// goes through it, so that it can be killed there, and so that the changes are seen.
type Process struct {
	// ctx ends with the process.
	kill    context.CancelCauseFunc
	cut     cut
	changes *changes

	mu    sync.Mutex
	count map[kind]int
	dead  bool
}

// Transport is a client's way to the world over HTTP: the base of its transports, below
// the one that asks for the permit, such as the Wrap of a rest.Config.
func (p *Process) Transport(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		change, err := p.changes.of(request)
		if err != nil {
			return nil, err
		}
		var response *http.Response
		err = p.do(call, func() (err error) {
			if change == "" {
				response, err = next.RoundTrip(request)
				return err
			}
			p.changes.announced(request.Context(), change)
			if response, err = next.RoundTrip(request); err == nil && response.StatusCode < http.StatusMultipleChoices {
				p.changes.made(change)
			}
			return err
		})
		if err != nil && response != nil {
			_ = response.Body.Close() // the answer is lost
			response = nil
		}
		return response, err
	})
}

// Call is any other call to the world. A change is what says which one: the same
// change twice is a repeated one. It is empty for a call that only reads.
func (p *Process) Call(ctx context.Context, change string, do func() error) error {
	return p.do(call, func() error {
		if change == "" {
			return do()
		}
		p.changes.announced(ctx, change)
		err := do()
		if err == nil {
			p.changes.made(change)
		}
		return err
	})
}

// do does something unless the process is dead, or dies before it. After it the
// answer may be lost.
func (p *Process) do(kind kind, what func() error) error {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return errKilled
	}
	p.count[kind]++
	dies := p.cut.kind == kind && p.cut.at == p.count[kind]
	p.dead = dies && !p.cut.after
	p.mu.Unlock()
	if !dies {
		return what()
	}
	defer p.kill(errKilled)
	if !p.cut.after {
		return errKilled
	}
	err := what()
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	return errors.Join(errKilled, err)
}

// killed tells whether the process is dead.
func (p *Process) killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// changes are those that the processes of one world made, and what is wrong with them.
type changes struct {
	journal *journal.Memory
	world   *World

	mu    sync.Mutex
	times map[string]int
	wrong []string
}

// of says which change a request is; nothing when it only reads.
func (c *changes) of(request *http.Request) (string, error) {
	switch request.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return "", nil
	}
	// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
	if strings.HasPrefix(request.URL.Path, "/apis/authorization.k8s.io/") || c.world.Reads != nil &&
		c.world.Reads(request) {
		return "", nil
	}
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return "", err
		}
		_ = request.Body.Close() // it has been read
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	sum := sha256.Sum256(body)
	return fmt.Sprintf("%s %s (content %x)", request.Method, request.URL.RequestURI(), sum[:4]), nil
}

// announced checks that the journal holds the intent of a change before it is made.
func (c *changes) announced(ctx context.Context, change string) {
	permit := runbook.PermitFrom(ctx)
	if permit.ID() == "" {
		c.add("%s has no permit", change)
		return
	}
	record, err := journal.Load(context.WithoutCancel(ctx), c.journal, permit.Run())
	if err != nil {
		c.add("%s: its run can't be read: %v", change, err)
		return
	}
	for _, entry := range record.Entries {
		if step := record.Step(entry.Step); entry.Kind == journal.Intended && step.Open && step.Permit == permit.ID() {
			return
		}
	}
	c.add("%s has no open intent in the journal", change)
}

// made counts a change that the world answered with success.
func (c *changes) made(change string) {
	c.mu.Lock()
	c.times[change]++
	repeated := c.times[change] > 1 && (c.world.MayRepeat == nil || !c.world.MayRepeat(change))
	c.mu.Unlock()
	if repeated {
		c.add("%s was made again", change)
	}
}

func (c *changes) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// report gives what is wrong, and how many changes there were.
func (c *changes) report() (wrong []string, made int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, times := range c.times {
		made += times
	}
	return c.wrong, made
}
