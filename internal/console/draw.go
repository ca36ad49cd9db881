package console

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"salve/internal/redact"
	"salve/journal"
	"salve/runbook"
)

// Limits of what is drawn, so that the picture fits a small terminal.
const (
	shownDetails  = 8
	shownWarnings = 4
	shownLines    = 3
	// nameColumn is the width of names that leaves a text room at 80 columns.
	nameColumn = 22
	// tableWidth is how wide the picture gets on a wider terminal.
	tableWidth = 110
)

// Colours, by what they mean; a terminal without colour shows none.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	blue   = "\x1b[36m"
)

func spinner() []string {
	return []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
}

// drawing is one frame being made.
type drawing struct {
	text  strings.Builder
	width int
	names int
	frame int
	now   time.Time
	// over says that the run has ended: nothing goes on any more.
	over bool
}

// draw makes a frame of the picture.
func (p *picture) draw(now time.Time, width, frame int) string {
	if !p.ended.IsZero() {
		now = p.ended
	}
	if width <= 0 {
		width = 80
	}
	d := &drawing{width: min(width, tableWidth), names: p.nameWidth(), frame: frame, now: now, over: p.verdict != nil}
	d.heading(p)
	d.guards(p)
	passed := false
	for _, step := range d.fold(p) {
		if step.noReturn && !passed {
			passed = true
			d.line(faint, "  ── the point of no return ──")
		}
		if !step.undo {
			d.step(step)
		}
	}
	d.undo(p)
	d.checks(p)
	d.remarks(p)
	return d.text.String()
}

// line writes one line, cut to the width.
func (d *drawing) line(colour, text string) {
	d.text.WriteString(colour + cut(redacted(text), d.width) + plain + "\n")
}

// nameWidth is the width of the longest name that is drawn.
func (p *picture) nameWidth() int {
	width := len("guards")
	for _, step := range p.steps {
		width = max(width, len(step.name))
	}
	for _, finding := range append(slices.Clone(p.guards), p.checks...) {
		width = max(width, len(finding.Guard))
	}
	return min(width, nameColumn)
}

// row writes mark, name, text and, at the right edge, a time. A text that is too
// long goes on below.
func (d *drawing) row(colour, mark, name, text, elapsed string) {
	room := d.width - d.names - len("  m   ") - utf8.RuneCountInString(elapsed) - 2
	lines := fold(text, room, shownLines)
	d.text.WriteString(fmt.Sprintf("  %s%s%s %s  %s  %s%s%s\n",
		colour, mark, plain, pad(cut(name, d.names), d.names), pad(lines[0], room), faint, elapsed, plain))
	for _, line := range lines[1:] {
		d.line("", strings.Repeat(" ", d.names+len("  m   "))+line)
	}
}

func (d *drawing) heading(p *picture) {
	elapsed := ""
	if !p.began.IsZero() {
		elapsed = clock(d.now.Sub(p.began))
	}
	left := p.title
	if p.run != "" {
		left += "  run " + p.run
	}
	room := d.width - len(elapsed) - 2
	d.text.WriteString(bold + pad(cut(left, room), room) + plain + "  " + elapsed + "\n")
}

// guards shows each finding while they are asked, and one line once all passed.
func (d *drawing) guards(p *picture) {
	passed := len(p.guards) > 0
	for _, finding := range p.guards {
		passed = passed && finding.Answer == runbook.AnswerHolds
	}
	if passed && len(p.steps) > 0 {
		d.row(green, "✓", "guards", allHold(len(p.guards)), "")
		return
	}
	for _, finding := range p.guards {
		d.finding(finding)
	}
	if len(p.steps) == 0 && p.verdict == nil {
		at := "looking at the cluster"
		if len(p.waves) > 0 {
			at = "looking at what there is"
		}
		d.row(blue, d.spin(), "guards", at, "")
	}
}

func (d *drawing) finding(finding runbook.Finding) {
	text := finding.Reason
	if finding.Override != "" {
		text = "overridden (" + finding.Override + "): " + text
	}
	switch {
	case finding.Answer == runbook.AnswerHolds:
		d.row(green, "✓", finding.Guard, text, "")
	case finding.Passes():
		d.row(yellow, "!", finding.Guard, text, "")
	case finding.Answer == runbook.AnswerUnknown:
		d.row(yellow, "?", finding.Guard, text, "")
	default:
		d.row(red, "✗", finding.Guard, text, "")
	}
}

func (d *drawing) spin() string { return spinner()[d.frame%len(spinner())] }

