package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"salve/internal/onepage"
	"salve/internal/report/picture"
	"salve/internal/report/postmortem"
)

//go:embed page/*.css page/*.tmpl
var files embed.FS

// Blocks that only a page has: how it looks, with the policy that allows no more than that; and the picture.
const (
	Style   postmortem.SectionID = "style"
	Picture postmortem.SectionID = "picture"
)

// Blocks writes a draft as the blocks of an HTML page. postmortem.Document makes a page of them, and postmortem.Merge
// makes them again in one that there is.
func Blocks(d postmortem.Draft) ([]postmortem.Block, error) {
	templates, err := template.ParseFS(files, "page/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("reading the page's templates: %w", err)
	}
	style, err := styleBlock()
	if err != nil {
		return nil, err
	}
	w := newWriter(d, templates)
	blocks := []postmortem.Block{{Heading: head(w.title)}, style, {Heading: top(w.title)}}
	for _, section := range d.Sections {
		block, err := w.section(section)
		if err != nil {
			return nil, fmt.Errorf("writing section %q as HTML: %w", section.ID, err)
		}
		blocks = append(blocks, block)
		switch section.ID {
		case postmortem.About:
			blocks = append(blocks, postmortem.Block{Heading: "</header>\n" + contents})
		case postmortem.Summary:
			if block, err = w.picture(); err != nil {
				return nil, fmt.Errorf("drawing the picture: %w", err)
			}
			blocks = append(blocks, block)
		case postmortem.GotLucky:
			blocks = append(blocks, postmortem.Block{Heading: "</section>"}) // of the lessons, whose parts these are
		default:
		}
	}
	return append(blocks, postmortem.Block{Heading: "</main>\n</body>\n</html>"}), nil
}

// Is tells whether a text is an HTML page.
func Is(text []byte) bool { return isPage.Match(text[:min(len(text), 1<<16)]) }

var isPage = regexp.MustCompile(`(?is)^(?:\x{feff})?\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]`)

func head(title string) string {
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>` + template.HTMLEscapeString(title) + `</title>`
}

// top is the beginning of the body, with its main heading.
func top(title string) string {
	return `</head>
<body>
<main>
<header class="top">
<p class="kicker">Post-mortem</p>
<h1>` + template.HTMLEscapeString(title) + `</h1>`
}

// styleBlock has the styles and the policy that knows their hash: they are made again together. Pictures within the
// page are allowed, for what people paste into it.
func styleBlock() (postmortem.Block, error) {
	own, err := files.ReadFile("page/page.css")
	if err != nil {
		return postmortem.Block{}, fmt.Errorf("reading the page's styles: %w", err)
	}
	styles := "\n" + onepage.Styles(string(own))
	body := `<meta http-equiv="Content-Security-Policy" content="` + onepage.Policy(styles, "img-src data:") +
		"\">\n<style>" + styles + "</style>\n"
	return postmortem.Block{ID: Style, Body: body, Home: "</head>"}, nil
}

// writer writes the blocks of one draft.
type writer struct {
	draft     postmortem.Draft
	title     string
	templates *template.Template
	lines     timelineView
}

func newWriter(d postmortem.Draft, templates *template.Template) *writer {
	w := &writer{draft: d, title: one(d.Title), templates: templates}
	w.lines = newTimeline(d)
	return w
}

// section writes a section as a block.
func (w *writer) section(s postmortem.Section) (postmortem.Block, error) {
	space := room{itemsRoom}
	items := w.itemViews(s.Items, &space)
	switch s.ID {
	case postmortem.About:
		return w.block(s, "about.tmpl", w.aboutView(items, &space))
	case postmortem.Lessons:
		if len(s.Items) == 0 {
			return postmortem.Block{Heading: open(s), Foot: closed(s)}, nil
		}
	case postmortem.TimelineID:
		view := w.lines
		view.Items = items
		return w.block(s, "timeline.tmpl", view)
	case postmortem.AppendixID:
		return w.block(s, "appendix.tmpl", w.appendixView())
	default:
	}
	return w.block(s, "items.tmpl", items)
}

// picture writes the block with the picture.
func (w *writer) picture() (postmortem.Block, error) {
	s := postmortem.Section{ID: Picture, Title: "What happened when"}
	return w.block(s, "picture.tmpl", newPicture(picture.New(w.draft)))
}

// block fills a template.
func (w *writer) block(s postmortem.Section, name string, view any) (postmortem.Block, error) {
	var out bytes.Buffer
	if err := w.templates.ExecuteTemplate(&out, name, view); err != nil {
		return postmortem.Block{}, err
	}
	body := strings.TrimSpace(out.String()) + "\n"
	home := "</main>"
	if s.ID == postmortem.About {
		home = "</header>"
	}
	return postmortem.Block{ID: s.ID, Heading: open(s), Body: body, Foot: closed(s), Home: home}, nil
}

// level is how deep the heading of a section is.
func level(id postmortem.SectionID) int {
	switch id {
	case postmortem.WentWell, postmortem.WentPoorly, postmortem.GotLucky:
		return 3
	default:
		return 2
	}
}

// open is what stands before the block of a section: the beginning of a landmark, and its heading.
func open(s postmortem.Section) string {
	if s.ID == postmortem.About {
		return ""
	}
	id, title := template.HTMLEscapeString(string(s.ID)), template.HTMLEscapeString(one(s.Title))
	tag := "section"
	if level(s.ID) > 2 {
		tag = "div"
	}
	return fmt.Sprintf(`<%s id="%s" aria-labelledby="%s-title">`, tag, id, id) + "\n" +
		fmt.Sprintf(`<h%d id="%s-title">%s</h%d>`, level(s.ID), id, title, level(s.ID))
}

// contents lead to the sections.
const contents = `<nav class="contents" aria-label="Sections">
<a href="#summary">Summary</a> <a href="#picture">Picture</a> <a href="#impact">Impact</a>
<a href="#root-cause">Root cause</a> <a href="#detection">Detection</a> <a href="#resolution">Resolution</a>
<a href="#lessons">Lessons</a> <a href="#action-items">Action items</a> <a href="#timeline">Timeline</a>
<a href="#appendix">Appendix</a>
</nav>`

// closed is what stands behind it. The section of the lessons goes on: it has the three that follow it.
func closed(s postmortem.Section) string {
	switch {
	case s.ID == postmortem.About, s.ID == postmortem.Lessons:
		return ""
	case level(s.ID) > 2:
		return "</div>"
	default:
		return "</section>"
	}
}
