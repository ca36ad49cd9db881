package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/internal/redact"
	"salve/journal"
	"salve/runbook"
)

const (
	// nameColumn is the width of names that leaves a text room at 80 columns.
	nameColumn = 22
	// tableWidth is how wide the picture gets on a wider terminal.
	tableWidth = 110
	// narrowest is how narrow a text gets before it is cut by the terminal's edge.
	narrowest = 8
)

func spinner() []string {
	return []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
}

// drawing is one frame being made.
type drawing struct {
	lines []string
	width int
	names int
	frame int
	now   time.Time
	room  room
	// over says that the run has ended: nothing goes on any more.
	over bool
}

// draw makes a frame of the picture that is at most height lines high; 0 is as high as it gets.
func (p *picture) draw(now time.Time, width, height, frame int) string {
	if !p.ended.IsZero() {
		now = p.ended
	}
	if width <= 0 {
		width = 80
	}
	var d *drawing
	for _, room := range rooms() {
		d = &drawing{width: min(width, tableWidth), frame: frame, now: now, over: p.verdict != nil, room: room}
		d.names = min(p.nameWidth(), max(d.width/3, narrowest))
		d.picture(p)
		if height <= 0 || len(d.lines) <= height {
			return strings.Join(d.lines, "\n") + "\n"
		}
	}
	d.lines = d.lines[:height]
	if height > 1 {
		d.lines[height-1] = faint + clip("  … there is no room for more", d.width) + plain
	}
	return strings.Join(d.lines, "\n") + "\n"
}

func (d *drawing) picture(p *picture) {
	d.heading(p)
	if !d.room.bare {
		d.strip(p)
	}
	d.guards(p)
	passed := false
	for _, line := range d.fold(p) {
		if line.more != "" {
			d.line(faint, "  "+line.more)
			continue
		}
		if line.step.noReturn && !passed && !d.room.bare {
			passed = true
			d.line(faint, "  ── the point of no return ──")
		}
		d.step(line.step, p.usual[line.step.name])
	}
	d.undo(p)
	d.checks(p)
	d.remarks(p)
}

// put adds a line that was made, cut to the width.
func (d *drawing) put(line string) { d.lines = append(d.lines, clip(line, d.width)) }

// line writes one line, cut to the width.
func (d *drawing) line(colour, text string) { d.put(colour + cut(redacted(text), d.width) + plain) }

// nameWidth is the width of the longest name that is drawn.
func (p *picture) nameWidth() int {
	width := len("guards")
	for _, step := range p.steps {
		width = max(width, columns(step.name))
	}
	for _, finding := range append(slices.Clone(p.guards), p.checks...) {
		width = max(width, columns(finding.Guard))
	}
	return min(width, nameColumn)
}

// row writes mark, name, text and, at the right edge, a time. A text that is too
// long goes on below.
func (d *drawing) row(colour, mark, name, text, time string) {
	lead := d.names + len("  m   ")
	room := max(d.width-lead-columns(time)-2, narrowest)
	lines := fold(text, room, d.room.lines)
	first := lines[0]
	if time != "" {
		first = pad(first, room) + "  " + faint + time + plain
	}
	d.put(strings.TrimRight(fmt.Sprintf("  %s%s%s %s  %s", colour, mark, plain, pad(cut(name, d.names), d.names), first),
		" "))
	for _, line := range lines[1:] {
		d.line("", strings.Repeat(" ", lead)+line)
	}
}

func (d *drawing) heading(p *picture) {
	elapsed := ""
	if !p.began.IsZero() {
		elapsed = span(d.now.Sub(p.began)) + d.left(p)
	}
	left := p.title
	if p.run != "" {
		left += "  run " + p.run
	}
	room := max(d.width-columns(elapsed)-2, narrowest)
	d.put(bold + pad(cut(redacted(left), room), room) + plain + "  " + elapsed)
}

// guards shows each finding while they are asked, and one line once all passed.
func (d *drawing) guards(p *picture) {
	passed := len(p.guards) > 0
	for _, finding := range p.guards {
		passed = passed && finding.Answer == runbook.AnswerHolds
	}
	if passed && len(p.steps) > 0 {
		if d.room.bare {
			return
		}
		d.row(green, "✓", "guards", allHold(len(p.guards)), "")
		return
	}
	holding := 0
	for _, finding := range p.guards {
		if d.room.steps == 0 && finding.Answer == runbook.AnswerHolds {
			holding++
			continue
		}
		d.finding(finding)
	}
	if holding > 0 {
		d.row(green, "✓", "guards", fmt.Sprintf("%d hold", holding), "")
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

func (d *drawing) step(step *row, usual time.Duration) {
	switch {
	case !step.begun && step.result == nil:
		d.row(faint, "·", step.name, "", d.aboutTime(usual))
	case step.result == nil && d.over:
		d.row(yellow, "!", step.name, "not known to be complete", d.took(step))
	case step.result == nil:
		d.working(step, usual)
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
	if step.began.IsZero() {
		return ""
	}
	return span(d.elapsed(step))
}

func (d *drawing) elapsed(step *row) time.Duration {
	if step.ended.IsZero() {
		return d.now.Sub(step.began)
	}
	return step.ended.Sub(step.began)
}

func (d *drawing) working(step *row, usual time.Duration) {
	text := step.progress.Text
	if step.attempt > 1 {
		text = fmt.Sprintf("attempt %d  %s", step.attempt, text)
	}
	d.row(blue, d.spin(), step.name, text, d.against(d.took(step), d.elapsed(step), usual))
	if d.room.details == 0 {
		return
	}
	for i, detail := range step.progress.Details {
		if i == d.room.details {
			d.line(faint, fmt.Sprintf("      … %d more", len(step.progress.Details)-i))
			return
		}
		for n, line := range fold(detail, d.width-len("        "), d.room.lines) {
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
			d.step(step, 0)
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
	warnings, said := p.warnings, p.said
	if hidden := len(warnings) - d.room.warnings; hidden > 0 {
		d.line(yellow, fmt.Sprintf("  ! %d earlier warnings are in the journal", hidden))
		warnings = warnings[hidden:]
	}
	for _, warning := range warnings {
		d.paragraph(yellow, "  ! ", warning)
	}
	for _, text := range said[max(0, len(said)-d.room.said):] {
		d.paragraph(bold, "  ", text)
	}
}

// paragraph writes a text on as many lines as it takes.
func (d *drawing) paragraph(colour, lead, text string) {
	indent := columns(lead)
	for i, line := range fold(text, d.width-indent, d.room.paragraph) {
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
	room = max(room, narrowest)
	for _, word := range strings.Fields(redacted(text)) {
		last := lines[len(lines)-1]
		switch {
		case last == "":
			lines[len(lines)-1] = word
		case columns(last)+1+columns(word) <= room:
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

// cut is what every text of others goes through before it is drawn: on one line, and no wider than that.
func cut(text string, most int) string {
	text = strings.Map(func(char rune) rune {
		if char == '\n' || char == '\t' {
			return ' '
		}
		return char
	}, Visible(text))
	if most < 1 {
		return text
	}
	return clip(text, most)
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns(text)))
}

func allHold(findings int) string {
	if findings == 1 {
		return "the only one holds"
	}
	return fmt.Sprintf("all %d hold", findings)
}
