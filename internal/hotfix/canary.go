package hotfix

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Canary is an entry of «canaries»: a version for a share of a base's nodes, ahead of the others. As an Entry it names
// the version; its Problem is what makes that unknown.
type Canary struct {
	Entry
	Share   Percent
	unknown string // what is wrong with the share; empty when nothing is
	// artifacts are the canary's own, from architecture to artifact.
	artifacts member
}

// The fields of a canary. Others are ignored.
const fieldPercent = "percent"

func isCanaryField(name string) bool {
	return slices.Contains([]string{fieldVersion, fieldPercent, fieldArtifacts}, name)
}

// canaries is the field as a whole.
type canaries struct {
	entries []Canary
	byBase  map[string]int // the place in entries
	invalid string         // what is wrong with the field as a whole
}

// Canaries lists the canaries in the file's order.
func (p Pointer) Canaries() []Canary { return p.canaries.entries }

// Usable gives the version and the share of a canary that can be followed.
func (c Canary) Usable() (Version, bool) {
	version, known := c.version()
	return version, known && c.unknown == ""
}

// version is the canary's, if it is known and of the base.
func (c Canary) version() (Version, bool) {
	if c.Problem != "" {
		return Version{}, false
	}
	version, err := ParseVersion(c.Text)
	return version, err == nil && version.Base() == c.Base
}

func (p *Pointer) readCanaries(field member, problem string) {
	if problem == "" && field.value[0] != '{' && string(field.value) != "null" {
		problem = "it has to be an object from base to version and percent"
		p.warn(field.name, problem, field.start)
	}
	if p.canaries.invalid = problem; problem != "" {
		return
	}
	entries, twice := byName(membersOf(field.value, field.start))
	p.canaries.byBase = make(map[string]int, len(entries))
	for _, given := range entries {
		if string(given.value) == "null" && !twice[given.name] {
			continue // absent
		}
		canary := readCanary(field.name, given)
		if twice[given.name] {
			canary.Problem = "the base is given twice; nobody can tell which is meant"
		}
		if !ValidBase(given.name) {
			p.warn(canary.Field, "the key is not a base of the form YYYYMM.DD: no node has it"+nearBases(given.name),
				given.nameStart)
		}
		for _, problem := range []string{canary.Problem, canary.unknown} {
			if problem != "" {
				p.warn(canary.Field, problem, given.start)
			}
		}
		p.canaries.byBase[given.name] = len(p.canaries.entries)
		p.canaries.entries = append(p.canaries.entries, canary)
	}
}

// readCanary takes the fields by their exact names, each given once.
func readCanary(in string, given member) Canary {
	canary := Canary{Entry: Entry{Field: fmt.Sprintf("%s[%s]", in, quote(given.name)), Base: given.name,
		Offset: given.start}}
	if given.value[0] != '{' {
		canary.Problem = "it has to be an object of version and percent"
		return canary
	}
	canary.Text, canary.Problem = canaryVersion(given)
	canary.Share, canary.unknown = canaryShare(given)
	for _, one := range membersOf(given.value, given.start) {
		if one.name == fieldArtifacts && string(one.value) != "null" {
			canary.artifacts = one
		}
	}
	return canary
}

func canaryVersion(of member) (content, problem string) {
	value, _, err := lookUp(of.value, fieldVersion, isCanaryField)
	if err != nil {
		return "", err.Error()
	}
	if content, problem = text(value); problem != "" {
		return content, fieldVersion + ": " + problem
	}
	wanted, err := ParseVersion(content)
	switch {
	case content == "":
		problem = fieldVersion + " is missing"
	case err != nil:
		problem = err.Error()
	case ValidBase(of.name) && wanted.Base() != of.name:
		problem = fmt.Sprintf("%s is of base %s: no node of base %s takes it", wanted, wanted.Base(), of.name)
	}
	return content, problem
}

// canaryShare also looks at the names of the rest: an invalid one may be meant to limit it.
func canaryShare(of member) (share Percent, problem string) {
	value, found, err := lookUp(of.value, fieldPercent, isCanaryField)
	if err == nil && !found {
		return 0, fieldPercent + " is missing"
	}
	if err == nil {
		share, err = ParsePercent(string(value))
	}
	if err == nil {
		_, _, err = lookUp(of.value, fieldArtifacts, isCanaryField)
	}
	if err != nil {
		return 0, err.Error()
	}
	return share, ""
}

