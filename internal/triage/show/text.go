package show

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"salve/internal/triage"
)

// Style is how a text is set.
type Style struct {
	Color bool // the terminal knows colours; without one there are no escape sequences
	Width int  // columns; 0 is 80
}

// Widths between which lines are broken: below, words don't fit; above, lines get hard to follow.
const (
	defaultWidth = 80
	leastWidth   = 40
	mostWidth    = 110
	labelWidth   = len("would change") + 5
)

// Colours, by what they mean.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
)

// Text writes the document for a terminal, the verdict first. Credentials are masked, and nothing in the document can
// order the terminal about.
func Text(w io.Writer, doc triage.Document, style Style) error {
	p := printer{doc: masked(doc, false), color: style.Color, width: defaultWidth}
	if style.Width > 0 {
		p.width = min(max(style.Width, leastWidth), mostWidth)
	}
	p.heading()
	for i, group := range p.doc.Groups {
		p.group(i+1, group)
	}
	p.remarks()
	p.thresholds()
	if _, err := io.WriteString(w, p.text.String()); err != nil {
		return fmt.Errorf("writing the triage: %w", err)
	}
	return nil
}

// printer is a text being made.
type printer struct {
	doc   triage.Document
	text  strings.Builder
	color bool
	width int
}

func (p *printer) styled(color, text string) string {
	if !p.color || color == "" {
		return text
	}
	return color + text + plain
}

// paragraph writes a text behind a lead, by whose width the following lines are indented.
func (p *printer) paragraph(color, lead, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	indent := utf8.RuneCountInString(lead)
	for _, line := range wrap(text, p.width-indent) {
		p.text.WriteString(p.styled(color, lead+line) + "\n")
		lead = strings.Repeat(" ", indent)
	}
}

// field writes one labelled text of a group, if it has it.
func (p *printer) field(label, color, text string) {
	if text == "" {
		return
	}
	for i, line := range wrap(text, p.width-labelWidth) {
		if i > 0 {
			label = ""
		}
		space := strings.Repeat(" ", labelWidth-3-utf8.RuneCountInString(label))
		p.text.WriteString("   " + p.styled(faint, label) + space + p.styled(color, line) + "\n")
	}
}

func (p *printer) heading() {
	mark, color := marked(p.doc.Verdict)
	p.paragraph(bold+color, mark+" ", verdict(p.doc)+confidence(p.doc.Confidence))
	p.paragraph("", "  ", p.doc.Summary)
	p.paragraph(faint, "  ", counted(p.doc.Counts))
	if p.doc.Build != "" {
		p.paragraph(faint, "  ", "build "+p.doc.Build)
	}
	if text := change(p.doc.Change); text != "" {
		p.paragraph(faint, "  ", "the change: "+text)
	}
	if text := aborted(p.doc.Aborted); text != "" {
		p.paragraph(red, "✗ ", "the run did not get to its end: "+text)
	}
}

func (p *printer) group(at int, g triage.Group) {
	p.text.WriteString("\n")
	lead := fmt.Sprintf("%-3s", fmt.Sprint(at))
	p.paragraph(bold, lead, title(g))
	p.paragraph(faint, "   ", strings.Join(present(size(g), flakiness(g.Flakiness), g.Frame, g.Place, g.Key), ", "))
	mark, color := marked(g.Verdict)
	p.field("verdict", color, mark+" "+string(g.Verdict)+confidence(g.Confidence))
	p.field("", "", strings.Join(g.Reasons, "; "))
	p.cause(g)
	for _, s := range g.Signatures {
		p.field("signature", "", known(s))
	}
	p.field("this change?", "", colon(alternative(g.Alternative), because(g.Alternative)))
	p.field("baseline", "", colon(string(g.Baseline.Answer), g.Baseline.Text))
	p.field("seen", escalation(g.Occurrences), seen(g.Occurrences))
	for i, e := range g.Evidence {
		label := "evidence"
		if i > 0 {
			label = ""
		}
		p.field(label, "", colon(e.Producer, e.Text)+from(place(e.File, e.Line)))
	}
	p.field("action", bold, g.Action)
	for i, text := range g.WouldChange {
		label := "would change"
		if i > 0 {
			label = ""
		}
		p.field(label, "", text)
	}
}

func (p *printer) cause(g triage.Group) {
	p.field("cause", "", cause(g.Cause))
	for _, c := range g.Cause.Candidates {
		p.field("", "", "· "+named(c)+": "+figures(c))
	}
	for _, c := range g.Cause.Explained {
		p.field("", faint, "· "+aside(c))
	}
	if g.Cause.State == "found" && g.Cause.Unexplained > 0 {
		p.field("", "", "· unexplained: "+plural(g.Cause.Unexplained, "failure", "failures"))
	}
	if len(g.Cause.Unjudged) > 0 {
		p.field("", faint, "· can't tell: "+strings.Join(g.Cause.Unjudged, "; "))
	}
}

func (p *printer) remarks() {
	if p.doc.Omitted > 0 {
		p.first(0)
		p.paragraph(yellow, "! ", plural(p.doc.Omitted, "smaller group is", "smaller groups are")+" not shown")
	}
	for i, text := range p.doc.Problems {
		p.first(i)
		p.paragraph(yellow, "! ", text)
	}
	for i, text := range p.doc.Notes {
		p.first(i)
		p.paragraph("", "· ", text)
	}
}

// first sets a block off from what is above it.
func (p *printer) first(i int) {
	if i == 0 {
		p.text.WriteString("\n")
	}
}

func (p *printer) thresholds() {
	if len(p.doc.Thresholds) == 0 {
		return
	}
	p.text.WriteString("\n")
	p.paragraph(faint, "", "thresholds (docs/triage.md): "+compact(p.doc.Thresholds))
}

// marked is a verdict's mark, for those who see no colour, and its colour.
func marked(v triage.Verdict) (mark, color string) {
	switch v {
	case triage.Passed:
		return "✓", green
	case triage.KnownInfrastructure, triage.KnownProduct:
		return "!", yellow
	case triage.Undecided:
		return "?", yellow
	default:
		return "✗", red
	}
}

func escalation(o *triage.Occurrences) string {
	if o != nil && o.Escalated {
		return red
	}
	return ""
}

func from(place string) string {
	if place == "" {
		return ""
	}
	return " (" + place + ")"
}

// wrap breaks a text at spaces into lines that fit; a word that is longer than a line is broken. There is one line at
// least.
func wrap(text string, room int) []string {
	lines := []string{""}
	for _, word := range words(text) {
		last := lines[len(lines)-1]
		if last != "" && utf8.RuneCountInString(last)+1+utf8.RuneCountInString(word) <= room {
			lines[len(lines)-1] = last + " " + word
			continue
		}
		if last != "" {
			lines = append(lines, "")
		}
		for rest := []rune(word); ; {
			if len(rest) <= room {
				lines[len(lines)-1] = string(rest)
				break
			}
			lines[len(lines)-1], rest = string(rest[:room]), rest[room:]
			lines = append(lines, "")
		}
	}
	return lines
}

// words are what a line may be broken between: a percent sign stays with its number.
func words(text string) []string {
	var all []string
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "%") && len(all) > 0 {
			all[len(all)-1] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}
