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
	Offset             int // where the value stands in the file
}

// Field names the key as warnings do.
func (k ArtifactKey) Field() string {
	return fmt.Sprintf("%s[%s][%s]", fieldArtifacts, quote(k.Base), quote(k.Architecture))
}

// ArtifactKeys lists the artifacts in the file's order. What stands where an object
// of architectures should is listed without architecture.
func (p Pointer) ArtifactKeys() []ArtifactKey {
	var keys []ArtifactKey
	for _, base := range membersOf(p.artifacts.value, p.artifacts.start) {
		named := membersOf(base.value, base.start)
		if len(base.value) > 0 && base.value[0] != '{' {
			keys = append(keys, ArtifactKey{Base: base.name, Offset: base.start})
		}
		for _, architecture := range named {
			keys = append(keys, ArtifactKey{base.name, architecture.name, architecture.start})
		}
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
