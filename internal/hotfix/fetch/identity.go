package fetch

import (
	"crypto/sha256"
	"encoding/hex"

	"salve/internal/hotfix"
)

// ProgramSource tells the place that the program of a version would come from, from
// others and from itself when the node's files about it have changed. It asks nobody.
func (o *Fetcher) ProgramSource(pointer hotfix.Pointer, want hotfix.Version) string {
	return o.source(pointer, o.program(pointer, want, ""))
}

// ScriptsSource is ProgramSource for the payload of scripts.
func (o *Fetcher) ScriptsSource(pointer hotfix.Pointer, want hotfix.Version) string {
	return o.source(pointer, o.scripts(pointer, want, ""))
}

func (o *Fetcher) source(pointer hotfix.Pointer, e request) string {
	artifact, err := vouched(pointer, e)
	switch {
	case err != nil:
		return err.Error()
	case artifact != nil && artifact.URL != "":
		return artifact.URL + " " + artifact.SHA256
	}
	using, err := o.manager()
	if err != nil {
		return err.Error()
	}
	source := e.packageName + " " + e.inside + " " + using.identity()
	if artifact != nil {
		source += " " + artifact.SHA256
	}
	return source
}

// fileIdentity is a path and what is there now.
func fileIdentity(path string) string {
	raw, err := hotfix.ReadRegular(path, maxSources)
	if err != nil {
		return path + " " + err.Error()
	}
	digest := sha256.Sum256(raw)
	return path + " " + hex.EncodeToString(digest[:])
}
