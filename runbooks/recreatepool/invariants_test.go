package recreatepool_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"salve/azure"
	"salve/engine"
	"salve/internal/azuresim"
	"salve/journal"
	"salve/runbook"
)

// watchman checks, at every call that reaches the world, what must be true at
// any moment.
type watchman struct {
	mu      sync.Mutex
	s       *stage
	journal *journal.File
	// systemAtStart: there was a system pool with Ready nodes.
	systemAtStart bool
	broken        []string
	// read is what the journal's files held when they were last this long.
	read map[int64]*announced
	// asked are the permits whose conditions were asked of the world.
	asked map[string]bool
}

func newWatchman(s *stage, dir string) *watchman {
	return &watchman{
		s: s, journal: journal.NewFile(dir), read: map[int64]*announced{}, systemAtStart: systemServes(s.world.Snapshot()),
		asked: map[string]bool{},
	}
}

func (w *watchman) breach(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// see looks at the world right before a call is executed.
func (w *watchman) see(call azuresim.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if call.API == "arm" && w.systemAtStart && !systemServes(w.s.world.Snapshot()) {
		w.breach("at %s %s no system pool has a Ready node", call.Verb, call.Resource)
	}
	if !call.Mutating {
		return
	}
	open := w.openIntent()
	switch {
	case open == nil:
		w.breach("%s %s without an intent in the journal", call.Verb, call.Resource)
	case call.API == "arm" && open.permit != call.RequestID:
		w.breach("%s %s is not of the permit %s that the journal announces", call.Verb, call.Resource, open.permit)
	}
	if open != nil && (call.API == "arm" || !w.asked[open.permit]) {
		w.asked[open.permit] = true
		w.conditionsHold(call, open)
	}
	if call.Verb == "DELETE" && w.isSource(call.Resource) && open != nil && !open.hasSnapshot {
		w.breach("%s %s before the snapshot was durable", call.Verb, call.Resource)
	}
}

func (w *watchman) isSource(path string) bool {
	for _, pool := range w.s.pools() {
		if strings.HasSuffix(strings.ToLower(path), "/agentpools/"+pool) {
			return true
		}
	}
	return false
}

type announced struct {
	step, permit, run, pool string
	hasSnapshot             bool
	snapshot                struct {
		Definition azure.Definition `json:"definition"`
		ScaleSets  []string         `json:"scaleSets"`
	}
	// deleting: the deletion of the pool was announced.
	deleting bool
}

// openIntent reads from disk what the open run has announced and not finished.
func (w *watchman) openIntent() *announced {
	length := w.length()
	if known, found := w.read[length]; found {
		return known
	}
	w.read[length] = w.readIntent()
	return w.read[length]
}

// length is that of all journal files, which only grow.
func (w *watchman) length() (length int64) {
	files, _ := filepath.Glob(filepath.Join(w.journal.Dir(), "runs", "*", "journal.jsonl"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			length += info.Size()
		}
	}
	return length
}

func (w *watchman) readIntent() *announced {
	open, err := journal.Find(context.Background(), w.journal, func(h *journal.History) bool { return h.Closed == nil },
		func(run string, err error) {
			w.breach("journal of %s: %v", run, err)
		})
	if err != nil || len(open) > 1 {
		w.breach("%d runs are open: %v", len(open), err)
	}
	for _, record := range open {
		for _, step := range record.Steps() {
			if step.Open {
				intent := &announced{
					step: step.Name, permit: step.Permit, run: record.Run, pool: path.Base(record.Header.Target.ID),
					deleting: record.Step("delete-pool").Attempts > 0,
				}
				intent.hasSnapshot, _ = record.Recall("snapshot", &intent.snapshot)
				return intent
			}
		}
	}
	return nil
}

func systemServes(state azuresim.State) bool {
	modes := map[string]string{}
	for _, pool := range state.Pools {
		modes[pool.Name] = pool.Mode
	}
	for _, node := range state.Nodes {
		if node.Ready && modes[node.Pool] == "System" {
			return true
		}
	}
	return false
}

// settled checks how the story ended: pools that a run said it mended are, every
// other one is the one that was there, and a run that stays parked asks something.
func (w *watchman) settled(t testing.TB, result engine.Result, start azuresim.State, remediated map[string]bool) {
	t.Helper()
	end := w.s.world.Snapshot()
	parked := result.Outcome == runbook.NeedsAttention
	if parked && result.Question == "" {
		w.breach("parked without a question: %s", result.Reason)
	}
	for _, was := range start.Pools {
		switch {
		case was.Tags["purpose"] == "salve-stand-in":
		case len(remediated) > 0 && (remediated[was.Name] || !w.isSource("/agentpools/"+was.Name)):
			w.mended(was, end)
		case !parked:
			w.untouched(was, end)
		}
	}
	if !parked {
		w.nothingLeft(end)
	}
	w.twice()
	for _, breach := range w.broken {
		t.Error(breach)
	}
}

// mended: the pool equals what it was, and is on a new scale set if it was wedged.
func (w *watchman) mended(was azuresim.PoolState, end azuresim.State) {
	is, found := poolOf(end, was.Name)
	if !found {
		w.breach("pool %s is gone", was.Name)
		return
	}
	different, err := body(was).Differences(body(is))
	different = slices.DeleteFunc(different, func(line string) bool {
		return strings.Contains(line,
			"somebody-else")
	}) // the concurrent writer's own change stays
	if err != nil || len(different) > 0 {
		w.breach("pool %s differs: %v %v", was.Name, different, err)
	}
	if w.isSource("/agentpools/"+was.Name) && was.Corrupted && is.ScaleSet == was.ScaleSet {
		w.breach("pool %s is still on scale set %s", was.Name, was.ScaleSet)
	}
}

// untouched: the pool is the one that was there.
func (w *watchman) untouched(was azuresim.PoolState, end azuresim.State) {
	if is, found := poolOf(end, was.Name); !found || is.ScaleSet != was.ScaleSet {
		w.breach("pool %s was touched", was.Name)
	}
}

func (w *watchman) nothingLeft(end azuresim.State) {
	for _, pool := range end.Pools {
		if pool.Tags["purpose"] == "salve-stand-in" {
			w.breach("stand-in %s is left, %s", pool.Name, pool.ProvisioningState)
		}
	}
	for _, node := range end.Nodes {
		if node.Annotations["salve-cordoned-by"] != "" {
			w.breach("node %s is left cordoned", node.Name)
		}
	}
}

// twice: no change that was accepted is made again, unless the one before it was
// undone by its opposite.
func (w *watchman) twice() {
	last := map[string]string{}
	for _, call := range w.s.world.Calls() {
		if call.API != "arm" || !call.Mutating || call.Status < 200 || call.Status > 299 || call.Verb == "PATCH" {
			continue
		}
		path := strings.ToLower(call.Resource)
		if last[path] == call.Verb && !w.failedBetween(path) {
			w.breach("%s %s was made twice", call.Verb, path)
		}
		last[path] = call.Verb
	}
}

// failedBetween tells whether an operation on the resource failed, so that
// another attempt was due.
func (w *watchman) failedBetween(path string) bool {
	for _, operation := range w.s.world.Operations() {
		if strings.EqualFold(operation.Resource, path) && operation.Result != "Succeeded" {
			return true
		}
	}
	return false
}

func poolOf(state azuresim.State, name string) (azuresim.PoolState, bool) {
	for _, pool := range state.Pools {
		if pool.Name == name {
			return pool, true
		}
	}
	return azuresim.PoolState{}, false
}

func body(pool azuresim.PoolState) azure.Definition {
	return azure.Definition(`{"properties":` + string(pool.Definition) + `}`)
}
