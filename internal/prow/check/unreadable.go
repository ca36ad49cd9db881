package check

import (
	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

// unreadableManifests are files that could not be read: UNKNOWN, for nothing can be
// concluded from what is missing. Folders that were left alone make the rule UNKNOWN and
// are said once.
func unreadableManifests(f *facts) (finding.List, finding.Lack) {
	found := fromDiagnostics(f.Manifests.Unreadable, manifest.RuleUnreadable,
		"fix the file, or keep it out of the folder")
	for i := range found {
		found[i].Severity = finding.Unknown
	}
	for _, left := range f.Manifests.LeftAlone {
		found = append(found, finding.Finding{Severity: finding.Unknown, Position: left.Position,
			Subject: finding.Subject{Detail: left.Position.File}, Message: "folder left alone: " + left.Reason,
			Mend: "check the rendered manifests: kustomize build or helm template into a folder"})
	}
	return found, nothing()
}
