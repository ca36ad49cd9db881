package check

import (
	"fmt"
	"slices"

	"salve/internal/prow/finding"
	"salve/internal/prow/manifest"
)

// sameBreath is C4: one change brings another version of what deploys Prow and of what
// writes branch protection. Taking back the one takes back the other, which then writes
// what it wrote before. Where Prow deploys itself, and the way back may be needed in a
// hurry, it is WARN; elsewhere INFO, since all versions are to be the same (P4).
func sameBreath(f *facts) (finding.List, finding.Lack) {
	bumped := bumps(f.Base.Manifests, f.Manifests)
	var protector, others []bump
	for _, b := range bumped {
		switch {
		case b.now.Name == "branchprotector":
			protector = append(protector, b)
		case b.now.Core:
			others = append(others, b)
		}
	}
	if len(protector) == 0 || len(others) == 0 {
		return nil, allManifests(f)
	}
	made := finding.Finding{Severity: finding.Info, Position: protector[0].now.Position,
		Subject: finding.Subject{Component: "branchprotector", Namespace: protector[0].now.Namespace},
		Message: "one change brings branchprotector and " + count(len(others), "other component", "other components") +
			" to another version: its revert puts an older branchprotector to work again",
		Mend: "split it: branchprotector in a change of its own, after the others have run for a while"}
	cyclic := f.cyclic()
	for _, b := range append(protector, others...) {
		line := b.String()
		if slices.Contains(cyclic, b.now.Name) {
			made.Severity = finding.Warn
			line += ", which the job that deploys Prow needs"
		}
		made.Evidence = append(made.Evidence, line)
	}
	return finding.List{made}, allManifests(f)
}

// bump is a component that comes in another version.
type bump struct{ before, now manifest.Component }

func (b bump) String() string {
	return fmt.Sprintf("%s: %s → %s (%s)", b.now.Name, b.before.Image.Version(), b.now.Image.Version(), b.now.Position)
}

func bumps(before, now *manifest.Set) []bump {
	type key struct{ name, kind, namespace, object string }
	old := map[key]manifest.Component{}
	for _, c := range before.Components {
		old[key{c.Name, c.Kind, c.Namespace, c.Object}] = c
	}
	var bumped []bump
	for _, c := range now.Components {
		was, ok := old[key{c.Name, c.Kind, c.Namespace, c.Object}]
		if ok && was.Image.Version() != c.Image.Version() {
			bumped = append(bumped, bump{was, c})
		}
	}
	return bumped
}
