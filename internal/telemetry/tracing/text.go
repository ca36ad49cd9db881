package tracing

import (
	"salve/internal/redact"
)

// mostText bounds a text in an attribute, in bytes.
const mostText = 1024

// bounded is a text without secrets, cut at the end of a character.
func bounded(text string) string {
	text = redact.String(text)
	if len(text) <= mostText {
		return text
	}
	end := 0
	for at := range text {
		if at > mostText {
			break
		}
		end = at
	}
	return text[:end]
}
