package console

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Colours, by what they mean. They never say what no sign or word says as well.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	blue   = "\x1b[36m"
)

// Style is what a terminal can show, and what its user wants to see.
type Style struct {
	// Colour is off for --no-color, NO_COLOR and terminals without.
	Colour bool
	// ASCII writes the signs of this package in ASCII, for a locale or a terminal that has no others.
	ASCII bool
}

// StyleOf reads what the environment of a process says of its terminal.
func StyleOf(lookup func(string) string) Style {
	term := lookup("TERM")
	return Style{
		Colour: lookup("NO_COLOR") == "" && term != "dumb",
		ASCII:  term == "linux" || term == "dumb" || !speaksUTF8(lookup),
	}
}

// speaksUTF8 tells whether the locale is one of UTF-8. Without any locale a terminal of today is taken to be.
func speaksUTF8(lookup func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(lookup(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

// sgr is a change of colour, the only sequence that is written into a frame.
var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Apply makes a text that was drawn into one that the terminal can show.
func (s Style) Apply(text string) string {
	if !s.Colour {
		text = sgr.ReplaceAllString(text, "")
	}
	if s.ASCII {
		text = ASCII(text)
	}
	return text
}

// sign gives what stands for one of our signs in ASCII, as wide as the sign.
func sign(ours rune) (ascii rune, found bool) {
	const signs, others = "✓✗–·─…●○×’⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "+x-.-~#.x'|/-\\|/-\\|/"
	at := slices.Index([]rune(signs), ours)
	if at < 0 {
		return 0, false
	}
	return rune(others[at]), true
}

// ASCII writes a text with ASCII alone: our own signs as others, and a question mark for each column of what is left.
func ASCII(text string) string {
	if strings.IndexFunc(text, func(char rune) bool { return char > unicode.MaxASCII }) < 0 {
		return text
	}
	var made strings.Builder
	for _, char := range text {
		other, ours := sign(char)
		switch {
		case char <= unicode.MaxASCII:
			made.WriteRune(char)
		case ours:
			made.WriteRune(other)
		default:
			made.WriteString(strings.Repeat("?", columns(string(char))))
		}
	}
	return made.String()
}

// Colour is one of a terminal's. The zero Colour is its own.
type Colour string

// The colours of reports.
const (
	Green  Colour = green
	Red    Colour = red
	Yellow Colour = yellow
	Faint  Colour = faint
	Bold   Colour = bold
)

// Paint is a text in the colour. What a terminal would obey in the text is made visible.
func (c Colour) Paint(text string) string {
	if c == "" || text == "" {
		return Visible(text)
	}
	return string(c) + Visible(text) + plain
}

// columns is how many columns of a terminal a text takes.
func columns(text string) int { return ansi.StringWidthWc(text) }

// clip cuts a text, colours and all, to a number of columns.
func clip(text string, most int) string { return ansi.TruncateWc(text, most, "…") }
