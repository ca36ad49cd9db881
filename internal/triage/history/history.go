package history

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// Skew is how far a run's time may be ahead of the reader's clock to count as of now.
const Skew = 15 * time.Minute

// Options say how a history is read.
type Options struct {
	Grouping Grouping
	// Cache is a folder for what can be derived from the lines; empty for none. It is made if it isn't there.
	Cache string
}

// History is what all runs had, as far as the folder tells. It doesn't change.
type History struct {
	folder   string
	grouping Grouping
	runs     map[runID]line
	builds   []build // by time, then by ID
	// Problems are lines and files that were left out.
	Problems []Problem
	// Uncached is why there is no cache though one was asked for. The answers don't depend on it.
	Uncached error
}

// build is all runs of a build.
type build struct {
	id     string
	change string // empty if nobody knows, or its runs say different ones
	time   time.Time
	total  int // scenarios
	ran    []Set
	groups []Group // by key
}

// Open reads a history. A folder that isn't there has no runs, which the problems tell; an error is one of the folder,
// and never of a line in it.
func Open(ctx context.Context, folder string, o Options) (*History, error) {
	h := &History{folder: folder, grouping: o.Grouping, runs: map[runID]line{}}
	root, missing, err := open(folder)
	if err != nil {
		return nil, err
	}
	if missing {
		h.Problems = []Problem{{File: cut(folder, maximumID), Text: "there is no such folder yet, and so no history"}}
		return h, nil
	}
	defer root.Close()
	files, err := list(ctx, root.FS())
	if err != nil {
		return nil, fmt.Errorf("listing the history in %s: %w", folder, err)
	}
	if files, err = h.fromCache(ctx, files, o.Cache, root.FS()); err == nil {
		err = h.read(ctx, root.FS(), files, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history in %s: %w", folder, err)
	}
	slices.SortFunc(h.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	h.index()
	return h, nil
}

// read takes in files, one after the other, and shows each to keep.
func (h *History) read(ctx context.Context, folder fs.FS, files []file, keep func(file, content)) error {
	for _, f := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c := readFile(folder, f.name, h.grouping)
		h.take(c)
		if keep != nil {
			keep(f, c)
		}
	}
	return nil
}

func (h *History) take(c content) {
	h.Problems = append(h.Problems, c.Problems...)
	for _, l := range c.Lines {
		h.add(l)
	}
}

// add keeps, of the lines about one run, the one that stands for it: the same whatever their order.
func (h *History) add(l line) {
	if before, there := h.runs[l.Entry.id()]; !there || l.replaces(before) {
		h.runs[l.Entry.id()] = l
	}
}

// replaces says whether a line stands for its run rather than another one: that of the later triage. Two that didn't
// know of each other, as of two branches, count equally often: then the one that saw more does.
func (l line) replaces(other line) bool {
	return cmp.Or(
		cmp.Compare(l.Entry.Triaged, other.Entry.Triaged),
		cmp.Compare(l.Entry.Totals.Scenarios, other.Entry.Totals.Scenarios),
		bytes.Compare(l.Digest, other.Digest),
	) > 0
}

// With is the history with one more run, such as the one in hand, whether or not it is recorded.
func (h *History) With(e Entry) (*History, error) {
	e.Triaged = h.next(e)
	l, err := h.line(e)
	if err != nil {
		return nil, err
	}
	with := &History{folder: h.folder, grouping: h.grouping, runs: maps.Clone(h.runs), Problems: h.Problems,
		Uncached: h.Uncached}
	with.add(l)
	with.index()
	return with, nil
}

// next is how often an entry's run was triaged, once more.
func (h *History) next(e Entry) int { return h.runs[e.id()].Entry.Triaged + 1 }

// line is an entry as it would be read.
func (h *History) line(e Entry) (line, error) {
	e, raw, err := e.encode()
	if err != nil {
		return line{}, err
	}
	return line{e.regrouped(h.grouping), digest(raw)}, nil
}

// index puts runs together to builds.
func (h *History) index() {
	byID := map[string][]Entry{}
	for id, l := range h.runs {
		byID[id.build] = append(byID[id.build], l.Entry)
	}
	h.builds = nil
	for _, runs := range byID {
		slices.SortFunc(runs, func(a, b Entry) int { return cmp.Compare(a.Run, b.Run) })
		h.builds = append(h.builds, join(runs))
	}
	slices.SortFunc(h.builds, func(a, b build) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.id, b.id)) })
}

// join makes one of the runs of a build.
func join(runs []Entry) build {
	b := build{id: runs[0].Build, change: runs[0].Change, time: runs[0].Time}
	groups := map[string]Group{}
	for _, run := range runs {
		if run.Change != b.change {
			b.change = ""
		}
		if run.Time.Before(b.time) {
			b.time = run.Time
		}
		b.total += run.Totals.Scenarios
		b.ran = append(b.ran, run.Ran)
		for _, g := range run.Groups {
			if same, there := groups[g.Key]; there {
				g = same.with(g)
			}
			groups[g.Key] = g
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		b.groups = append(b.groups, groups[key])
	}
	return b
}

// Builds is how many builds the history has.
func (h *History) Builds() int { return len(h.builds) }

// within gives the builds of a time up to now, all of them for a window of 0, each with its time, never after now.
func (h *History) within(window time.Duration, now time.Time) []build {
	var found []build
	for _, b := range h.builds {
		if b.time.After(now.Add(Skew)) {
			break // by time
		}
		if b.time.After(now) {
			b.time = now
		}
		if window <= 0 || b.time.After(now.Add(-window)) {
			found = append(found, b)
		}
	}
	return found
}
