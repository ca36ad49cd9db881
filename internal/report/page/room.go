package page

import (
	"strings"
	"unicode/utf8"

	"salve/internal/diagnostic"
)

// How many bytes the parts of a page have, so that all of it stays below two mebibytes whatever the draft holds.
const (
	itemsRoom    = 36 << 10 // of one section
	telledRoom   = 260 << 10
	allRoom      = 440 << 10
	undatedRoom  = 80 << 10
	guardsRoom   = 140 << 10
	heldRoom     = 60 << 10
	figuresRoom  = 120 << 10
	drawnRoom    = 120 << 10 // of the words in the drawings
	rowOverhead  = 220       // of the tags of a row
	longestShown = 4000      // runes of one text
)

// room is how many bytes are left for a part of the page.
type room struct{ left int }

// takes tells whether a row of texts fits, and takes its room.
func (r *room) takes(overhead int, texts ...string) bool {
	size := overhead
	for _, text := range texts {
		size += escaped(text)
	}
	if size > r.left {
		r.left = 0 // what follows is left out too: nobody looks for a gap in a list
		return false
	}
	r.left -= size
	return true
}

// escaped is how many bytes a text has at most on a page.
func escaped(text string) int {
	return len(text) + 4*(strings.Count(text, "&")+strings.Count(text, "<")+strings.Count(text, ">")+
		strings.Count(text, `"`)+strings.Count(text, "'")+strings.Count(text, "+"))
}

// one makes one line of a text, without what a browser would obey: controls, and changes of direction.
func one(text string) string {
	text = strings.Join(strings.Fields(diagnostic.Printable(strings.ToValidUTF8(text, "\ufffd"))), " ")
	if len(text) > longestShown && utf8.RuneCountInString(text) > longestShown {
		text = string([]rune(text)[:longestShown-1]) + "…"
	}
	return text
}
