package prepublish

import (
	"cmp"
	"slices"

	"salve/internal/hotfix"
)

// Effect is what a pointer means for a node.
type Effect struct {
	Target  string        `json:"target"`  // the program's version to install, or empty
	Scripts string        `json:"scripts"` // that of the scripts, or empty
	Reason  hotfix.Reason `json:"reason"`
	Canary  bool          `json:"canary,omitempty"` // the target is for the canary of its base
	// Refused is why nodes of the canary do not take its version.
	Refused hotfix.Reason `json:"refused,omitempty"`
}

// Group is the nodes of one base for which a pointer means the same.
type Group struct {
	Base     string `json:"base"` // empty where the version is none
	Nodes    int    `json:"nodes"`
	Versions int    `json:"versions"` // how many different ones they have
	Example  string `json:"example"`  // the lowest of these
	Effect
}

// Change is the nodes of one base for which two pointers mean different things, but
// the same as each other's.
type Change struct {
	Base     string `json:"base"`
	Nodes    int    `json:"nodes"`
	Versions int    `json:"versions"`
	Example  string `json:"example"`
	Before   Effect `json:"before"`
	After    Effect `json:"after"`
}

// Rule gives the effect of a pointer on a node.
type Rule func(hotfix.Node) Effect

// RuleOf is the rule of a pointer file, in whatever state it is: it is what nodes
// would decide.
func RuleOf(path string) Rule {
	pointer, err := hotfix.ReadPointer(path)
	return func(node hotfix.Node) Effect {
		return effectOf(hotfix.DecideRead(node, pointer, err))
	}
}

func effectOf(decision hotfix.Decision) Effect {
	effect := Effect{Target: decision.Wanted(), Reason: decision.Reason}
	if draw := decision.Canary; draw != nil {
		effect.Canary, effect.Refused = effect.Target != "" && draw.Takes, draw.Refused
	}
	if decision.Scripts.Target != nil {
		effect.Scripts = *decision.Scripts.Target
	}
	return effect
}

// Resolve tells who gets what.
func Resolve(fleet Fleet, rule Rule) []Group {
	type key struct {
		base   string
		effect Effect
	}
	groups := gather(fleet, func(node hotfix.Node, base string) (key, bool) { return key{base, rule(node)}, true })
	resolved := make([]Group, 0, len(groups))
	for of, sum := range groups {
		resolved = append(resolved, Group{of.base, sum.nodes, sum.versions, sum.example, of.effect})
	}
	slices.SortFunc(resolved, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Scripts, b.Scripts),
			cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Refused, b.Refused))
	})
	return resolved
}

// Differ tells for whom something changes, and what.
func Differ(fleet Fleet, before, after Rule) []Change {
	type key struct {
		base          string
		before, after Effect
	}
	groups := gather(fleet, func(node hotfix.Node, base string) (key, bool) {
		of := key{base, before(node), after(node)}
		return of, of.before != of.after
	})
	changes := make([]Change, 0, len(groups))
	for of, sum := range groups {
		changes = append(changes, Change{of.base, sum.nodes, sum.versions, sum.example, of.before, of.after})
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Base, b.Base), cmp.Compare(a.Example, b.Example))
	})
	return changes
}

// sum adds up the versions that belong together.
type sum struct {
	nodes, versions int
	example, last   string
}

// gather groups a fleet by a key; what has none is left out.
func gather[K comparable](fleet Fleet, keyOf func(node hotfix.Node, base string) (K, bool)) map[K]*sum {
	groups := map[K]*sum{}
	fleet.each(func(node hotfix.Node, base string, nodes int) {
		key, counts := keyOf(node, base)
		if !counts {
			return
		}
		group := groups[key]
		if group == nil {
			group = &sum{example: node.Version}
			groups[key] = group
		}
		group.nodes += nodes
		if group.versions == 0 || group.last != node.Version {
			group.versions++
		}
		group.last = node.Version
	})
	return groups
}
