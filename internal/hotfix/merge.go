package hotfix

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Merged is what becomes of a node's pointer file when the live service has served
// a pointer.
type Merged struct {
	// Served is the decision by the served map alone.
	Served Decision
	// Document is the file's new contents; nil leaves it as it is, byte for byte.
	Document []byte
}

// Merge replaces «hotfixes» in a pointer file with that of a served pointer, and
// keeps every other byte. Nothing but the served map counts of what was served.
//
// The canaries of the file stay too, and still keep a version from who is none of
// theirs.
//
// For this node the decision afterwards is the served one, if it was served an
// entry that it can follow: a version to install, or that there is none. In every
// other case the file stays as it is, and so does the decision: a map for other
// bases never switches off a «version» that applied, and an entry that can't be
// followed never takes the place of one that can.
//
// A file that is no pointer means nothing to this node, and is replaced whole.
func Merge(current string, file, served []byte) (Merged, error) {
	if len(bytes.TrimSpace(served)) == 0 {
		return Merged{Served: none(current, ReasonEmptyPointer)}, nil
	}
	serving, err := ParsePointer(served)
	if err != nil {
		decision := none(current, ReasonMalformedPointer)
		decision.Warnings = []Warning{{Problem: "served: " + err.Error()}}
		return Merged{Served: decision}, nil
	}
	serving.version, serving.scripts, serving.canaries = Entry{}, Entry{}, canaries{}
	decision := Decide(current, serving)
	if decision.Reason != ReasonInstall && decision.Reason != ReasonExplicitlyNone {
		return Merged{Served: decision}, nil
	}
	document := withHotfixes(file, serving.mapOfHotfixes())
	if err := confirm(current, file, document, decision); err != nil {
		return Merged{Served: decision}, fmt.Errorf("merging the served map: %w", err)
	}
	return Merged{Served: decision, Document: document}, nil
}

// mapOfHotfixes is the field's value as it was written.
func (p Pointer) mapOfHotfixes() json.RawMessage {
	start := bytes.IndexByte(p.raw, '{')
	for _, field := range membersOf(p.raw[start:], start) {
		if field.name == fieldHotfixes {
			return field.value
		}
	}
	return json.RawMessage("null")
}

// withHotfixes puts a map at the place of the file's own. Where the file has the
// field more than once, one of them remains: more are unusable.
func withHotfixes(file []byte, hotfixes json.RawMessage) []byte {
	field := append([]byte(`"`+fieldHotfixes+`":`), hotfixes...)
	if checkDocument(file) != nil {
		return append(append([]byte("{"), field...), "}\n"...)
	}
	start := bytes.IndexByte(file, '{')
	members := membersOf(file[start:], start)
	var document []byte
	copied, placed := 0, false
	for i, m := range members {
		switch {
		case m.name != fieldHotfixes:
			continue
		case !placed:
			document = append(append(document, file[copied:m.start]...), hotfixes...)
			placed = true
		default:
			document = append(document, file[copied:members[i-1].end]...)
		}
		copied = m.end
	}
	if !placed {
		copied = start + 1
		if len(members) > 0 {
			copied = members[len(members)-1].end
			field = append([]byte(","), field...)
		}
		document = append(append(document, file[:copied]...), field...)
	}
	return append(document, file[copied:]...)
}

// confirm looks whether a merged document means what it has to, before anybody
// acts by it: it may have become too large, or too deep.
func confirm(current string, file, document []byte, served Decision) error {
	after, err := ParsePointer(document)
	if err != nil {
		return err
	}
	before, _ := ParsePointer(file) // what can't be read decides nothing, as the zero value
	after.canaries = canaries{}     // what the file says of them stays, and is another matter
	got, had := Decide(current, after), Decide(current, before)
	if got.Reason != served.Reason || got.Wanted() != served.Wanted() || !sameTarget(got.Scripts, had.Scripts) {
		return fmt.Errorf("the file would mean %s, and not %s", got.Reason, served.Reason)
	}
	return nil
}

func sameTarget(a, b Scripts) bool {
	if a.Target == nil || b.Target == nil {
		return a.Target == b.Target
	}
	return *a.Target == *b.Target
}