func (d *drawing) step(step *row) {
	switch {
	case !step.begun && step.result == nil:
		d.row(faint, "·", step.name, "", "")
	case step.result == nil && d.over:
		d.row(yellow, "!", step.name, "not known to be complete", d.took(step))
	case step.result == nil:
		d.working(step)
	case step.result.Result == journal.Done:
		d.row(green, "✓", step.name, done(step), d.took(step))
	case step.result.Result == journal.Skipped:
		d.row(faint, "–", step.name, step.result.Reason, "")
	case step.result.Result == journal.Unknown:
		d.row(yellow, "?", step.name, "not known to be done: "+step.result.Reason, d.took(step))
	default:
		d.row(red, "✗", step.name, step.result.Reason, d.took(step))
	}
}

func (d *drawing) took(step *row) string {
	end := step.ended
	if end.IsZero() {
		end = d.now
	}
	if step.began.IsZero() {
		return ""
	}
	return clock(end.Sub(step.began))
}

func (d *drawing) working(step *row) {
	text := step.progress.Text
	if step.attempt > 1 {
		text = fmt.Sprintf("attempt %d  %s", step.attempt, text)
	}
	d.row(blue, d.spin(), step.name, text, d.took(step))
	for i, detail := range step.progress.Details {
		if i == shownDetails {
			d.line(faint, fmt.Sprintf("      … and %d more", len(step.progress.Details)-i))
			return
		}
		for n, line := range fold(detail, d.width-len("        "), shownLines) {
			d.line(faint, strings.Repeat(" ", 6+2*min(n, 1))+line)
		}
	}
}

func done(step *row) string {
	if step.result.Observed {
		return "already so: " + step.result.Reason
	}
	if step.attempt > 1 {
		return fmt.Sprintf("at attempt %d", step.attempt)
	}
	return step.progress.Text
}

func (d *drawing) undo(p *picture) {
	if p.undoing == "" {
		return
	}
	d.line(yellow, "  ── taking back what was done ──")
	for _, step := range p.steps {
		if step.undo {
			d.step(step)
		}
	}
}

func (d *drawing) checks(p *picture) {
	holding := 0
	for _, finding := range p.checks {
		if finding.Answer == runbook.AnswerHolds {
			holding++
		}
	}
	switch {
	case !p.checking:
		return
	case p.verdict == nil:
		d.row(blue, d.spin(), "checks", fmt.Sprintf("%d hold", holding), "")
	case holding == len(p.checks):
		d.row(green, "✓", "checks", allHold(holding), "")
	}
	for _, finding := range p.checks {
		if finding.Answer != runbook.AnswerHolds {
			d.finding(finding)
		}
	}
}

// remarks are warnings and what the command line says, the newest of them.
func (d *drawing) remarks(p *picture) {
	warnings := p.warnings
	if hidden := len(warnings) - shownWarnings; hidden > 0 {
		d.line(yellow, fmt.Sprintf("  ! %d earlier warnings are in the journal", hidden))
		warnings = warnings[hidden:]
	}
	for _, warning := range warnings {
		d.paragraph(yellow, "  ! ", warning)
	}
	for _, said := range p.said {
		d.paragraph(bold, "  ", said)
	}
}

// paragraph writes a text on as many lines as it takes.
func (d *drawing) paragraph(colour, lead, text string) {
	indent := utf8.RuneCountInString(lead)
	for i, line := range fold(text, d.width-indent, len(text)+1) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		d.line(colour, lead+line)
	}
}

// fold breaks a text at spaces into lines that fit, the last of at most most lines
// cut. There is one line at least.
func fold(text string, room, most int) []string {
	lines := []string{""}
	room = max(room, nameColumn)
	for _, word := range strings.Fields(redacted(text)) {
		last := lines[len(lines)-1]
		switch {
		case last == "":
			lines[len(lines)-1] = word
		case utf8.RuneCountInString(last)+1+utf8.RuneCountInString(word) <= room:
			lines[len(lines)-1] = last + " " + word
		default:
			lines = append(lines, word)
		}
	}
	if len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	for i := range lines {
		lines[i] = cut(lines[i], room)
	}
	return lines
}

// redacted takes credentials out of a text before it is cut: half a token is
// not known as one.
func redacted(text string) string { return Visible(string(redact.Redact([]byte(text)))) }

// cut is what every text of others goes through before it is drawn.
func cut(text string, most int) string {
	text = Visible(text)
	if most < 1 || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func allHold(findings int) string {
	if findings == 1 {
		return "the only one holds"
	}
	return fmt.Sprintf("all %d hold", findings)
}
