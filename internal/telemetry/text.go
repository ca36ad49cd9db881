package telemetry

import (
	"salve/internal/diagnostic"
	"salve/internal/redact"
)

// Text is what may be told to others: without secrets and control characters, and of at most so many bytes, cut at the
// end of a character.
func Text(text string, most int) string {
	return diagnostic.Cut(diagnostic.Printable(redact.String(text)), most)
}
