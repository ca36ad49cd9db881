package postmortem

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"salve/internal/diagnostic"
	"salve/internal/redact"
)

// Lengths in runes.
const (
	eventRoom = 300
	itemRoom  = 600
	valueRoom = 240
)

// clean makes one printable line of a text, without credentials and cut to a length.
func clean(text string, room int) string {
	if len(text) > 16*room { // what is cut anyway needs no looking at
		text = strings.ToValidUTF8(text[:16*room], "")
	}
	text = strings.Join(strings.Fields(diagnostic.Printable(redact.String(text))), " ")
	if utf8.RuneCountInString(text) > room {
		text = string([]rune(text)[:room-1]) + "…"
	}
	return text
}

func line(format string, args ...any) string { return clean(fmt.Sprintf(format, args...), itemRoom) }

// span writes a duration to the second.
func span(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func instant(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }
