package fleetstatus

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Asked is what of a rollout is looked at.
type Asked struct {
	Target string    // boots about this one alone; empty: what each node's last boot was about
	Since  time.Time // boots that began at or after it
	Now    time.Time // what lies far behind it was written by a clock that was wrong
}

// Status is what a rollout came to.
type Status struct {
	Nodes    int       `json:"nodes"`
	Groups   []Group   `json:"groups"`
	Problems []Problem `json:"problems"` // by node; none of them means that nothing stops the rollout
	// Unseen are the nodes of which no boot could be read that was asked for.
	Unseen []string `json:"unseen"`
	Files  Files    `json:"files"`
}

// Group is the nodes of one base whose last boot was about one target.
type Group struct {
	Base   string        `json:"base"`   // empty where no event says it
	Target string        `json:"target"` // empty where none was named
	Nodes  int           `json:"nodes"`
	States map[State]int `json:"states"`
	Causes []Cause       `json:"causes"`
}

// Cause is why nodes are in a state, the commonest first.
type Cause struct {
	State State  `json:"state"`
	Says  string `json:"says"`
	Nodes int    `json:"nodes"`
}

const (
	maxCauses = 20
	maxSays   = 200 // bytes
)

// Read reads what was collected in folders.
func Read(ctx context.Context, dirs []string, asked Asked) (Status, error) {
	status := Status{Groups: []Group{}, Problems: []Problem{}, Unseen: []string{}}
	from := newReader(asked.Now)
	groups := map[[2]string]*group{}
	var names []string
	for _, dir := range dirs {
		var tooMany error
		err := collect(ctx, dir, from, func(n node) {
			if status.Nodes++; status.Nodes > maxNodes {
				tooMany = fmt.Errorf("more than %d nodes", maxNodes)
				return
			}
			names = append(names, n.name)
			status.add(n, asked, groups)
		})
		if err = cmp.Or(err, tooMany); err != nil {
			return Status{}, err
		}
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) < len(names) {
		return Status{}, fmt.Errorf("node %q is in two of the folders: it would be counted twice", twice(names))
	}
	byName := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(groups), byName) {
		status.Groups = append(status.Groups, groups[key].sum())
	}
	status.Files = from.Files
	slices.SortFunc(status.Files.Named, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortStableFunc(status.Problems, func(a, b Problem) int { return cmp.Compare(a.Node, b.Node) })
	return status, nil
}

func twice(sorted []string) string {
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return sorted[i]
		}
	}
	return ""
}

// add counts a node by its last boot. Its problems are those of all boots about the same target.
func (s *Status) add(n node, asked Asked, groups map[[2]string]*group) {
	boots := slices.DeleteFunc(bootsOf(n.events), func(b boot) bool {
		return b.at.Before(asked.Since) || asked.Target != "" && b.target != asked.Target
	})
	if len(boots) == 0 {
		s.Unseen = append(s.Unseen, n.name)
		return
	}
	last := boots[len(boots)-1]
	key := [2]string{last.base, last.target}
	if groups[key] == nil {
		groups[key] = &group{Group: Group{Base: last.base, Target: last.target, States: map[State]int{}},
			causes: map[Cause]int{}}
	}
	groups[key].add(last)
	at := map[string]int{}
	for _, b := range boots {
		if b.target != last.target {
			continue
		}
		for _, problem := range b.problems {
			problem.Node, problem.Says = n.name, bounded(problem.Says)
			if before, seen := at[problem.Problem]; seen {
				problem.Times += s.Problems[before].Times
				s.Problems[before] = problem // the last one is told
				continue
			}
			at[problem.Problem] = len(s.Problems)
			s.Problems = append(s.Problems, problem)
		}
	}
}

type group struct {
	Group
	causes map[Cause]int
}

func (g *group) add(b boot) {
	g.Nodes++
	g.States[b.state]++
	if b.reason != "" {
		g.causes[Cause{State: b.state, Says: bounded(b.reason)}]++
	}
}

func (g *group) sum() Group {
	g.Causes = make([]Cause, 0, min(len(g.causes), maxCauses+1))
	for cause, nodes := range g.causes {
		cause.Nodes = nodes
		g.Causes = append(g.Causes, cause)
	}
	slices.SortFunc(g.Causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.State, b.State), cmp.Compare(a.Says, b.Says))
	})
	if more := len(g.Causes) - maxCauses; more > 0 {
		rest := Cause{Says: fmt.Sprintf("%d other causes", more)}
		for _, one := range g.Causes[maxCauses:] {
			rest.Nodes += one.Nodes
		}
		g.Causes = append(g.Causes[:maxCauses], rest)
	}
	return g.Group
}

// bounded is a text of an event on one line, cut.
func bounded(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxSays {
		return text
	}
	end := maxSays
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
