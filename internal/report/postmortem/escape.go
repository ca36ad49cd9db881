package postmortem

import (
	"strings"
	"unicode/utf8"
)

// apart separates two characters that GitHub would read as a mention or as a reference to an issue. Those are looked
// for in what the Markdown has become, so that a backslash would not do.
const apart = "&#8203;"

// prose is a text of others as one line of Markdown that is text: no markup, no mentions. Addresses stay links.
func prose(text string) string {
	var out strings.Builder
	for at, char := range text {
		out.WriteString(escaped(text[:at], char, text[at+utf8.RuneLen(char):]))
	}
	return out.String()
}

func escaped(before string, char rune, after string) string {
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
	case '\\', '`', '*', '[', ']', '~':
		return `\` + string(char)
	case '_':
		if wordEnds(before) && wordBegins(after) {
			return "_"
		}
		return `\_`
	case '@', '#':
		if before == "" && char == '#' {
			return `\#` + apart
		}
		if wordBegins(after) {
			return string(char) + apart
		}
	case '-', '+', '=':
		if before == "" {
			return `\` + string(char)
		}
	case '.', ')':
		if before != "" && len(before) <= 9 && strings.Trim(before, "0123456789") == "" {
			return `\` + string(char)
		}
	}
	return string(char)
}

func wordBegins(text string) bool { return text != "" && letter(text[0]) }

func wordEnds(text string) bool { return text != "" && letter(text[len(text)-1]) }

func letter(char byte) bool {
	return char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || char >= 0x80
}

// code is a text of others as a code span, in which nothing means anything. A pipe would end a cell of a table.
func code(text string) string {
	text = strings.NewReplacer("`", "'", "|", "¦", "<!--", "<! --").Replace(text)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "`" + text + "`"
}
