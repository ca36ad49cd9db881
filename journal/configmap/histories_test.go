package configmap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/journal"
	"salve/journal/configmap"
)

// The operations of a history.
type (
	taken    struct{}           // the lease is taken; gives its epoch
	checked  struct{ at int64 } // the lease of an epoch is shown to be ours
	appended struct {           // a line is added at a position
		seq  int
		line string
	}
	readBack struct{} // the record is read; gives its lines
)

// answer is what became of an operation. Of one whose answer was lost it is not known
// whether it happened.
type answer struct {
	done, unknown bool
	epoch         int64
	lines         string
}

// state is what the model knows: the newest epoch, and the lines so far.
type state struct {
	epoch int64
	lines string
}

// oneHolder is the promise: one holder at a time, epochs that grow, and appends that
// are never lost or reordered.
var oneHolder = porcupine.NondeterministicModel{
	Init: func() []any { return []any{state{}} },
	Step: func(before, operation, result any) []any {
		s, got := before.(state), result.(answer)
		switch op := operation.(type) {
		case taken:
			switch {
			case got.done && got.epoch > s.epoch:
				return []any{state{got.epoch, s.lines}}
			case got.done:
				return nil
			}
			return []any{s} // an epoch that nobody got is taken by nobody
		case checked:
			if got.done && op.at != s.epoch {
				return nil
			}
			return []any{s}
		case appended:
			next := state{s.epoch, s.lines + op.line + "\n"}
			fits := strings.Count(s.lines, "\n") == op.seq-1
			switch {
			case got.done && fits:
				return []any{next}
			case got.done:
				return nil
			case got.unknown && fits:
				return []any{s, next}
			}
			return []any{s}
		default:
			if got.done && got.lines != s.lines {
				return nil
			}
			return []any{s}
		}
	},
	Equal: func(a, b any) bool { return a == b },
}

// stormy fails requests before and after they are executed, and all of them for a
// while, in which a lease may be lost.
type stormy struct {
	next http.RoundTripper
	mu   sync.Mutex
	dice *rand.Rand
	// calm is when the requests go through again.
	calm time.Time
}

func (s *stormy) roll(sides int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dice.Intn(sides)
}

// lull tells whether nothing goes through, and may begin such a time.
func (s *stormy) lull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.dice.Intn(50) == 0 && s.calm.Before(now) {
		s.calm = now.Add(time.Duration(s.dice.Intn(2500)) * time.Millisecond)
	}
	return time.Now().Before(s.calm)
}

func (s *stormy) RoundTrip(request *http.Request) (*http.Response, error) {
	if s.lull() {
		return nil, io.ErrUnexpectedEOF
	}
	switch s.roll(20) {
	case 0:
		return nil, io.ErrUnexpectedEOF // never sent
	case 1:
		return &http.Response{
			StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Content-Type": {"text/plain"}},
			Body: io.NopCloser(strings.NewReader("overloaded")), Request: request,
		}, nil
	}
	response, err := s.next.RoundTrip(request)
	if err == nil && s.roll(12) == 0 {
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return nil, io.ErrUnexpectedEOF // executed, and the answer is lost
	}
	return response, err
}

// recorder notes operations with their times.
type recorder struct {
	// pause is how long a client at most thinks before it adds a line.
	pause      time.Duration
	mu         sync.Mutex
	start      time.Time
	operations []porcupine.Operation
}

func (c *recorder) note(client int, operation any, do func() answer) answer {
	called := time.Since(c.start).Nanoseconds()
	got := do()
	returned := time.Since(c.start).Nanoseconds()
	c.mu.Lock()
	defer c.mu.Unlock()
	if got.unknown {
		returned = 1 << 60 // it may happen at any later time
	}
	c.operations = append(c.operations, porcupine.Operation{ClientId: client, Input: operation, Call: called,
		Output: got, Return: returned})
	return got
}

// outcome words an error as an answer: refused, or not known.
func outcome(err error) answer {
	switch {
	case err == nil:
		return answer{done: true}
	case apierr.ClassOf(err) == apierr.Transient, errors.Is(err, context.DeadlineExceeded):
		return answer{unknown: true}
	}
	return answer{}
}