// Draw says what came of a canary for a node.
type Draw struct {
	Target  string  `json:"target"` // the canary's version
	Percent Percent `json:"percent"`
	Node    string  `json:"node,omitempty"`   // the ID that was drawn by; empty where it isn't known
	Number  *int    `json:"number,omitempty"` // 0 to 9999: the node is one of the canary's below 100 times the percentage
	Takes   bool    `json:"takes"`
	// Refused is why a node of the canary's does not take its version all the same; empty where it does, or is none.
	Refused Reason `json:"refused,omitempty"`
}

// Missed says why a canary does not reach a node that it is meant for, or may be; it is empty where it does, and where
// the node is none of its.
func (d *Draw) Missed() Reason {
	switch {
	case d == nil:
		return ""
	case d.Number == nil:
		return ReasonNoNodeID
	}
	return d.Refused
}

// refused is the draw of a node that can't take the canary's version.
func (d Draw) refused(why Reason) *Draw {
	d.Takes, d.Refused = false, why
	return &d
}

// throughCanary changes what a node would take of what is for all, by the canary of its base. What a canary may be
// meant to limit is never taken beside it; an earlier version is not that.
func (p Pointer) throughCanary(node Node, forAll string, reason Reason) (string, Reason, *Draw) {
	if p.canaries.invalid == "" && len(p.canaries.entries) == 0 {
		return forAll, reason, nil
	}
	own, err := ParseVersion(node.Version)
	switch {
	case err != nil:
		return "", ReasonCurrentMalformed, nil
	case p.canaries.invalid != "":
		return "", ReasonCanaryMalformed, nil
	case p.misspeltCanary(own.Base()):
		return "", ReasonMisspelt, nil
	}
	at, found := p.canaries.byBase[own.Base()]
	if !found {
		return forAll, reason, nil
	}
	canary := p.canaries.entries[at]
	target, known := canary.version()
	if !known {
		return "", ReasonCanaryMalformed, nil
	}
	others, err := ParseVersion(forAll)
	switch {
	case !target.Patches(own): // the image has it
		return forAll, reason, nil
	case err == nil && others.Patches(target): // everybody is ahead of the canary
		return forAll, reason, nil
	}
	draw, out := canary.draw(target, node)
	switch {
	case draw != nil && draw.Takes:
		return target.String(), ReasonInstall, draw
	case err == nil && target.Patches(others):
		return forAll, reason, draw
	}
	return "", out, draw
}

// besideCanary is what a node of a canary would take if it were none of it: an earlier version, or none.
func (p Pointer) besideCanary(draw Draw, node Node) (target string) {
	forAll, reason := p.forAll(node.Version)
	others, err := ParseVersion(forAll)
	canary, canaryErr := ParseVersion(draw.Target)
	if reason != ReasonInstall || err != nil || canaryErr != nil || !canary.Patches(others) {
		return ""
	}
	return others.String()
}

// draw tells whether a node is one of the canary's, and why if it isn't.
func (c Canary) draw(target Version, node Node) (*Draw, Reason) {
	if c.unknown != "" {
		return nil, ReasonCanaryMalformed
	}
	draw := &Draw{Target: target.String(), Percent: c.Share}
	id, err := ParseNodeID(node.ID)
	if err != nil {
		return draw, ReasonNoNodeID
	}
	number := drawn(id, draw.Target)
	draw.Node, draw.Number, draw.Takes = id, &number, number < int(c.Share)
	return draw, ReasonNotInCanary
}

// canaryArtifacts are those of a canary's own for a target; found is false where it is no canary's, or has none.
func (p Pointer) canaryArtifacts(target Version) (field string, architectures json.RawMessage, found bool) {
	at, named := p.canaries.byBase[target.Base()]
	if !named {
		return "", nil, false
	}
	canary := p.canaries.entries[at]
	version, known := canary.version()
	if !known || version != target || canary.artifacts.name == "" {
		return "", nil, false
	}
	return canary.Field + "." + fieldArtifacts, canary.artifacts.value, true
}
