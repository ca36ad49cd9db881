package hotfix

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Bounds of a pointer file. What exceeds them is not read.
const (
	MaxPointerSize = 64 << 10 // bytes
	maxNesting     = 32
)

// The fields of a pointer. Others are ignored, and kept when it is rewritten.
const (
	fieldVersion   = "version"
	fieldScripts   = "scripts_version"
	fieldHotfixes  = "hotfixes"
	fieldCanaries  = "canaries"
	fieldArtifacts = "artifacts"
)

// Pointer says which hotfix is published, to whom. Its zero value names none.
type Pointer struct {
	raw       []byte
	version   Entry
	scripts   Entry
	hotfixes  []Entry
	byBase    map[string]int // the place in hotfixes
	invalid   string         // what is wrong with the field «hotfixes» as a whole
	canaries  canaries
	artifacts member
	misspelt  nearMisses // of the fields above
	warnings  []Warning
	// provenance is what By said; nobody signed the pointer before that.
	provenance Provenance
}

// Entry is one version that a pointer names, or fails to.
type Entry struct {
	Field   string // version, scripts_version, or hotfixes["YYYYMM.DD"]
	Base    string // the key, for an entry of hotfixes
	Text    string // the value without white space around it; empty means «none»
	Problem string // why the value can't be used; empty when it can
	Offset  int    // where it stands in the file
}

// Warning is something of a pointer that its author should mend.
type Warning struct {
	Field   string `json:"field"`
	Problem string `json:"problem"`
	Offset  int    `json:"-"` // where it stands in the file
}

// ParsePointer reads the contents of a pointer file. An error means that the
// document as a whole can't be used; what is wrong with one field or entry spoils
// that one alone and is among the Warnings.
func ParsePointer(raw []byte) (Pointer, error) {
	if len(raw) > MaxPointerSize {
		return Pointer{}, fmt.Errorf("it is larger than %d bytes", MaxPointerSize)
	}
	if err := checkDocument(raw); err != nil {
		return Pointer{}, err
	}
	p := Pointer{raw: raw}
	start := strings.IndexByte(string(raw), '{')
	fields, twice := byName(membersOf(raw[start:], start))
	for _, field := range fields {
		repeated := ""
		if twice[field.name] {
			repeated = "it is given twice; nobody can tell which is meant"
			p.warn(field.name, repeated, field.nameStart)
		}
		switch field.name {
		case fieldVersion:
			p.version = p.single(field, repeated)
		case fieldScripts:
			p.scripts = p.single(field, repeated)
		case fieldHotfixes:
			p.readHotfixes(field, repeated)
		case fieldCanaries:
			p.readCanaries(field, repeated)
		case fieldArtifacts:
			p.artifacts = field
			if repeated != "" {
				p.artifacts.value = nil
			}
		}
	}
	p.watchArtifacts()
	p.watchNames(fields)
	return p, nil
}

// Digest tells a pointer from any other, byte for byte.
func (p Pointer) Digest() string {
	digest := sha256.Sum256(p.raw)
	return hex.EncodeToString(digest[:])
}

// Warnings is what the pointer's author should mend, in the file's order.
func (p Pointer) Warnings() []Warning { return p.warnings }

// Entries lists the entries of hotfixes in the file's order.
func (p Pointer) Entries() []Entry { return p.hotfixes }

// single reads a field that holds one version.
func (p *Pointer) single(field member, problem string) Entry {
	entry := Entry{Field: field.name, Offset: field.start, Problem: problem}
	if problem == "" {
		entry.Text, entry.Problem = text(field.value)
		p.evaluate(entry)
	}
	return entry
}

func (p *Pointer) readHotfixes(field member, problem string) {
	if problem == "" && field.value[0] != '{' && string(field.value) != "null" {
		problem = "it has to be an object from base to version"
		p.warn(field.name, problem, field.start)
	}
	if p.invalid = problem; problem != "" {
		return
	}
	entries, twice := byName(membersOf(field.value, field.start))
	p.byBase = make(map[string]int, len(entries))
	for _, given := range entries {
		entry := Entry{Field: fmt.Sprintf("%s[%s]", field.name, quote(given.name)), Base: given.name, Offset: given.start}
		entry.Text, entry.Problem = text(given.value)
		if twice[given.name] {
			entry.Problem = "the base is given twice; nobody can tell which is meant"
		}
		if !ValidBase(given.name) {
			p.warn(entry.Field, "the key is not a base of the form YYYYMM.DD: no node has it"+nearBases(given.name),
				given.nameStart)
		}
		p.evaluate(entry)
		p.byBase[given.name] = len(p.hotfixes)
		p.hotfixes = append(p.hotfixes, entry)
	}
}

// evaluate warns of an entry that no node could use.
func (p *Pointer) evaluate(entry Entry) {
	problem := entry.Problem
	if problem == "" && entry.Text != "" {
		if _, err := ParseVersion(entry.Text); err != nil {
			problem = err.Error()
		}
	}
	if problem != "" {
		p.warn(entry.Field, problem, entry.Offset)
	}
}

func (p *Pointer) warn(field, problem string, offset int) {
	p.warnings = append(p.warnings, Warning{Field: field, Problem: problem, Offset: offset})
}

// text reads a version's text; null is absent, like an empty one.
func text(value json.RawMessage) (content, problem string) {
	if string(value) == "null" {
		return "", ""
	}
	if err := json.Unmarshal(value, &content); err != nil {
		return "", "it has to be a text"
	}
	return strings.TrimSpace(content), ""
}

// byName gives each name once, at its last place, and says which came twice.
func byName(members []member) (once []member, twice map[string]bool) {
	place := make(map[string]int, len(members))
	twice = map[string]bool{}
	for _, m := range members {
		if at, seen := place[m.name]; seen {
			twice[m.name] = true
			once[at] = m
			continue
		}
		place[m.name] = len(once)
		once = append(once, m)
	}
	return once, twice
}
