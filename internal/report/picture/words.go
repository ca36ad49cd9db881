package picture

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/width"

	"salve/internal/diagnostic"
	"salve/internal/report"
)

// Room for words, in cells of a letter's width.
const (
	nameRoom  = 25
	noteRoom  = 26
	letter    = 6.4 // pixels of a letter
	titleRoom = 600 // runes of what a mark says when it is pointed at
)

// oneLine is a text of others without what would be obeyed.
func oneLine(text string) string {
	return strings.Join(strings.Fields(diagnostic.Printable(text)), " ")
}

func titled(format string, args ...any) string {
	text := oneLine(fmt.Sprintf(format, args...))
	if utf8.RuneCountInString(text) > titleRoom {
		text = string([]rune(text)[:titleRoom-1]) + "…"
	}
	return text
}

// cells is how wide a text is; the scripts of East Asia and emoji take two for each.
func cells(text string) int {
	n := 0
	for _, char := range text {
		n++
		if kind := width.LookupRune(char).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
			n++
		}
	}
	return n
}

// shortened takes the middle out of a text that is too long: names differ at their ends.
func shortened(text string, room int) string {
	if cells(text) <= room {
		return text
	}
	runes := []rune(text)
	head, tail := 0, len(runes)
	for used := 1; head < tail; {
		next := cells(string(runes[head]))
		if used+next > room {
			break
		}
		used += next
		head++
		if next = cells(string(runes[tail-1])); head >= tail || used+next > room {
			break
		}
		used += next
		tail--
	}
	return string(runes[:head]) + "…" + string(runes[tail:])
}

// Lasting writes a duration: to the second, and below ten seconds to a tenth.
func Lasting(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Lasting(-d)
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	case d < time.Hour:
		return trimmed(d.Round(time.Second).String())
	case d < aDay:
		return trimmed(d.Round(time.Minute).String())
	}
	d = d.Round(time.Hour)
	days, hours := int(d/aDay), int(d%aDay/time.Hour)
	if hours == 0 {
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%dh", days, hours)
}

// trimmed takes the zeros off the end of a duration.
func trimmed(text string) string {
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func clock(at time.Time) string { return at.UTC().Format("15:04:05") }

// dated is a time with its day, where that is not the one of another time.
func dated(at, other time.Time) string {
	if sameDay(at.UTC(), other.UTC()) {
		return clock(at)
	}
	return at.UTC().Format("2 Jan 15:04:05")
}

func between(from, to time.Time) string {
	return fmt.Sprintf("%s to %s UTC", from.UTC().Format("2 Jan 2006 15:04:05"), dated(to, from))
}

func plural(n int, one, many string) string { return report.Count(n, one, many) }
