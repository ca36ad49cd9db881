package prepublish

import (
	"salve/internal/hotfix"
)

// canaries finds those that reach nobody, or keep a version from nodes that another field gives it to.
func (d *document) canaries(pointer hotfix.Pointer) {
	for _, canary := range pointer.Canaries() {
		version, usable := canary.Usable()
		if !usable {
			continue // that is a warning of the pointer's own
		}
		for _, entry := range pointer.Entries() {
			if entry.Base == canary.Base && entry.Text == "" && entry.Problem == "" {
				d.add(canary.Field, canary.Offset, "%s says none for its base: nobody takes it", entry.Field)
			}
		}
		switch others, named := forAll(pointer, canary.Base); {
		case !named:
		case others.Patches(version):
			d.add(canary.Field, canary.Offset, "all nodes of its base take %s, which is higher: it reaches nobody", others)
		case !version.Patches(others):
			d.add(canary.Field, canary.Offset,
				"%s is also what all nodes of its base are to take: those that are none of the canary's take nothing", version)
		}
	}
}

// forAll gives the version that nodes of a base take which are no canary's.
func forAll(pointer hotfix.Pointer, base string) (version hotfix.Version, named bool) {
	entries := pointer.Entries()
	if len(entries) == 0 {
		version, named = usable(pointer.Legacy())
		return version, named && version.Base() == base
	}
	for _, entry := range entries {
		if entry.Base == base {
			return usable(entry)
		}
	}
	return hotfix.Version{}, false
}

// artifactAt gives the artifact under a key.
func artifactAt(pointer hotfix.Pointer, key hotfix.ArtifactKey) (hotfix.Artifact, bool, error) {
	if !key.Canary {
		return pointer.Artifact(key.Base, key.Architecture)
	}
	for _, canary := range pointer.Canaries() {
		if version, usable := canary.Usable(); usable && canary.Base == key.Base {
			return pointer.ArtifactOf(version, key.Architecture)
		}
	}
	return hotfix.Artifact{}, false, nil
}

// Share is how many of a list of nodes a canary reaches.
type Share struct {
	Base    string         `json:"base"`
	Target  string         `json:"target"`
	Percent hotfix.Percent `json:"percent"`
	Nodes   int            `json:"nodes"` // that it was drawn for
	Takes   int            `json:"takes"`
	Unknown int            `json:"unknown"` // that have no ID
}

// Shares tells whom the canaries of a pointer reach.
func Shares(fleet Fleet, pointer hotfix.Pointer) []Share {
	var shares []Share
	at := map[string]int{}
	for _, canary := range pointer.Canaries() {
		if version, usable := canary.Usable(); usable {
			at[canary.Base] = len(shares)
			shares = append(shares, Share{Base: canary.Base, Target: version.String(), Percent: canary.Share})
		}
	}
	if len(shares) == 0 {
		return nil
	}
	fleet.each(func(node hotfix.Node, base string, nodes int) {
		place, found := at[base]
		if !found {
			return
		}
		switch draw := hotfix.DecideFor(node, pointer).Canary; {
		case draw == nil:
		case draw.Number == nil:
			shares[place].Unknown += nodes
		default:
			shares[place].Nodes += nodes
			if draw.Takes {
				shares[place].Takes += nodes
			}
		}
	})
	return shares
}
