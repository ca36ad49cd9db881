package runbooktest

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"k8s.io/utils/clock"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// World is one in which a run is killed and resumed.
type World struct {
	// Start makes the runbook as a process does that begins: from the same inputs, with
	// clients of its own. Their calls go through the process; Start makes none. Required.
	Start func(*Process) runbook.Runbook
	// Verify looks at the world with the test's own clients when the run is closed. May
	// be nil.
	Verify func()
	// Reads tells requests that change nothing though their method says so, such as
	// ARM's what-if. Kubernetes's access reviews are known. May be nil.
	Reads func(*http.Request) bool
	// MayRepeat tells changes that do no harm when they are made again: method, path
	// and a digest of the content, or what Process.Call was told. Nil means none.
	MayRepeat func(change string) bool
	// Clock is the engine's; nil is the real one.
	Clock clock.WithDelayedExecution
}

// Option changes a sweep.
type Option func(*sweep)

// EveryNth tries each n-th cut only. Cuts before and after a moment take turns, so
// that an odd n tries both kinds.
func EveryNth(n int) Option { return func(s *sweep) { s.nth = n } }

// VirtualTime runs each world in a bubble of testing/synctest: for worlds that are in
// memory.
func VirtualTime() Option { return func(s *sweep) { s.virtual = true } }

// CrashAnywhere runs a runbook through the engine, on a journal in memory, once without
// a cut, and then once for each cut: the process is killed before a write of the
// journal or right after it, without an answer, and so at every call to the world.
// Another process then does the same. In each world
//
//   - no change is made that the journal doesn't hold an intent of, or without a permit,
//   - no change is made twice,
//   - the second process ends the run with all checks holding, or parks it with a question,
//   - no other run stays open,
//   - every decision comes out the same when it is made again from the journal alone.
//
// A plan of the same state, made twice, has the same digest. Each cut has a world of
// its own; those of one sweep are tried in parallel.
func CrashAnywhere(t *testing.T, newWorld func(t *testing.T) World, options ...Option) {
	t.Helper()
	s := &sweep{nth: 1, newWorld: newWorld}
	for _, option := range options {
		option(s)
	}
	var writes, calls int
	t.Run("no cut", func(t *testing.T) {
		s.in(t, func(t *testing.T) { writes, calls = s.uncut(t) })
	})
	if t.Failed() {
		return
	}
	cuts := append(cutsOf(write, writes), cutsOf(call, calls)...)
	for i, at := range cuts {
		if (i+1)%s.nth != 0 {
			continue
		}
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			s.in(t, func(t *testing.T) { s.crash(t, at) })
		})
	}
}

func cutsOf(kind kind, count int) []cut {
	var cuts []cut
	for at := 1; at <= count; at++ {
		cuts = append(cuts, cut{kind, at, false}, cut{kind, at, true})
	}
	return cuts
}

// sweep is CrashAnywhere at work.
type sweep struct {
	nth      int
	virtual  bool
	newWorld func(t *testing.T) World
}

func (s *sweep) in(t *testing.T, test func(*testing.T)) {
	if s.virtual {
		synctest.Test(t, test)
		return
	}
	test(t)
}

// uncut runs without being killed, and counts what the run writes and calls.
func (s *sweep) uncut(t *testing.T) (writes, calls int) {
	r := newRuns(t, s.newWorld(t))
	r.sameDigest()
	process, result := r.process(cut{})
	if result.Outcome != r.success {
		t.Fatalf("the run that nobody kills ends %s: %s", result.Outcome, result.Reason)
	}
	r.end(result)
	if _, made := r.changes.report(); made == 0 {
		t.Error("no change was seen: clients have to go through Process.Transport or Process.Call")
	}
	return process.count[write], process.count[call]
}

// crash kills a run and resumes it.
func (s *sweep) crash(t *testing.T, at cut) {
	r := newRuns(t, s.newWorld(t))
	r.process(at)
	_, result := r.process(cut{})
	r.end(result)
}

// runs are those of one world, one process after the other.
type runs struct {
	testing.TB
	world   World
	journal *journal.Memory
	changes *changes
	success runbook.Outcome
	// started are the runbooks of its processes.
	started []runbook.Runbook
}

func newRuns(t testing.TB, world World) *runs {
	if world.Clock == nil {
		world.Clock = clock.RealClock{}
	}
	r := &runs{TB: t, world: world, journal: journal.NewMemory()}
	r.changes = &changes{journal: r.journal, world: &r.world, times: map[string]int{}}
	return r
}

// start begins a process.
func (r *runs) start(at cut, store *journal.Memory) (context.Context, *Process, *engine.Engine, runbook.Runbook) {
	ctx, kill := context.WithCancelCause(r.Context())
	p := &Process{kill: kill, cut: at, changes: r.changes, count: map[kind]int{}}
	book := r.world.Start(p)
	if r.success = book.Success; r.success == "" {
		r.success = runbook.Remediated
	}
	return ctx, p, &engine.Engine{Journal: &mortal{store, p}, Clock: r.world.Clock}, book
}

// process is one whole process, which is killed at a cut unless it ends before.
func (r *runs) process(at cut) (*Process, engine.Result) {
	r.Helper()
	ctx, p, machine, book := r.start(at, r.journal)
	r.started = append(r.started, book)
	defer p.kill(nil)
	result, err := machine.Run(ctx, book, engine.Options{})
	if err != nil && !p.killed() {
		r.Fatalf("the run can't begin: %v", err)
	}
	if p.killed() { // its leases end by their time
		for _, target := range append(book.Locks, book.Target.ID) {
			r.journal.Expire(target)
		}
	}
	return p, result
}

// sameDigest makes the plan of one state twice.
func (r *runs) sameDigest() {
	r.Helper()
	var digests [2]string
	for i := range digests {
		ctx, p, machine, book := r.start(cut{}, journal.NewMemory())
		result, err := machine.Plan(ctx, book, engine.Options{})
		p.kill(nil)
		if err != nil || result.Plan == nil {
			r.Fatalf("there is no plan: %s: %s (%v)", result.Outcome, result.Reason, err)
		}
		digests[i] = result.Plan.Digest
	}
	if digests[0] != digests[1] {
		r.Errorf("the same state has the digests %s and %s: "+
			"what changes while the world does not, such as an age, is no evidence",
			digests[0], digests[1])
	}
}

// end checks what must hold when the last process is over.
func (r *runs) end(result engine.Result) {
	r.Helper()
	parked := result.Outcome == runbook.NeedsAttention && result.Open && result.Question != ""
	succeeded := false
	names, err := r.journal.Runs(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	for _, name := range names {
		record, err := journal.Load(r.Context(), r.journal, name)
		switch {
		case err != nil:
			r.Errorf("run %s: %v", name, err)
			continue
		case len(record.Entries) == 0: // killed before it wrote what it is a run of
			continue
		case record.Closed != nil:
			succeeded = succeeded || record.Closed.Outcome == r.success
		case !parked || name != result.Run:
			r.Errorf("run %s is still open", name)
		}
		replayedBy(r, record.History, r.started)
	}
	// Who dies with the last word has succeeded, and the next finds nothing to do.
	already := succeeded && result.Outcome == runbook.NothingToDo
	if !parked && !already && result.Outcome != r.success {
		r.Errorf("ended %s: %s; want %s, or a question", result.Outcome, result.Reason, r.success)
	}
	wrong, _ := r.changes.report()
	for _, one := range wrong {
		r.Error(one)
	}
	if !parked && r.world.Verify != nil {
		r.world.Verify()
	}
}
