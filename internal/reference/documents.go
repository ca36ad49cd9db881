package reference

import (
	"fmt"
	"slices"
	"strings"
)

// Documents is the page that lists all documents of a program with their schemas. Each row is a kind of document, and
// says which command prints it.
func Documents(program string, rows []Row) []byte {
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	var page strings.Builder
	page.WriteString(generated(program) + `# JSON documents

With ` + "`--output json`" + ` a command prints one JSON document to standard output, and everything else
to standard error. Each document begins with ` + "`schemaVersion` and `kind`" + `. Within a schema version fields
may be added, and none is removed or changes its meaning: a consumer ignores fields that it does not know. How a
run stands is in ` + "`phase`, `outcome`, `waitsFor` and `record`" + `, whose values are fixed; the text
` + "`state`" + ` beside them is for people.

    salve runs list --output json | jq -r '.runs[] | select(.phase == "open") | .run'

The schemas follow JSON Schema 2020-12. They are generated from the types that the program encodes, and the documents
that Salve's own tests print are validated against them. The document of ` + "`salve triage`" + ` has a format of
its own, ` + "`salve.triage/v1`" + `: [triage.schema.json](../triage.schema.json).

| kind | printed by | schema |
| --- | --- | --- |
`)
	for _, row := range rows {
		fmt.Fprintf(&page, "| `%[1]s` | %[2]s | [%[1]s.json](schemas/%[1]s.json) |\n", row.Name, cell(row.Says))
	}
	return []byte(page.String())
}
