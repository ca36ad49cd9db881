package show

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// apart separates two characters that GitHub would otherwise read as one thing, such as a mention. It takes no room,
// and is written as an entity, so that it can be seen in the comment's source. A backslash would not do: mentions and
// references are looked for in what the Markdown has become.
const apart = "&#8203;"

// prose is a text of others as one line of Markdown that is nothing but text: no markup, links, mentions, references,
// emoji or formulas, wherever on a line it stands. It has at most limit bytes, and says how much was cut.
func prose(text string, limit int) string {
	text = oneLine(text)
	var out strings.Builder
	shown, written := 0, 0 // how much can stand with a remark behind it: of the text, and as it is written
	for at, char := range text {
		out.WriteString(escaped(text, at, char))
		switch {
		case out.Len() > limit:
			return out.String()[:written] + leftOut(text[shown:])
		case out.Len() <= limit-cutRoom:
			shown, written = at+utf8.RuneLen(char), out.Len()
		}
	}
	return out.String()
}

// cutRoom is what the remark of leftOut takes at most.
const cutRoom = len("… (1000000000 more characters)") + 8

func leftOut(rest string) string {
	return fmt.Sprintf("… (%s)", plural(utf8.RuneCountInString(rest), "more character", "more characters"))
}

// escaped is one character of a line, by what stands around it.
func escaped(line string, at int, char rune) string {
	before, after := line[:at], line[at+utf8.RuneLen(char):]
	switch char {
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	case '|':
		return "&#124;" // a backslash means something else inside of tables
	case '$':
		return "&#36;"
	case '\\', '`', '*', '_', '[', ']', '~':
		return `\` + string(char)
	case '@', '#':
		return string(char) + apart
	case ':':
		if strings.HasPrefix(after, "/") || emoji(after) {
			return ":" + apart
		}
	case '.':
		return dotted(before)
	case '-':
		return dashed(before, after)
	case '+', '=':
		if before == "" {
			return `\` + string(char)
		}
	case ')':
		if numeral(before) {
			return `\)`
		}
	}
	return string(char)
}

// dotted is a dot: after a number at the beginning it would begin a list, after www a link.
func dotted(before string) string {
	switch {
	case numeral(before):
		return `\.`
	case len(before) >= 3 && strings.EqualFold(before[len(before)-3:], "www"):
		return apart + "."
	}
	return "."
}

// dashed is a dash: at the beginning it would begin a list or underline a heading, in GH-1 it is a reference.
func dashed(before, after string) string {
	switch {
	case before == "":
		return `\-`
	case len(before) >= 2 && strings.EqualFold(before[len(before)-2:], "gh") && strings.IndexAny(after, "0123456789") == 0:
		return "-" + apart
	}
	return "-"
}

func numeral(text string) bool {
	return text != "" && len(text) <= 9 && strings.Trim(text, "0123456789") == ""
}

// emoji tells whether a text goes on like :tada: after its first colon. Numbers, as in times, are only emoji by the
// names of two.
func emoji(after string) bool {
	short, _, closed := strings.Cut(after, ":")
	if !closed || short == "" || len(short) > 64 {
		return false
	}
	for _, char := range short {
		word := char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9'
		if !word && char != '_' && char != '+' && char != '-' {
			return false
		}
	}
	return short == "100" || short == "1234" || strings.Trim(short, "0123456789") != ""
}

// code is a text of others as one code span, in which nothing means anything. It has at most limit bytes. It must not
// stand in a table, where a pipe would end it.
func code(text string, limit int) string {
	text = cut(oneLine(text), limit/3-1) // the rest is for backticks
	if text == "" {
		return "(none)"
	}
	ticks := strings.Repeat("`", longest(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// fence is a text of others as a block of code, at most limit bytes long. No line of it can end the block: the fence
// is longer than any run of what fences are made of.
func fence(text string, limit int) string {
	text = strings.Trim(text, "\n")
	shown := cutBytes(text, limit)
	if shown != text {
		shown += "\n" + leftOut(text[len(shown):])
	}
	rail := strings.Repeat("`", max(3, longest(shown, '`')+1, longest(shown, '~')+1))
	return rail + "text\n" + shown + "\n" + rail + "\n"
}

// cut shortens a text to at most limit bytes, and says how much it left out.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	shown := cutBytes(text, max(0, limit-cutRoom))
	return shown + leftOut(text[len(shown):])
}

// cutBytes shortens a text without breaking a character.
func cutBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// longest is the length of the longest run of a character.
func longest(text string, char byte) int {
	most, run := 0, 0
	for i := range len(text) {
		if text[i] != char {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

// Marker is the first line of a comment, by which it is found again. The values can't end it: all but a few characters
// are written as in an URL.
func Marker(build, digest string) string {
	return fmt.Sprintf("%sbuild=%s digest=%s -->", MarkerPrefix, marker(build), marker(digest))
}

// MarkerPrefix is what every Marker begins with.
const MarkerPrefix = "<!-- salve-triage "

// mostMarker is how long one value of a marker gets.
const mostMarker = 256

func marker(value string) string {
	var out strings.Builder
	for i := range len(value) {
		piece := string(value[i])
		dashes := value[i] == '-' && i > 0 && value[i-1] == '-'
		if dashes || !strings.Contains(unescaped, piece) {
			piece = fmt.Sprintf("%%%02X", value[i])
		}
		if out.Len()+len(piece) > mostMarker {
			break
		}
		out.WriteString(piece)
	}
	return out.String()
}

const unescaped = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/:-"
