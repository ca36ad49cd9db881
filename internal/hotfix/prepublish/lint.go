package prepublish

import (
	"cmp"
	"slices"

	"salve/internal/hotfix"
)

// Lint lists what is wrong with a pointer file, in the file's order. before is what
// the file held before the change, or nil: then nothing can go backwards.
func Lint(file string, raw, before []byte) []Finding {
	return LintBy(hotfix.Provenance{}, file, raw, before)
}

// LintBy is Lint for a pointer that will be vouched for: what a signed one may name is another matter.
func LintBy(by hotfix.Provenance, file string, raw, before []byte) []Finding {
	d := &document{file: file, raw: raw}
	pointer, err := hotfix.ParsePointer(raw)
	if err != nil {
		d.addWhole(err)
		return d.findings
	}
	if pointer = pointer.By(by); by.Signed {
		d.notUnderSignature(pointer)
	}
	for _, warning := range pointer.Warnings() {
		d.add(warning.Field, warning.Offset, "%s", warning.Problem)
	}
	d.neverTaken(pointer)
	d.artifacts(pointer)
	d.canaries(pointer)
	if was, err := hotfix.ParsePointer(before); err == nil {
		d.backwards(pointer, was)
	}
	slices.SortStableFunc(d.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return d.findings
}

// neverTaken finds entries of another base than their key's: no node takes those.
func (d *document) neverTaken(pointer hotfix.Pointer) {
	for _, entry := range pointer.Entries() {
		version, usable := usable(entry)
		if usable && hotfix.ValidBase(entry.Base) && version.Base() != entry.Base {
			d.add(entry.Field, entry.Offset, "%s is of base %s: no node of base %s takes it", version,
				version.Base(), entry.Base)
		}
	}
}

func (d *document) artifacts(pointer hotfix.Pointer) {
	for _, key := range pointer.ArtifactKeys() {
		if _, _, err := artifactAt(pointer, key); err != nil {
			d.add("", key.Offset, "%v", err)
		}
	}
}

// backwards finds versions that are lower than before. Nodes never go down, so
// those that took the higher one would keep it until they are reimaged, and a fleet
// would run both. An entry that was taken out, or says none, withdraws.
func (d *document) backwards(pointer, before hotfix.Pointer) {
	was := map[string]hotfix.Entry{}
	for _, entry := range all(before) {
		was[entry.Field] = entry
	}
	for _, entry := range all(pointer) {
		version, isUsable := usable(entry)
		earlier, wasUsable := usable(was[entry.Field])
		if isUsable && wasUsable && version.Base() == earlier.Base() && version.Before(earlier) {
			d.add(entry.Field, entry.Offset, "it goes back from %s to %s; publish a higher patch, or \"\" to withdraw",
				earlier, version)
		}
	}
}

func all(pointer hotfix.Pointer) []hotfix.Entry {
	entries := append(slices.Clone(pointer.Entries()), pointer.Legacy(), pointer.Scripts())
	for _, canary := range pointer.Canaries() {
		entries = append(entries, canary.Entry)
	}
	return entries
}

// usable gives the version of an entry that names one.
func usable(entry hotfix.Entry) (hotfix.Version, bool) {
	if entry.Problem != "" || entry.Text == "" {
		return hotfix.Version{}, false
	}
	version, err := hotfix.ParseVersion(entry.Text)
	return version, err == nil
}
