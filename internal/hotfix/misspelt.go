package hotfix

import (
	"fmt"
	"slices"
	"strings"
)

// Names of a pointer are literal. One that differs from a known one only in case or
// by one character is most likely a mistake, and says something else than what was
// meant: so nothing is done that it may have been meant to prevent.

// nearMisses are the unknown names of a pointer that are nearly known ones, by these.
type nearMisses map[string]string

// knownField is a field that counts, and what a name that is nearly its own keeps nodes
// from.
type knownField struct {
	name, consequence string
	also              []string // what else is meant for it
}

func knownFields() []knownField {
	return []knownField{
		{name: fieldHotfixes, consequence: "no node takes a program while it stands there"},
		{name: fieldCanaries, consequence: "no node takes a program while it stands there",
			also: []string{"canary", fieldPercent}},
		{name: fieldVersion, consequence: "no node takes a program by " + quote(fieldVersion) + " while it stands there"},
		{name: fieldScripts, consequence: "no node takes scripts while it stands there"},
		{name: fieldArtifacts, consequence: "no node fetches anything while it stands there"},
	}
}

// watchNames finds the fields of a pointer that are nearly known ones.
func (p *Pointer) watchNames(fields []member) {
	known := knownFields()
	for _, field := range fields {
		if slices.ContainsFunc(known, func(one knownField) bool { return one.name == field.name }) {
			continue
		}
		for _, one := range known {
			if !one.meant(field.name) {
				continue
			}
			if p.misspelt == nil {
				p.misspelt = nearMisses{}
			}
			p.misspelt[one.name] = field.name
			p.warn(quote(field.name),
				fmt.Sprintf("it is not %s: names are literal, and %s", quote(one.name), one.consequence), field.nameStart)
		}
	}
	if name, misspelt := p.misspelt[fieldScripts]; misspelt {
		p.scripts.Problem = fmt.Sprintf("%s may be meant for it", quote(name))
	}
}

func (k knownField) meant(name string) bool {
	return near(name, k.name) || slices.ContainsFunc(k.also, func(other string) bool { return near(name, other) })
}

// misspeltBase gives a key of hotfixes that may be meant for a base and isn't one. An
// entry whose version belongs to another base is meant for that.
func (p Pointer) misspeltBase(base string) (key string, found bool) {
	return misspeltAmong(p.hotfixes, base)
}

// misspeltCanary tells whether a key of canaries may be meant for a base and isn't one.
func (p Pointer) misspeltCanary(base string) bool {
	entries := make([]Entry, 0, len(p.canaries.entries))
	for _, canary := range p.canaries.entries {
		entries = append(entries, canary.Entry)
	}
	_, found := misspeltAmong(entries, base)
	return found
}

func misspeltAmong(entries []Entry, base string) (key string, found bool) {
	for _, entry := range entries {
		if ValidBase(entry.Base) || !near(entry.Base, base) {
			continue
		}
		if version, err := ParseVersion(entry.Text); err == nil && version.Base() != base {
			continue
		}
		return entry.Base, true
	}
	return "", false
}

// The names that artifacts have inside.
func architectures() []string {
	return []string{"amd64", "arm64", "arm", "386", "riscv64", "ppc64le", "s390x", "loong64", AnyArchitecture}
}

func artifactFields() []string { return []string{"url", "sha256", "size", "format"} }

// watchArtifacts warns of names inside of the artifacts.
func (p *Pointer) watchArtifacts() {
	for _, base := range membersOf(p.artifacts.value, p.artifacts.start) {
		if !ValidBase(base.name) {
			p.warn(fmt.Sprintf("%s[%s]", fieldArtifacts, quote(base.name)),
				"the key is not a base of the form YYYYMM.DD: no node has it"+nearBases(base.name), base.nameStart)
		}
		p.watchArchitectures(ArtifactKey{Base: base.name}, base)
	}
	for _, canary := range p.canaries.entries {
		p.watchArchitectures(ArtifactKey{Base: canary.Base, Canary: true}, canary.artifacts)
	}
}

func (p *Pointer) watchArchitectures(key ArtifactKey, of member) {
	for _, architecture := range membersOf(of.value, of.start) {
		key.Architecture = architecture.name
		p.watchNear(key.Field(), architecture, architectures())
		for _, of := range membersOf(architecture.value, architecture.start) {
			p.watchNear(fmt.Sprintf("%s[%s]", key.Field(), quote(of.name)), of, artifactFields())
		}
	}
}

// watchNear warns of a name that is nearly a known one.
func (p *Pointer) watchNear(field string, of member, known []string) {
	if slices.Contains(known, of.name) {
		return
	}
	for _, one := range known {
		if near(of.name, one) {
			p.warn(field, fmt.Sprintf("it is not %s: names are literal, and what it belongs to is not fetched", quote(one)),
				of.nameStart)
			return
		}
	}
}

// nearBases says what a key does that nearly has the form of a base.
func nearBases(key string) string {
	if length := len(key); length < baseLength-1 || length > baseLength+1 {
		return ""
	}
	return "; nodes whose base differs from it in one character take nothing by it or beside it"
}

// nearMember gives a member's name that is nearly a key, and none of the names that
// are known.
func nearMember(members []member, key string, known func(string) bool) (name string, found bool) {
	for _, one := range members {
		if one.name != key && !known(one.name) && near(one.name, key) {
			return one.name, true
		}
	}
	return "", false
}

// near tells whether two names are the same but for case and for one character that
// is another one, missing, too much, or in its neighbour's place.
func near(a, b string) bool {
	if len(a) > 4*len(b)+8 { // whatever its characters are
		return false
	}
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 {
		return false
	}
	at := 0
	for at < len(x) && x[at] == y[at] {
		at++
	}
	switch {
	case len(x) < len(y):
		return slices.Equal(x[at:], y[at+1:])
	case at == len(x), slices.Equal(x[at+1:], y[at+1:]):
		return true
	}
	return at+1 < len(x) && x[at] == y[at+1] && x[at+1] == y[at] && slices.Equal(x[at+2:], y[at+2:])
}
