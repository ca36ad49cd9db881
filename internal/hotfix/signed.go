package hotfix

import (
	"slices"
	"strings"
)

// DecideSigned is DecideFor, for nodes of an architecture, as Go names it, that follow signed pointers alone: whatever
// is installed has its digest under the signature.
func DecideSigned(node Node, pointer Pointer, architecture string) Decision {
	decision := DecideFor(node, pointer)
	decision.Warnings = slices.Clone(decision.Warnings) // the pointer's own
	if decision.Target != nil {
		if problem := pointer.lacks(*decision.Target, architecture); problem != "" {
			decision.Action, decision.Target, decision.Reason = None, nil, ReasonNotUnderSignature
			decision.Warnings = append(decision.Warnings, Warning{Field: fieldArtifacts, Problem: problem})
		}
	}
	if decision.Scripts.Target != nil {
		if problem := pointer.lacks(*decision.Scripts.Target, AnyArchitecture); problem != "" {
			decision.Scripts = Scripts{Action: None}
			decision.Warnings = append(decision.Warnings, Warning{Field: fieldScripts, Problem: problem})
		}
	}
	return decision
}

// lacks says why a version can't be installed by a signed pointer: an unsigned one, or one that names no artifact that
// can be used for the version's base and the architecture. It is empty where it can.
func (p Pointer) lacks(target, architecture string) string {
	if !p.provenance.Signed {
		return "nobody signed the pointer"
	}
	version, err := ParseVersion(target)
	if err != nil {
		return err.Error()
	}
	switch _, found, err := p.ArtifactOf(version, architecture); {
	case err != nil:
		return err.Error()
	case !found:
		return strings.Join([]string{"no artifact for base", version.Base(), "and architecture", architecture,
			"is under the signature"}, " ")
	}
	return ""
}
