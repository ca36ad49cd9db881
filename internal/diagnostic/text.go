package diagnostic

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Text writes a list as lines that terminals and editors understand. What a
// terminal would obey instead of show is replaced.
func Text(w io.Writer, list List) error {
	out := bufio.NewWriter(w)
	for _, d := range list {
		fmt.Fprintln(out, Printable(d.String()))
	}
	return out.Flush()
}

// Printable is a text on one line, without what a terminal would obey instead of
// show.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return '�'
	}, text)
}

// Cut is a text of at most so many bytes, cut at the end of a character.
func Cut(text string, most int) string {
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
