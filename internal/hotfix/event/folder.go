package event

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"salve/internal/hotfix"
)

// Folder is where events lie. Their names sort by the time when they were written.
type Folder struct {
	Path string
	Keep int // how many are kept; the oldest go first
}

const (
	nameTime = "20060102T150405.000000000Z"
	ending   = ".json"
	partial  = ".part"
	largest  = 256 << 10 // bytes of an event that is read
)

// Write adds an event and removes what is more than Keep. It does not wait for
// the disk: the last events before a power cut may be lost.
func (f Folder) Write(e Event, now time.Time) error {
	e.SchemaVersion = SchemaVersion
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Path, 0o755); err != nil { //nolint:gosec // G301: other users' agents collect events
		return err
	}
	name := fmt.Sprintf("%s-%s-%d%s", now.UTC().Format(nameTime), e.Command, os.Getpid(), ending)
	path := filepath.Join(f.Path, name)
	if err := os.WriteFile(path+partial, append(raw, '\n'), 0o644); err != nil { //nolint:gosec // G306: as above
		_ = os.Remove(path + partial) // the error that is given back matters more
		return err
	}
	if err := os.Rename(path+partial, path); err != nil {
		return err
	}
	return f.trim()
}

// trim removes the oldest events, and what was left half-written.
func (f Folder) trim() error {
	names, err := f.names()
	if err != nil {
		return err
	}
	for len(names) > f.Keep {
		if err := os.Remove(filepath.Join(f.Path, names[0])); err != nil && !os.IsNotExist(err) {
			return err
		}
		names = names[1:]
	}
	return nil
}

// names lists the files of events, the oldest first. What is half-written counts:
// it is removed in its turn.
func (f Folder) names() ([]string, error) {
	entries, err := os.ReadDir(f.Path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ending) || strings.HasSuffix(name, ending+partial) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Last gives the last n events, the oldest first. A folder that isn't there has
// none; a file that can't be read as an event is left out and counted.
func (f Folder) Last(n int) (events []Event, unreadable int, err error) {
	names, err := f.names()
	if os.IsNotExist(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, partial) })
	for _, name := range names[max(0, len(names)-n):] {
		e, err := read(filepath.Join(f.Path, name))
		if err != nil {
			unreadable++
			continue
		}
		events = append(events, e)
	}
	return events, unreadable, nil
}

func read(path string) (Event, error) {
	raw, err := hotfix.ReadRegular(path, largest)
	if err != nil {
		return Event{}, err
	}
	var e Event
	return e, json.Unmarshal(raw, &e)
}
