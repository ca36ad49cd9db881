package show

import (
	"encoding/json"
	"fmt"
	"io"

	"salve/internal/redact"
	"salve/internal/triage"
)

// JSON writes the document for programs, as docs/triage.schema.json says: credentials masked, and a list that holds
// nothing as an empty one. Numbers that are none (NaN) are an error, with nothing written.
func JSON(w io.Writer, doc triage.Document) error {
	doc = listed(changed(withoutRemains(doc), redact.String))
	raw, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the triage: %w", err)
	}
	if _, err := w.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("writing the triage: %w", err)
	}
	return nil
}

// listed has an empty list wherever one must stand. The document is the caller's no more.
func listed(doc triage.Document) triage.Document {
	doc.Groups = some(doc.Groups)
	doc.Thresholds = some(doc.Thresholds)
	for i := range doc.Groups {
		group := &doc.Groups[i]
		group.Scenarios, group.Reasons = some(group.Scenarios), some(group.Reasons)
		group.Evidence, group.WouldChange = some(group.Evidence), some(group.WouldChange)
	}
	for i := range doc.Heat {
		doc.Heat[i].ByGroup = some(doc.Heat[i].ByGroup)
	}
	return doc
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
