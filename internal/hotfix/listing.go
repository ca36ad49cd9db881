package hotfix

import (
	"fmt"
	"strings"
)

// What a node never asks of a pointer, and its authors do.

// Legacy is the entry of «version».
func (p Pointer) Legacy() Entry { return p.version }

// Scripts is the entry of «scripts_version».
func (p Pointer) Scripts() Entry { return p.scripts }

// Invalid says what is wrong with «hotfixes» as a whole; it is empty when nothing is.
func (p Pointer) Invalid() string { return p.invalid }

// ArtifactKey is where a pointer names an artifact, or tries to.
type ArtifactKey struct {
	Base, Architecture string
	Canary             bool // it is the canary's own
	Offset             int  // where the value stands in the file
}

// Field names the key as warnings do.
func (k ArtifactKey) Field() string {
	if k.Canary {
		return fmt.Sprintf("%s[%s].%s[%s]", fieldCanaries, quote(k.Base), fieldArtifacts, quote(k.Architecture))
	}
	return fmt.Sprintf("%s[%s][%s]", fieldArtifacts, quote(k.Base), quote(k.Architecture))
}

// ArtifactKeys lists the artifacts in the file's order. What stands where an object
// of architectures should is listed without architecture.
func (p Pointer) ArtifactKeys() []ArtifactKey {
	var keys []ArtifactKey
	for _, base := range membersOf(p.artifacts.value, p.artifacts.start) {
		keys = append(keys, keysBelow(ArtifactKey{Base: base.name}, base)...)
	}
	for _, canary := range p.canaries.entries {
		keys = append(keys, keysBelow(ArtifactKey{Base: canary.Base, Canary: true}, canary.artifacts)...)
	}
	return keys
}

func keysBelow(key ArtifactKey, of member) (keys []ArtifactKey) {
	if len(of.value) > 0 && of.value[0] != '{' {
		key.Offset = of.start
		return []ArtifactKey{key}
	}
	for _, architecture := range membersOf(of.value, of.start) {
		key.Architecture, key.Offset = architecture.name, architecture.start
		keys = append(keys, key)
	}
	return keys
}

// PackagedAs tells whether a package's version carries v: v itself, or v with a
// distribution's suffix behind it where v has none. 1.10 is never taken for 1.1.
func (v Version) PackagedAs(version string) bool {
	if version == v.String() {
		return true
	}
	return v.suffix == "" && strings.HasPrefix(version, v.String()+"-")
}
