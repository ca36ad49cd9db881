package prepublish

import (
	"slices"

	"salve/internal/hotfix"
)

// notUnderSignature finds entries of a signed pointer whose bytes nobody signs: no node installs those.
func (d *document) notUnderSignature(pointer hotfix.Pointer) {
	keys := pointer.ArtifactKeys()
	has := func(base string, canary bool, isFor func(architecture string) bool) bool {
		return slices.ContainsFunc(keys, func(key hotfix.ArtifactKey) bool {
			return key.Base == base && key.Canary == canary && isFor(key.Architecture)
		})
	}
	lacks := func(entry hotfix.Entry, isFor func(architecture string) bool) bool {
		version, usable := usable(entry)
		return usable && !has(version.Base(), false, isFor)
	}
	ofScripts := func(architecture string) bool { return architecture == hotfix.AnyArchitecture }
	ofProgram := func(architecture string) bool { return !ofScripts(architecture) }
	for _, entry := range append(slices.Clone(pointer.Entries()), pointer.Legacy()) {
		if lacks(entry, ofProgram) {
			d.add(entry.Field, entry.Offset, "no artifact of its base is under the signature: no node installs it")
		}
	}
	for _, canary := range pointer.Canaries() {
		version, usable := canary.Usable()
		others, named := forAll(pointer, canary.Base)
		switch own := has(canary.Base, true, ofProgram); {
		case !usable, own:
		case lacks(canary.Entry, ofProgram):
			d.add(canary.Field, canary.Offset, "no artifact of its base is under the signature: no node installs it")
		case named && others != version:
			d.add(canary.Field, canary.Offset, "it has no artifacts of its own, and those of its base are for %s", others)
		}
	}
	if scripts := pointer.Scripts(); lacks(scripts, ofScripts) {
		d.add(scripts.Field, scripts.Offset, "no artifact %q of its base is under the signature: no node installs it",
			hotfix.AnyArchitecture)
	}
}

// RuleSigned is the rule of a signed pointer for nodes of an architecture.
func RuleSigned(pointer hotfix.Pointer, architecture string) Rule {
	return func(node hotfix.Node) Effect { return effectOf(hotfix.DecideSigned(node, pointer, architecture)) }
}

// FleetOf is one node of each base that a pointer names, with the first version of its image.
func FleetOf(pointer hotfix.Pointer) Fleet {
	fleet := Fleet{patches: map[string][]int{}, others: map[string]int{}}
	add := func(base string) {
		if hotfix.ValidBase(base) && fleet.patches[base] == nil {
			fleet.patches[base] = []int{0}
		}
	}
	for _, entry := range pointer.Entries() {
		add(entry.Base)
	}
	for _, canary := range pointer.Canaries() {
		add(canary.Base)
	}
	for _, entry := range []hotfix.Entry{pointer.Legacy(), pointer.Scripts()} {
		if version, usable := usable(entry); usable {
			add(version.Base())
		}
	}
	return fleet
}
