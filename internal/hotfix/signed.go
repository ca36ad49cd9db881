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
	decision.requireDigest(node, pointer, architecture)
	if decision.Scripts.Target != nil {
		if problem := pointer.lacks(*decision.Scripts.Target, AnyArchitecture); problem != "" {
			decision.Scripts = Scripts{Action: None}
			decision.Warnings = append(decision.Warnings, Warning{Field: fieldScripts, Problem: problem})
		}
	}
	return decision
}

// requireDigest takes back a target without a digest. A node of a canary then takes what all others take, if that has
// one in the same document: its owner has signed it for every node that does not take the canary's.
func (d *Decision) requireDigest(node Node, pointer Pointer, architecture string) {
	if d.Target == nil {
		return
	}
	problem := pointer.lacks(*d.Target, architecture)
	if problem == "" {
		return
	}
	warning := Warning{Field: fieldArtifacts, Problem: problem}
	others := ""
	if draw := d.Canary; draw != nil && draw.Takes {
		warning.Field = fieldCanaries
		d.Canary = draw.refused(ReasonNotUnderSignature)
		others = pointer.besideCanary(*draw, node)
	}
	d.Action, d.Target, d.Reason = None, nil, ReasonNotUnderSignature
	if others != "" && pointer.lacks(others, architecture) == "" {
		d.Action, d.Target, d.Reason = Install, &others, ReasonInstall
		warning.Problem += "; this node takes what is for all, " + others
	}
	d.Warnings = append(d.Warnings, warning)
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
