//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"salve/internal/hotfix/event"
	"salve/internal/hotfix/fetch"
	"salve/internal/hotfix/payload"
	"salve/internal/hotfix/slot"
)

// keptEvents is how many events stay in their folder.
const keptEvents = 200

// node is this machine, as one command works on it.
type node struct {
	process
	settings settings
	program  []string // the arguments of the program to launch
	// signed: today's decision comes from a signed pointer.
	signed bool
	// artifact is the SHA-256 that is signed for the program that today's decision wants; empty in unsigned mode.
	artifact string
	// tidied: another event of this boot makes room for the rest.
	tidied bool
}

func (n *node) slot() slot.Slot {
	return slot.Slot{Baked: n.settings.baked, Staged: n.settings.staged, Trials: n.settings.trials, Signed: n.signed,
		Artifact: n.artifact}
}

func (n *node) tree() payload.Tree {
	return payload.Tree{
		Root: n.settings.root, State: filepath.Join(n.settings.state, "scripts"), Protected: n.protected(),
	}
}

func (n *node) events() event.Folder {
	return event.Folder{Path: filepath.Join(n.settings.state, "events"), Keep: keptEvents, Now: n.clock.Now}
}

func (n *node) fetcher() *fetch.Fetcher {
	from := n.settings.fetch
	from.Budget, from.Clock = n.settings.budget, n.clock
	return fetch.New(from)
}

// event begins the event of a command.
func (n *node) event(command string) event.Event {
	return event.Event{
		SchemaVersion: event.SchemaVersion, Time: n.clock.Now().UTC(), Command: command,
		Level: event.Information, Milliseconds: map[string]float64{},
	}
}

// record ends an event and writes it. That it can't be written is no reason to
// fail; to somebody without the right to write it, it isn't worth a line.
func (n *node) record(e event.Event) {
	now := n.clock.Now()
	e.Measure("all", now.Sub(e.Time))
	write := n.events().Write
	if n.tidied {
		write = n.events().Add
	}
	if err := write(e, now); err != nil && !errors.Is(err, fs.ErrPermission) {
		n.warn(fmt.Sprintf("the event is not kept: %v", err))
	}
}

// answer prints a JSON document of one line.
func (n *node) answer(document any) {
	raw, err := json.Marshal(document)
	if err != nil {
		n.warn(err.Error())
		return
	}
	fmt.Fprintf(n.stdout, "%s\n", raw)
}

func (n *node) warn(problems ...string) {
	for _, problem := range problems {
		fmt.Fprintf(n.stderr, "salve-node: %s\n", plain(problem))
	}
}
