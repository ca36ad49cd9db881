package page

import (
	"regexp"
	"strings"

	"salve/internal/report/postmortem"
)

// itemView is one line of a section.
type itemView struct {
	Class   string
	Tag     string // what kind of line it is, where it is no fact
	Text    []part
	Command string
	Sources []sourceView
}

// itemsView is the lines of a section.
type itemsView struct {
	Items []itemView
	Left  int // lines that are not listed
}

// part is a piece of a text; one with an address is a link.
type part struct{ Text, Link string }

// sourceView is where a line comes from, with the place of it on this page.
type sourceView struct{ Text, At string }

func (w *writer) itemViews(items []postmortem.Item, space *room) itemsView {
	var view itemsView
	for _, item := range items {
		line := itemView{Class: "fact", Text: linked(one(item.Text)), Command: one(item.Command),
			Sources: w.cite(item.Sources)}
		switch item.Kind {
		case postmortem.Question:
			line.Class, line.Tag = "question", "Question"
		case postmortem.Candidate:
			line.Class, line.Tag = "candidate", "Candidate"
		default:
		}
		if !space.takes(line.size(), item.Command) {
			view.Left++
			continue
		}
		view.Items = append(view.Items, line)
	}
	return view
}

// size is how many bytes a line has at most.
func (i itemView) size() int {
	size := rowOverhead + sizeOf(i.Text)
	for _, s := range i.Sources {
		size += 40 + escaped(s.Text) + len(s.At)
	}
	return size
}

func sizeOf(parts []part) int {
	size := 0
	for _, p := range parts {
		size += escaped(p.Text)
		if p.Link != "" {
			size += 3*len(p.Link) + 60 // bytes of an address are written as %xx
		}
	}
	return size
}

// cite names sources, each with the place of its line on this page.
func (w *writer) cite(sources []postmortem.Source) []sourceView {
	var views []sourceView
	for _, s := range sources {
		views = append(views, w.lines.cite(s))
	}
	return views
}

// address is one that a browser may go to when somebody asks for it, up to what ends it in a sentence.
var address = regexp.MustCompile(`https?://[A-Za-z0-9][^\s<>"'` + "`" + `|\\^{}]*[A-Za-z0-9/#=_&)\]-]`)

// linked finds addresses in a text.
func linked(text string) []part {
	var parts []part
	at := 0
	for _, found := range address.FindAllStringIndex(text, -1) {
		link := closedBy(text[found[0]:found[1]])
		if found[0] > at {
			parts = append(parts, part{Text: text[at:found[0]]})
		}
		parts = append(parts, part{Text: link, Link: link})
		at = found[0] + len(link)
	}
	if at < len(text) {
		parts = append(parts, part{Text: text[at:]})
	}
	return parts
}

// closedBy ends an address before a bracket that was opened outside of it.
func closedBy(link string) string {
	for _, pair := range []string{"()", "[]"} {
		open := 0
		for i := range len(link) {
			switch link[i] {
			case pair[0]:
				open++
			case pair[1]:
				if open--; open < 0 {
					return strings.TrimRight(link[:i], ".,;:!?")
				}
			}
		}
	}
	return link
}
