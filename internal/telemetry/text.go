package telemetry

import (
	"salve/internal/diagnostic"
	"salve/internal/redact"
)

// Text is what may be told to others: without secrets and control characters, and of at most so many bytes, cut at the
// end of a character.
func Text(text string, most int) string {
	text = diagnostic.Printable(redact.String(text))
	if len(text) <= most {
		return text
	}
	end := 0
	for at := range text {
		if at > most {
			break
		}
		end = at
	}
	return text[:end]
}
