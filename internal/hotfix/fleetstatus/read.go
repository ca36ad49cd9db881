package fleetstatus

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"syscall"
	"time"

	"salve/internal/hotfix/event"
)

// The bounds of what is read.
const (
	maxNodes  = 100_000
	maxNames  = 50_000 // of one folder
	maxEvents = 1000   // of one node, the newest; a node keeps 200
	// maxNamed is how many unusable files are named; the rest are counted.
	maxNamed = 100
)

// eventName is what salve-node calls an event: names sort by the time when they were written.
var eventName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{9}Z-[a-z]+-[0-9]+(-[0-9]+)?\.json$`)

// halfName is that of one which was not yet whole when the files were collected.
var halfName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{9}Z-[a-z]+-[0-9]+(-[0-9]+)?\.json\.part$`)

// commands are those that write events.
func commands() []string {
	return []string{"decide", "check", "fetch", "select", "prepare", "launch", "confirm", "rollback"}
}

// File is one that could not be used.
type File struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// Files is what was found of files.
type Files struct {
	Events int `json:"events"`
	// Torn are events that are not whole, Foreign what is none of salve-node's that this program knows.
	Torn    int    `json:"torn"`
	Foreign int    `json:"foreign"`
	Unread  int    `json:"unread"` // that the disk or the rights kept back
	Named   []File `json:"named"`  // the first of these
}

type kind int

const (
	torn kind = iota
	foreign
	unread
)

func (f *Files) add(as kind, path, problem string) {
	switch as {
	case torn:
		f.Torn++
	case foreign:
		f.Foreign++
	case unread:
		f.Unread++
	}
	if len(f.Named) < maxNamed {
		f.Named = append(f.Named, File{path, problem})
	}
}

// reader reads what was collected, and keeps count.
type reader struct {
	Files
	// latest is the name of an event of tomorrow. What lies behind was written by a clock that was wrong, and counts as
	// the oldest; nodes themselves see it so.
	latest string
}

func newReader(now time.Time) *reader {
	return &reader{Files: Files{Named: []File{}}, latest: now.Add(24 * time.Hour).UTC().Format("20060102T150405")}
}

// readEvents reads the newest events of a folder, the oldest first. below is the path of the folder, for what is said.
func (r *reader) readEvents(folder *os.Root, below string) []event.Event {
	names, err := namesOf(folder)
	if err != nil {
		r.add(unread, below, err.Error())
		return nil
	}
	var found []string
	for _, name := range names {
		switch path := below + "/" + name; {
		case eventName.MatchString(name):
			found = append(found, name)
		case halfName.MatchString(name):
			r.add(torn, path, "half-written")
		default:
			r.add(foreign, path, "not the name of an event")
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		if wrong := b > r.latest; (a > r.latest) != wrong {
			return map[bool]int{true: 1, false: -1}[wrong]
		}
		return cmp.Compare(a, b)
	})
	var events []event.Event
	for _, name := range found[max(0, len(found)-maxEvents):] {
		one, as, err := readEvent(folder, name)
		if err != nil {
			r.add(as, below+"/"+name, err.Error())
			continue
		}
		r.Events++
		events = append(events, one)
	}
	return events
}

// namesOf lists a folder, as far as its bound.
func namesOf(folder *os.Root) ([]string, error) {
	dir, err := folder.Open(".")
	if err != nil {
		return nil, bare(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxNames + 1)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, bare(err)
	case len(names) > maxNames:
		return nil, fmt.Errorf("more than %d names", maxNames)
	}
	slices.Sort(names)
	return names, nil
}

// readEvent reads a regular file, never a link, a pipe or a device.
func readEvent(folder *os.Root, name string) (event.Event, kind, error) {
	info, err := folder.Lstat(name)
	switch {
	case err != nil:
		return event.Event{}, unread, bare(err)
	case !info.Mode().IsRegular():
		return event.Event{}, foreign, errors.New("not a regular file")
	case info.Size() > event.Largest:
		return event.Event{}, foreign, fmt.Errorf("larger than an event, %d bytes", info.Size())
	}
	// Not to wait for the other end of a pipe that was put there meanwhile.
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return event.Event{}, unread, bare(err)
	}
	defer file.Close()
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return event.Event{}, unread, errors.Join(errors.New("another file took its place"), err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, event.Largest+1))
	if err != nil {
		return event.Event{}, unread, bare(err)
	}
	return parse(raw)
}

func parse(raw []byte) (event.Event, kind, error) {
	var one event.Event
	err := json.Unmarshal(raw, &one)
	var syntax *json.SyntaxError
	switch {
	case len(raw) == 0:
		return event.Event{}, torn, errors.New("empty")
	case errors.As(err, &syntax):
		return event.Event{}, torn, errors.New("not whole, or no JSON")
	case err != nil:
		return event.Event{}, foreign, errors.New("not an event")
	case one.SchemaVersion != event.SchemaVersion:
		return event.Event{}, foreign, fmt.Errorf("version %d of events is not known", one.SchemaVersion)
	case !slices.Contains(commands(), one.Command) || one.Time.IsZero():
		return event.Event{}, foreign, errors.New("not an event")
	}
	return one, 0, nil
}

// bare is an error without the path, which is said beside it.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