// work takes the lease, adds lines while it is ours, and sometimes dies with it.
func (c *recorder) work(ctx context.Context, client int, kept *configmap.Journal, dice *rand.Rand) {
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var lease journal.Lease
	got := c.note(client, taken{}, func() answer {
		var err error
		lease, err = kept.Lock(limited, journal.Claim{Target: "lamp/1",
			Holder: journal.Holder{Run: fmt.Sprint("client-", client)}})
		got := outcome(err)
		got.unknown = false
		if err == nil {
			got.epoch = lease.Epoch()
		}
		return got
	})
	if !got.done {
		return
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	for n := range 1 + dice.Intn(3) {
		if !c.note(client, checked{lease.Epoch()}, func() answer { return outcome(lease.Check(limited)) }).done {
			return
		}
		var lines [][]byte
		read := c.note(client, readBack{}, func() answer {
			var err error
			lines, err = kept.Read(limited, "run-1")
			got := outcome(err)
			for _, line := range lines {
				got.lines += string(line) + "\n"
			}
			return got
		})
		if !read.done {
			return
		}
		if clock.Sleep(limited, clock.Real{}, time.Duration(dice.Int63n(int64(c.pause)+1))) != nil {
			return
		}
		line := fmt.Sprintf("client %d epoch %d line %d", client, lease.Epoch(), n)
		if dice.Intn(6) == 0 {
			line += strings.Repeat(".", 100<<10) // begins another object
		}
		c.note(client, appended{len(lines) + 1, line}, func() answer {
			return outcome(kept.Append(limited, "run-1", len(lines)+1, []byte(line+"\n")))
		})
	}
}

// runners makes processes that share an API server; through sees a process's requests.
type runners func(lease time.Duration, through func(http.RoundTripper) http.RoundTripper) *configmap.Journal

// history lets clients work at once and gives what they saw.
func history(t *testing.T, runner runners, seed int64, pause time.Duration, clients, rounds int,
	meanwhile func()) []porcupine.Operation {
	t.Helper()
	if err := runner(time.Second, nil).Create(t.Context(), "run-1"); err != nil {
		t.Fatal(err)
	}
	c := &recorder{start: time.Now(), pause: pause}
	var all sync.WaitGroup
	for client := range clients {
		dice := rand.New(rand.NewSource(seed + int64(client)))
		kept := runner(time.Second, func(next http.RoundTripper) http.RoundTripper {
			return &stormy{next: next, dice: rand.New(rand.NewSource(seed * int64(client+2)))}
		})
		all.Go(func() {
			for range rounds {
				c.work(t.Context(), client, kept, dice)
			}
		})
	}
	meanwhile()
	all.Wait()
	return c.operations
}

// linearizable checks a history, which has to show something.
func linearizable(t *testing.T, operations []porcupine.Operation) {
	t.Helper()
	appends := 0
	for _, operation := range operations {
		if _, ok := operation.Input.(appended); ok && operation.Output.(answer).done {
			appends++
		}
	}
	if appends < 3 {
		t.Errorf("only %d appends of %d operations: nothing is shown", appends, len(operations))
	}
	if got := porcupine.CheckOperationsTimeout(oneHolder.ToModel(), operations, time.Minute); got != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(operations), got)
		for _, operation := range operations {
			t.Logf("%d: %+.80v -> %+.120v", operation.ClientId, operation.Input, operation.Output)
		}
	}
}

// TestHistoriesOfManyClients: requests, answers and both are lost and late.
func TestHistoriesOfManyClients(t *testing.T) {
	b := newBench(t)
	linearizable(t, history(t, b.runner, 1, 0, 4, 5, func() {}))
}

// TestHistoriesOnVirtualTime: the same, on many seeds.
func TestHistoriesOnVirtualTime(t *testing.T) {
	for seed := range int64(10) {
		synctest.Test(t, func(t *testing.T) {
			linearizable(t, history(t, configmap.InMemory(t), seed+1, time.Second, 4, 5, func() {}))
		})
	}
}

// TestHistoriesWhileTheAPIServerRestarts: and all clients lose it at once.
func TestHistoriesWhileTheAPIServerRestarts(t *testing.T) {
	b := newBench(t)
	linearizable(t, history(t, b.runner, 3, 0, 3, 4, func() {
		time.Sleep(2 * time.Second)
		b.plane.StopAPIServer(t)
		b.plane.StartAPIServer(t)
	}))
}

// TestModelDiesForEachPromise: the model itself refuses what must not happen.
func TestModelDiesForEachPromise(t *testing.T) {
	line := func(seq int, text string) porcupine.Operation {
		return porcupine.Operation{Input: appended{seq, text}, Output: answer{done: true}}
	}
	for name, operations := range map[string][]porcupine.Operation{
		"an epoch is given twice": {{Input: taken{}, Output: answer{done: true, epoch: 1}},
			{Input: taken{}, Output: answer{done: true, epoch: 1}}},
		"two holders at once": {
			{Input: taken{}, Output: answer{done: true, epoch: 1}}, {Input: taken{}, Output: answer{done: true, epoch: 2}},
			{Input: checked{1}, Output: answer{done: true}},
		},
		"an append is lost": {line(1, "a"), {Input: readBack{}, Output: answer{done: true}}},
		"appends are reordered": {line(1, "a"), line(2, "b"),
			{Input: readBack{}, Output: answer{done: true, lines: "b\na\n"}}},
		"two appends at one place": {line(1, "a"), line(1, "b")},
	} {
		for i := range operations {
			operations[i].Call, operations[i].Return = int64(2*i), int64(2*i+1)
		}
		if porcupine.CheckOperations(oneHolder.ToModel(), operations) {
			t.Errorf("%s: the model lets it pass", name)
		}
	}
}
