package recreatepool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"salve/internal/azuresim"
	"salve/journal"
)

// cut says how a process dies at a point: before the call or the write, after it
// with the answer lost, or in the middle of a write.
type cut int

const (
	before cut = iota
	after
	torn
)

func (c cut) String() string { return [...]string{"before", "after", "torn"}[c] }

var errKilled = errors.New("killed")

// process is what one runner can reach of the world and the journal. When it is
// killed nothing that it does has an effect any more.
type process struct {
	journal.Store
	dir string

	mu   sync.Mutex
	kill context.CancelCauseFunc
	dead bool
	// points counts calls and writes; the process dies at point `at`, 0 for never.
	points, at int
	how        cut
	// writes says of each point whether it was a journal write.
	writes []bool
	// disturb may lose a call of a living process.
	disturb func(azuresim.Call) azuresim.Verdict
	// seen is told every call that will be executed.
	seen func(azuresim.Call)
}

func newProcess(dir string) *process {
	return &process{Store: journal.NewFile(dir), dir: dir, kill: func(error) {}}
}

// reach decides whether a call gets through.
func (p *process) reach(call azuresim.Call) azuresim.Verdict {
	alive, last := p.point(false)
	switch {
	case !alive && !(last && p.how == after):
		return azuresim.DropBefore
	case !alive:
		p.seen(call)
		return azuresim.DropAfter
	}
	if p.disturb != nil {
		if fate := p.disturb(call); fate != azuresim.Proceed {
			if fate == azuresim.DropAfter {
				p.seen(call)
			}
			return fate
		}
	}
	p.seen(call)
	return azuresim.Proceed
}

// point counts a point; last is true for the one at which the process dies.
func (p *process) point(write bool) (alive, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false, false
	}
	p.points++
	p.writes = append(p.writes, write)
	if p.points != p.at {
		return true, false
	}
	p.dead = true
	p.kill(errKilled)
	return false, true
}

// Append is a journal write, which may be the last one.
func (p *process) Append(ctx context.Context, run string, seq int, line []byte) error {
	alive, last := p.point(true)
	switch {
	case alive:
		return p.Store.Append(ctx, run, seq, line)
	case last && p.how == after:
		return errors.Join(errKilled, p.Store.Append(ctx, run, seq, line))
	case last && p.how == torn:
		return errors.Join(errKilled, p.tear(run, line[:len(line)/2]))
	}
	return errKilled
}

func (p *process) tear(run string, half []byte) error {
	file, err := os.OpenFile(filepath.Join(p.dir, "runs", run, "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(half)
	return errors.Join(err, file.Close())
}

// Create is not for the dead either.
func (p *process) Create(ctx context.Context, run string) error {
	if p.isDead() {
		return errKilled
	}
	return p.Store.Create(ctx, run)
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}
