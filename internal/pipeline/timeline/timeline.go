package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"salve/journal"
)

// Measures of the picture, in its units.
const (
	rowHeight = 22
	barHeight = 14
	headRoom  = 64
	chart     = 760
	margin    = 16
	letter    = 6.7 // the width of a letter, about
)

// Colours, which people who see no red or no green can tell apart.
func colours() map[journal.ResultKind]string {
	return map[journal.ResultKind]string{
		journal.Done: "#2a7f62", journal.Failure: "#b3261e", journal.Unknown: "#c77700",
	}
}

// Timeline writes a picture of what ran when, as SVG: a row for each step in the
// order in which they began, a bar for each attempt, and at the end the steps that
// never began. Where the work was done by other runs, the steps are theirs.
func Timeline(w io.Writer, history *journal.History, parts ...Part) error {
	c, err := readWhole(history, parts)
	if err != nil {
		return err
	}
	slices.SortStableFunc(c.steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(boolean(len(a.attempts) == 0), boolean(len(b.attempts) == 0)), first(a).Compare(first(b)))
	})
	p := picture{Writer: bufio.NewWriter(w), record: c, span: max(c.ended.Sub(c.began), time.Second)}
	for _, at := range c.steps {
		p.names = max(p.names, float64(utf8.RuneCountInString(at.group+"/"+at.name))*letter)
	}
	p.draw(history)
	return p.Flush()
}

func boolean(is bool) int {
	if is {
		return 1
	}
	return 0
}

func first(at *step) time.Time {
	if len(at.attempts) == 0 {
		return time.Time{}
	}
	return at.attempts[0].began
}

// picture is an SVG being written.
type picture struct {
	*bufio.Writer
	*record
	span  time.Duration
	names float64
}

// left is where the chart begins.
func (p picture) left() float64 { return margin + p.names + 12 }

func (p picture) x(at time.Time) float64 {
	return p.left() + chart*float64(at.Sub(p.began))/float64(p.span)
}

func (p picture) draw(history *journal.History) {
	width, height := p.left()+chart+90, headRoom+rowHeight*len(p.steps)+margin
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" `+
		`font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(p, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	p.text(margin, 22, "#111111", "start", ` font-size="15" font-weight="bold"`, history.Header.Target.Name)
	p.text(margin, 40, "#555555", "start", "", fmt.Sprintf("run %s, begun %s, %s", history.Header.Run,
		p.began.UTC().Format(time.RFC3339), round(p.span)))
	p.scale(height)
	for row, at := range p.steps {
		p.row(float64(headRoom+rowHeight*row), at)
	}
	fmt.Fprintln(p, "</svg>")
}

// scale draws the lines of the time.
func (p picture) scale(height int) {
	step := tick(p.span)
	for offset := time.Duration(0); offset <= p.span; offset += step {
		x := p.x(p.began.Add(offset))
		fmt.Fprintf(p, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#e3e3e3"/>`+"\n", x, headRoom-6, x, height-margin/2)
		p.text(x, headRoom-10, "#777777", "middle", ` font-size="10"`, "+"+round(offset))
	}
}

// tick is the time between two lines: a round one, and not too many of them.
func tick(span time.Duration) time.Duration {
	round := []time.Duration{
		100 * time.Millisecond, time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
		5 * time.Minute, 10 * time.Minute,
		30 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
	const most = 10
	for _, step := range round {
		if span/step <= most {
			return step
		}
	}
	return (span / most).Round(24*time.Hour) + 24*time.Hour
}

func (p picture) row(y float64, at *step) {
	middle := y + rowHeight/2
	colour := "#111111"
	if len(at.attempts) == 0 {
		colour = "#999999"
	}
	p.text(p.left()-8, middle+4, colour, "end", "", at.group+"/"+at.name)
	end := p.left()
	for _, one := range at.attempts {
		x := p.x(one.began)
		wide := max(p.x(one.ended)-x, 1.5)
		end = x + wide
		fmt.Fprintf(p, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2" fill="%s"><title>%s</title></rect>`+"\n",
			x, middle-barHeight/2, wide, barHeight, colours()[one.result], escape(fmt.Sprintf("%s/%s: %s after %s. %s", at.group,
				at.name, one.result, round(one.ended.Sub(one.began)), at.reason)))
	}
	says := round(at.took())
	switch {
	case at.result == "":
		says = "did not begin"
	case at.result == journal.Skipped:
		says = "– " + at.reason
	case len(at.attempts) == 0:
		says = at.reason
	case at.result != journal.Done:
		says += ", " + string(at.result)
	case len(at.attempts) > 1:
		says += fmt.Sprintf(", %d attempts", len(at.attempts))
	}
	p.text(end+5, middle+4, "#555555", "start", ` font-size="10"`, says)
}

func (p picture) text(x, y float64, colour, anchor, more, text string) {
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" fill="%s" text-anchor="%s"%s>%s</text>`+"\n", x, y, colour, anchor, more,
		escape(text))
}

// escape is a text as XML can hold it.
func escape(text string) string {
	printable := []rune(html.EscapeString(text))
	for i, r := range printable {
		if r < ' ' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			printable[i] = ' '
		}
	}
	return string(printable)
}

// round is a duration that people can read.
func round(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
