package journal

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"salve/internal/apierr"
)

// Memory is a store that forgets: for looking without acting, where nothing that
// is written down has to last.
type Memory struct {
	mu      sync.Mutex
	key     Key
	runs    []string
	lines   map[string][][]byte
	exports map[string][]byte
	leases  map[string]*memoryState
}

// memoryState is what a lease leaves behind.
type memoryState struct {
	epoch  int64
	holder *Holder
	open   *OpenRun
}

// NewMemory gives an empty one, with a key of its own.
func NewMemory() *Memory {
	key, _ := RandomKey()
	return &Memory{key: key, lines: map[string][][]byte{}, exports: map[string][]byte{}, leases: map[string]*memoryState{}}
}

// Location names the memory.
func (m *Memory) Location() string { return "memory" }

// Key gives the one key.
func (m *Memory) Key(context.Context, string) (Key, error) { return m.key, nil }

// MakeKey gives the one key.
func (m *Memory) MakeKey(context.Context, string) (Key, error) { return m.key, nil }

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
		return nil, &MissingError{Run: run, Where: m.Location()}
	}
	return slices.Clone(m.lines[run]), nil
}

// ReadLine gives one line.
func (m *Memory) ReadLine(_ context.Context, run string, seq int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if lines := m.lines[run]; seq >= 1 && seq <= len(lines) {
		return slices.Clone(lines[seq-1]), nil
	}
	return nil, &MissingError{Run: run, Where: m.Location()}
}

// Runs names the records in the order in which they were made.
func (m *Memory) Runs(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.runs), nil
}

// PutExport keeps data.
func (m *Memory) PutExport(_ context.Context, run, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept, found := m.exports[run+"/"+name]; found && !bytes.Equal(kept, data) {
		return apierr.New(apierr.Conflict, "export %q is there with other data", name)
	}
	m.exports[run+"/"+name] = slices.Clone(data)
	return nil
}

// Export gives data back.
func (m *Memory) Export(_ context.Context, run, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept, found := m.exports[run+"/"+name]; found {
		return slices.Clone(kept), nil
	}
	return nil, &MissingError{Run: run, Where: m.Location() + " (export " + name + ")"}
}

// Delete removes a record and its exports.
func (m *Memory) Delete(_ context.Context, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs = slices.DeleteFunc(m.runs, func(name string) bool { return name == run })
	delete(m.lines, run)
	for name := range m.exports {
		if len(name) > len(run) && name[:len(run)+1] == run+"/" {
			delete(m.exports, name)
		}
	}
	return nil
}

// Lock takes the lease on a target.
func (m *Memory) Lock(_ context.Context, claim Claim) (Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	state := m.leases[claim.Target]
	if state == nil {
		state = &memoryState{}
		m.leases[claim.Target] = state
	}
	if state.holder != nil {
		return nil, &apierr.Error{Class: apierr.Conflict, Err: &HeldError{Target: claim.Target, Holder: *state.holder}}
	}
	state.epoch = max(state.epoch, claim.Above) + 1
	state.holder = &claim.Holder
	return &memoryLease{memory: m, target: claim.Target, epoch: state.epoch}, nil
}

// Peek looks at a lease.
func (m *Memory) Peek(_ context.Context, target string) (Peeked, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	state := m.leases[target]
	if state == nil {
		return Peeked{}, nil
	}
	return Peeked{Epoch: state.epoch, Holder: state.holder, Open: state.open}, nil
}

// OpenRuns are the runs that leases name as open, in the order of their targets.
func (m *Memory) OpenRuns(context.Context) ([]OpenRun, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var open []OpenRun
	for _, target := range slices.Sorted(maps.Keys(m.leases)) {
		if named := m.leases[target].open; named != nil && !named.Closed {
			open = append(open, *named)
		}
	}
	return open, nil
}

// Expire ends whatever lease there is on a target, as the end of its time does
// for one that is not renewed.
func (m *Memory) Expire(target string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if state := m.leases[target]; state != nil {
		state.holder = nil
	}
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
	return l.check()
}

func (l *memoryLease) check() error {
	switch state := l.memory.leases[l.target]; {
	case state.epoch != l.epoch:
		return lost(l.target, l.epoch, state.holder, "")
	case state.holder == nil:
		return lost(l.target, l.epoch, nil, "it was released")
	}
	return nil
}

func (l *memoryLease) OpenRun() *OpenRun {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	return l.memory.leases[l.target].open
}

func (l *memoryLease) SetOpenRun(_ context.Context, open OpenRun) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if err := l.check(); err != nil {
		return err
	}
	l.memory.leases[l.target].open = &open
	return nil
}

func (l *memoryLease) Release(context.Context) error {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	if state := l.memory.leases[l.target]; state.epoch == l.epoch {
		state.holder = nil
	}
	return nil
}
