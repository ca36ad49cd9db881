package console

import (
	"fmt"
	"slices"
	"strings"
)

// heldLines is how many lines are kept of a step that runs beside the one whose group is open, besides those that say
// what is wrong: none of these is ever left out.
const heldLines = 200

// groups writes lines in groups, one for each step. A host knows one open group at a time and no groups within groups:
// of steps that run at once the first has its group open and written as it happens; the lines of the others are held
// until that one is over.
type groups struct {
	host  Host
	write func(line string)
	// current is the key of the group that is opened.
	current string
	opened  bool
	waiting []*group
}

// group is one that waits.
type group struct {
	key, title string
	lines      []string
	// ordinary are the lines that might have been left out, and left how many were, behind the lines up to at.
	ordinary, left, at int
	over               bool
	// after are the lines that follow the group.
	after []string
}

// begin opens a group, now or when the open one is over.
func (g *groups) begin(key, title string) {
	switch {
	case g.isOpen(key) || g.of(key) != nil:
	case !g.opened:
		g.open(key, title)
	default:
		g.waiting = append(g.waiting, &group{key: key, title: title})
	}
}

func (g *groups) open(key, title string) {
	g.current, g.opened = key, true
	g.put(g.host.open(title))
}

// line writes a line into a group that was begun; any other stands where it is. Of a group that is held, ordinary lines
// are left out when there are too many.
func (g *groups) line(key, text string) {
	held := g.of(key)
	if held == nil {
		g.put(text)
		return
	}
	if held.ordinary++; held.ordinary <= heldLines {
		held.lines = append(held.lines, text)
		return
	}
	if held.left++; held.left == 1 {
		held.at = len(held.lines)
	}
}

// wrong writes a line that says what is wrong, as line does, and is never left out.
func (g *groups) wrong(key, text string) {
	if held := g.of(key); held != nil {
		held.lines = append(held.lines, text)
		return
	}
	g.put(text)
}

// all are the lines that were held, with how many were left out.
func (one *group) all() []string {
	if one.left == 0 {
		return one.lines
	}
	said := fmt.Sprintf("%d ordinary lines were left out here, and no warning or failure", one.left)
	return slices.Insert(slices.Clone(one.lines), one.at, said)
}

// end closes a group. after are lines that follow it.
func (g *groups) end(key string, after ...string) {
	if held := g.of(key); held != nil {
		held.over, held.after = true, after
		return
	}
	if g.isOpen(key) {
		g.put(g.host.end())
		g.opened = false
	}
	for _, line := range after {
		g.put(line)
	}
	if !g.opened {
		g.next()
	}
}

// next writes the groups that are over, and then opens the one that has waited longest.
func (g *groups) next() {
	running := slices.DeleteFunc(slices.Clone(g.waiting), func(one *group) bool { return one.over })
	for _, one := range g.waiting {
		if one.over {
			g.whole(one)
		}
	}
	g.waiting = running
	if len(running) == 0 {
		return
	}
	first := running[0]
	g.waiting = running[1:]
	g.open(first.key, first.title)
	for _, line := range first.all() {
		g.put(line)
	}
}

func (g *groups) whole(one *group) {
	g.put(g.host.open(one.title))
	for _, line := range one.all() {
		g.put(line)
	}
	g.put(g.host.end())
	for _, line := range one.after {
		g.put(line)
	}
}

// close closes what is open, so that what follows stands in no group.
func (g *groups) close() {
	if g.opened {
		g.put(g.host.end())
		g.opened = false
	}
	for _, one := range g.waiting {
		g.whole(one)
	}
	g.waiting = nil
}

func (g *groups) isOpen(key string) bool { return g.opened && g.current == key }

// of gives the group of a key that waits.
func (g *groups) of(key string) *group {
	for _, one := range g.waiting {
		if one.key == key {
			return one
		}
	}
	return nil
}

// put writes a line; an empty one is that of a host without groups.
func (g *groups) put(line string) {
	if line != "" {
		g.write(strings.TrimRight(line, " ") + "\n")
	}
}
