package prepublish

import (
	"slices"

	"salve/internal/hotfix"
)

// Names are those of the packages that nodes take.
type Names struct{ Program, Scripts string }

// target is one thing that nodes of an architecture would fetch.
type target struct {
	entry        hotfix.Entry
	version      hotfix.Version
	packageName  string
	architecture string
	artifactKey  string // the architecture's key among the artifacts
}

// targets lists what nodes would fetch by a pointer. What no node would even try is
// a finding of Lint, and there is nothing to look for.
func targets(pointer hotfix.Pointer, names Names, architectures []string) []target {
	programs := pointer.Entries()
	if len(programs) == 0 {
		programs = []hotfix.Entry{pointer.Legacy()}
	}
	for _, canary := range pointer.Canaries() {
		programs = append(slices.Clone(programs), canary.Entry)
	}
	var found []target
	for _, architecture := range architectures {
		for _, entry := range programs {
			if version, usable := usable(entry); usable {
				found = append(found, target{entry, version, names.Program, architecture, architecture})
			}
		}
		if version, usable := usable(pointer.Scripts()); usable {
			found = append(found, target{pointer.Scripts(), version, names.Scripts, architecture, hotfix.AnyArchitecture})
		}
	}
	return found
}
