package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"salve/internal/hotfix"
)

// Folder is where events lie. Their names sort by the time when they were written.
type Folder struct {
	Path string
	Keep int // how many are kept; the oldest go first
	// Now is the time; with nil nothing lies in the future.
	Now func() time.Time
}

const (
	nameTime = "20060102T150405.000000000Z"
	ending   = ".json"
	partial  = ".part"
	// largestFolder bounds all events together, in bytes.
	largestFolder = 1 << 20
	// atOnce is how many names of a folder are held at once, beside those that are kept.
	atOnce = 512
	// mostSeen is how many names are looked at, and mostRemoved how many files are removed
	// at once: a folder that somebody has filled shall not hold up a boot.
	mostSeen    = 50_000
	mostRemoved = 2000
	// mostRead is how many events are given at once.
	mostRead = 10_000
	// ahead is how far in the future a name may lie. What lies further was written by a
	// clock that was wrong, and would never be the oldest.
	ahead = 24 * time.Hour
)

// Write adds an event, and removes what is more than Keep or than a megabyte.
func (f Folder) Write(e Event, now time.Time) error {
	name, err := f.add(e, now)
	if err != nil {
		return err
	}
	return f.trim(name)
}

// Add is Write without looking at the others, for an event that another of the same boot
// follows or was before: the look is most of the time that an event costs.
func (f Folder) Add(e Event, now time.Time) error {
	_, err := f.add(e, now)
	return err
}

// add writes an event of at most Largest bytes. It does not wait for the disk: the last
// events before a power cut may be lost.
func (f Folder) add(e Event, now time.Time) (name string, err error) {
	e.SchemaVersion = SchemaVersion
	raw, err := encode(e)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(f.Path, 0o755); err != nil { //nolint:gosec // G301: other users' agents collect events
		return "", err
	}
	name = fmt.Sprintf("%s-%s-%d-%d%s", now.UTC().Format(nameTime), e.Command, os.Getpid(), len(raw), ending)
	path := filepath.Join(f.Path, name)
	if err := os.WriteFile(path+partial, raw, 0o644); err != nil { //nolint:gosec // G306: as above
		_ = os.Remove(path + partial) // the error that is given back matters more
		return "", err
	}
	return name, os.Rename(path+partial, path)
}

// trim removes the oldest events but the one of this name, what is too large to be
// one, and what was left half-written.
func (f Folder) trim(written string) error {
	removed := 0
	remove := func(name string) error {
		if name == written || removed == mostRemoved {
			return nil
		}
		removed++
		if err := os.Remove(filepath.Join(f.Path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	names, err := f.newest(f.Keep, remove)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, name := range slices.Backward(names) {
		own, err := f.size(name)
		if err != nil {
			return err
		}
		if own <= Largest {
			size += own
		}
		if own > Largest || size > largestFolder {
			if err := remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// size gives the size of an event: it is in the name, because to look at all files is most
// of what an event would cost. Those that an earlier version has written, and half-written
// ones, don't have it there.
func (f Folder) size(name string) (int64, error) {
	if parts := strings.Split(strings.TrimSuffix(name, ending), "-"); len(parts) == 4 {
		if size, err := strconv.ParseInt(parts[3], 10, 64); err == nil && size >= 0 {
			return size, nil
		}
	}
	info, err := os.Lstat(filepath.Join(f.Path, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil // another process has removed it
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, nil
	}
	return info.Size(), nil
}

// newest lists the names of the n newest events, the oldest first, whatever the folder
// holds; each of the others is given to rest. What is half-written counts: it is
// removed in its turn.
func (f Folder) newest(n int, rest func(string) error) ([]string, error) {
	folder, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	order := f.order()
	var names []string
	for seen := 0; ; {
		some, err := folder.Readdirnames(atOnce)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for _, name := range some {
			if strings.HasSuffix(name, ending) || strings.HasSuffix(name, ending+partial) {
				names = append(names, name)
			}
		}
		seen += len(some)
		ended := err != nil || seen >= mostSeen
		if len(names) < n+atOnce && !ended {
			continue
		}
		slices.SortFunc(names, order)
		older := max(0, len(names)-n)
		for _, name := range names[:older] {
			if err := rest(name); err != nil {
				return nil, err
			}
		}
		if names = slices.Clone(names[older:]); ended {
			return names, nil
		}
	}
}

// order compares names of events by their time. Those from the future come first, as
// if they were the oldest.
func (f Folder) order() func(a, b string) int {
	if f.Now == nil {
		return strings.Compare
	}
	latest := f.Now().Add(ahead).UTC().Format(nameTime)
	return func(a, b string) int {
		wrong := strings.Compare(b, latest) > 0
		switch {
		case strings.Compare(a, latest) > 0 == wrong:
			return strings.Compare(a, b)
		case wrong:
			return 1
		}
		return -1
	}
}

// Last gives the last n events, the oldest first. A folder that isn't there has
// none; a file that can't be read as an event is left out and counted.
func (f Folder) Last(n int) (events []Event, unreadable int, err error) {
	leave := func(string) error { return nil }
	n = min(n, mostRead)
	names, err := f.newest(max(n, f.Keep), leave)
	if errors.Is(err, fs.ErrNotExist) {
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
	raw, err := hotfix.ReadRegular(path, Largest)
	if err != nil {
		return Event{}, err
	}
	var e Event
	return e, json.Unmarshal(raw, &e)
}
