//go:build linux

package postpone

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/internal/hotfix/disk"
)

// Asked is what was to be fetched. Where any of it changes, nothing is put off any more.
type Asked struct {
	What    string // program or scripts
	Target  string
	Source  string // the place that it comes from, and what says so
	Pointer string // the digest of the pointer that names it
}

func (a Asked) key() string {
	digest := sha256.Sum256([]byte(strings.Join([]string{a.What, a.Target, a.Source, a.Pointer}, "\x00")))
	return hex.EncodeToString(digest[:])
}

// Failure is what came of the last tries.
type Failure struct {
	What     string    `json:"what"`
	Target   string    `json:"target"`
	Key      string    `json:"key"`
	Outcome  string    `json:"outcome"`
	Problem  string    `json:"problem"`
	Failures int       `json:"failures"` // one after the other
	Last     time.Time `json:"last"`
	Until    time.Time `json:"until"`
	Boots    int       `json:"boots"` // since the last try
}

// Memory is the failures of a node.
type Memory struct {
	Path  string
	Clock clock.Clock
	Trace disk.Trace
}

const (
	memoryVersion = 1
	largestMemory = 64 << 10 // bytes
	mostFailures  = 8
	longProblem   = 400 // bytes
	// mostBoots is after how many boots there is a try, whatever the clock says: one that
	// begins anew at every boot never comes to the end of a pause.
	mostBoots = 20
	maxCount  = 1000
)

// pauses grow from one failure to the next. A boot without the hotfix is a boot as the
// image has it; so there is no hurry.
func pauses() backoff.Exponential {
	return backoff.Exponential{First: 10 * time.Minute, Longest: 24 * time.Hour, Factor: 3}
}

// contents is the file.
type contents struct {
	SchemaVersion int       `json:"schemaVersion"`
	Failures      []Failure `json:"failures"`
}

// Find gives what came of earlier tries for this very thing, and whether it is put off.
// A boot for which it is put off is counted.
func (m Memory) Find(asked Asked) (failure Failure, putOff bool) {
	all := m.read()
	at := slices.IndexFunc(all.Failures, func(one Failure) bool { return one.Key == asked.key() })
	if at < 0 {
		return Failure{}, false
	}
	one := &all.Failures[at]
	if !one.lasts(m.Clock.Now()) {
		return *one, false
	}
	one.Boots++
	unsynced := m.Trace
	unsynced.Sync = func(*os.File) error { return nil } // a count that a power cut takes back makes no difference
	if m.write(all, unsynced) != nil {
		return *one, false // what can't be counted would not end
	}
	return *one, true
}

// lasts tells whether a pause is not over. A clock from before the failure, or a pause
// that is longer than any, comes of a clock that was wrong.
func (f Failure) lasts(now time.Time) bool {
	longest := 2 * pauses().Longest
	return f.Boots < mostBoots && !now.Before(f.Last) && now.Before(f.Until) && f.Until.Sub(f.Last) <= longest
}

// Failed remembers a failure, durably.
func (m Memory) Failed(asked Asked, outcome, problem string) error {
	all := m.read()
	one := Failure{What: asked.What, Target: short(asked.Target), Key: asked.key()}
	kept := all.Failures[:0]
	for _, other := range all.Failures {
		switch {
		case other.Key == one.Key:
			one.Failures = min(other.Failures, maxCount)
		case other.What != asked.What: // of what was asked for before, nobody asks again
			kept = append(kept, other)
		}
	}
	one.Failures++
	one.Outcome, one.Problem, one.Last = short(outcome), short(problem), m.Clock.Now().UTC()
	pause := pauses().Pause(one.Failures, 0)
	// Nodes that booted together shall not come back together.
	one.Until = one.Last.Add(pause*3/4 + rand.N(pause/2)) //nolint:gosec // G404: jitter is no secret
	all.Failures = append(kept, one)
	return m.write(all, m.Trace)
}

// Forget is for what was fetched, or is not wanted any more.
func (m Memory) Forget(what string) error {
	all := m.read()
	kept := slices.DeleteFunc(slices.Clone(all.Failures), func(one Failure) bool { return one.What == what })
	if len(kept) == len(all.Failures) {
		return nil
	}
	all.Failures = kept
	return m.write(all, m.Trace)
}

// read gives what is remembered, which is nothing where that can't be understood.
func (m Memory) read() contents {
	nothing := contents{SchemaVersion: memoryVersion}
	folder, err := disk.Open(filepath.Dir(m.Path), m.Trace)
	if err != nil {
		return nothing
	}
	defer folder.Close()
	raw, err := folder.Read(filepath.Base(m.Path), largestMemory)
	var found contents
	if err != nil || json.Unmarshal(raw, &found) != nil || found.SchemaVersion != memoryVersion ||
		len(found.Failures) > mostFailures {
		return nothing
	}
	return found
}

func (m Memory) write(all contents, trace disk.Trace) error {
	if len(all.Failures) > mostFailures {
		all.Failures = all.Failures[len(all.Failures)-mostFailures:]
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if len(raw) > largestMemory {
		return errors.New("what is to be remembered is too large")
	}
	folder, err := disk.MakeAll(filepath.Dir(m.Path), 0o755, trace)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Replace(filepath.Base(m.Path), bytes.NewReader(append(raw, '\n')), 0o600)
}

func short(text string) string {
	if len(text) <= longProblem {
		return text
	}
	return strings.ToValidUTF8(text[:longProblem], "") + "…"
}
