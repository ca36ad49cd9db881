package prepublish

import (
	"slices"

	"salve/internal/hotfix"
)

// notUnderSignature finds entries of a signed pointer whose bytes nobody signs: no node installs those.
func (d *document) notUnderSignature(pointer hotfix.Pointer) {
	keys := pointer.ArtifactKeys()
	lacks := func(entry hotfix.Entry, isFor func(architecture string) bool) bool {
		version, usable := usable(entry)
		return usable && !slices.ContainsFunc(keys, func(key hotfix.ArtifactKey) bool {
			return key.Base == version.Base() && isFor(key.Architecture)
		})
	}
	ofScripts := func(architecture string) bool { return architecture == hotfix.AnyArchitecture }
	ofProgram := func(architecture string) bool { return !ofScripts(architecture) }
	for _, entry := range append(slices.Clone(pointer.Entries()), pointer.Legacy()) {
		if lacks(entry, ofProgram) {
			d.add(entry.Field, entry.Offset, "no artifact of its base is under the signature: no node installs it")
		}
	}
	if scripts := pointer.Scripts(); lacks(scripts, ofScripts) {
		d.add(scripts.Field, scripts.Offset, "no artifact %q of its base is under the signature: no node installs it",
			hotfix.AnyArchitecture)
	}
}

// RuleSigned is the rule of a signed pointer for nodes of an architecture.
func RuleSigned(pointer hotfix.Pointer, architecture string) Rule {
	return func(version string) Effect { return effectOf(hotfix.DecideSigned(version, pointer, architecture)) }
}

// FleetOf is one node of each base that a pointer names, with the first version of its image.
func FleetOf(pointer hotfix.Pointer) Fleet {
	fleet := Fleet{map[string][]int{}, map[string]int{}}
	add := func(base string) {
		if hotfix.ValidBase(base) && fleet.patches[base] == nil {
			fleet.patches[base] = []int{0}
		}
	}
	for _, entry := range pointer.Entries() {
		add(entry.Base)
	}
	for _, entry := range []hotfix.Entry{pointer.Legacy(), pointer.Scripts()} {
		if version, usable := usable(entry); usable {
			add(version.Base())
		}
	}
	return fleet
}
