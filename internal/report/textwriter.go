package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"salve/internal/redact"
)

// narrowest is how narrow a wrapped column may get before it is left too wide
// instead.
const narrowest = 28

// textWriter collects the lines of a report. It wraps at its width; 0 never wraps.
type textWriter struct {
	text  strings.Builder
	width int
	// count is how many lines were written, and tones which parts of them have one.
	count int
	tones []toned
	// next is the tone of a sign in the line that comes.
	next Tone
	sign string
}

// line writes one line as it is.
func (s *textWriter) line(format string, args ...any) {
	written := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	s.painted(written)
	s.text.WriteString(written + "\n")
	s.count += 1 + strings.Count(written, "\n")
}

// narrowIndent is how far text is indented below a lead that leaves no room beside it.
const narrowIndent = 4

// hang writes text after a lead; the lines after the first are indented so that
// they stand below the text. Where the lead leaves too little room the text stands below it.
func (s *textWriter) hang(lead, text string) {
	indent := utf8.RuneCountInString(lead)
	beside := indent+utf8.RuneCountInString(flat(text)) <= s.width
	if s.width > 0 && s.width-indent < narrowest && indent > narrowIndent && !beside {
		if strings.TrimSpace(lead) != "" {
			s.line("%s", lead)
		}
		indent, lead = narrowIndent, strings.Repeat(" ", narrowIndent)
	}
	for i, part := range wrap(text, s.width, indent) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		s.line("%s%s", lead, part)
	}
}

// flush writes the text in one piece, credentials taken out.
func (s *textWriter) flush(out io.Writer) error {
	text := redact.Redact([]byte(s.text.String()))
	if painter, can := out.(Painter); can {
		return painter.Paint(s.spans(string(text)))
	}
	_, err := out.Write(text)
	return err
}

// Wrapped is a text broken at spaces into lines of a width; 0 never breaks.
func Wrapped(text string, width int) string { return strings.Join(wrap(text, width, 0), "\n") }

// wrap breaks text at spaces, so that it fits beside an indent.
func wrap(text string, width, indent int) []string {
	text = flat(text)
	room := max(width-indent, min(narrowest, width-narrowIndent))
	if width <= 0 || utf8.RuneCountInString(text) <= room {
		return []string{text}
	}
	return fill(strings.Fields(text), room)
}

// flat makes one line of a text, without the rulers that libraries draw into
// their errors.
func flat(text string) string {
	words := slices.DeleteFunc(strings.Fields(text), func(word string) bool {
		return len(word) > 8 && strings.Trim(word, "-=") == ""
	})
	return strings.Join(words, " ")
}

func fill(words []string, room int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= room:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// shorten cuts text to a number of runes, and shows that it did.
func shorten(text string, most int) string {
	if most <= 0 || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// span writes a duration to the second.
func span(d time.Duration) string { return d.Round(time.Second).String() }

// offset writes a time since the beginning of a run, such as +9:41.
func offset(d time.Duration) string {
	seconds := int(d.Round(time.Second) / time.Second)
	hours, minutes, seconds := seconds/3600, seconds/60%60, seconds%60
	if hours > 0 {
		return fmt.Sprintf("+%d:%02d:%02d", hours, minutes, seconds)
	}
	return fmt.Sprintf("+%d:%02d", minutes, seconds)
}

func moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// Count writes a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// widest gives the width of a column, at least least.
func widest(least int, texts ...string) int {
	for _, text := range texts {
		least = max(least, utf8.RuneCountInString(text))
	}
	return least
}

// pad fills text up to a width in runes.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
