package telemetry

import (
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/redact"
)

// longest bounds what is looked through for secrets: telling must not hold a run up.
const longest = 64 << 10

// Text is what may be told to others: without secrets and control characters, and of at most so many bytes, cut at the
// end of a character.
func Text(text string, most int) string {
	if len(text) > longest {
		text = diagnostic.Cut(text, longest)
		// Not within a word: half a secret is not known as one.
		text = text[:max(0, strings.LastIndexAny(text, " \t\r\n"))]
	}
	return diagnostic.Cut(diagnostic.Printable(redact.String(text)), most)
}
