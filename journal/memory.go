package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"salve/internal/apierr"
)

// Memory is a backend that forgets: for looking without acting, where nothing
// that is written down has to last.
type Memory struct {
	mu     sync.Mutex
	runs   []string
	lines  map[string][][]byte
	epochs map[string]int64
	held   map[string]Holder
}

// NewMemory gives an empty one.
func NewMemory() *Memory {
	return &Memory{lines: map[string][][]byte{}, epochs: map[string]int64{}, held: map[string]Holder{}}
}

// Create makes an empty record.
func (m *Memory) Create(_ context.Context, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.runs, run) {
		return fmt.Errorf("run %q exists already", run)
	}
	m.runs = append(m.runs, run)
	return nil
}

// Append adds a line.
func (m *Memory) Append(_ context.Context, run string, _ int, line []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines[run] = append(m.lines[run], slices.Clone(line[:len(line)-1]))
	return nil
}

// Read gives the lines.
func (m *Memory) Read(_ context.Context, run string) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.runs, run) {
		return nil, &MissingError{Run: run, Where: "memory"}
	}
	return slices.Clone(m.lines[run]), nil
}

// Runs names the records in the order in which they were made.
func (m *Memory) Runs(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.runs), nil
}

// Lock takes the lease on a target.
func (m *Memory) Lock(_ context.Context, claim Claim) (Lease, error) {
	target := claim.Target
	m.mu.Lock()
	defer m.mu.Unlock()
	if other, held := m.held[target]; held {
		return nil, &apierr.Error{Class: apierr.Conflict, Err: &HeldError{Target: target, Holder: other}}
	}
	m.epochs[target] = max(m.epochs[target], claim.Above) + 1
	m.held[target] = claim.Holder
	return &memoryLease{memory: m, target: target, epoch: m.epochs[target]}, nil
}

// Expire ends whatever lease there is on a target, as the end of its time does
// for one that is not renewed.
func (m *Memory) Expire(target string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.held, target)
}

type memoryLease struct {
	memory *Memory
	target string
	epoch  int64
}

func (l *memoryLease) Epoch() int64 { return l.epoch }

func (l *memoryLease) Check(context.Context) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if l.memory.epochs[l.target] != l.epoch {
		return apierr.New(apierr.Conflict, "the lease on %s was lost", l.target)
	}
	return nil
}

func (l *memoryLease) Release(context.Context) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	delete(l.memory.held, l.target)
	return nil
}
