package postmortem

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"salve/internal/report"
)

// Blocks writes a draft's sections as Markdown.
func Blocks(d Draft) []Block {
	var blocks []Block
	for _, section := range d.Sections {
		w := &markdown{zone: zoneOf(d)}
		switch section.ID {
		case About:
			w.about(d)
			w.items(section.Items)
		case TimelineID:
			w.items(section.Items)
			w.timeline(d)
		case AppendixID:
			w.appendix(d)
		default:
			w.items(section.Items)
		}
		blocks = append(blocks, Block{ID: section.ID, Heading: heading(d, section), Body: w.text.String()})
	}
	return blocks
}

// heading is what a section's block stands below in a new document.
func heading(d Draft, section Section) string {
	switch section.ID {
	case About:
		return "# " + prose(d.Title)
	case WentWell, WentPoorly, GotLucky:
		return "### " + section.Title
	default:
		return "## " + section.Title
	}
}

func zoneOf(d Draft) *time.Location {
	zone, err := time.LoadLocation(d.Zone)
	if err != nil {
		return time.UTC // the draft was made with one that there is
	}
	return zone
}

// markdown is one block being written.
type markdown struct {
	text strings.Builder
	zone *time.Location
}

func (w *markdown) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// redactedMark begins the line by which a draft says that it is redacted.
const redactedMark = "**Redacted:**"

// Redacted tells whether a document that was written, in Markdown or as a page, has a line that says that it is
// redacted.
func Redacted(written []byte) bool {
	for text := range bytes.Lines(written) {
		text = bytes.TrimSpace(text)
		if bytes.HasPrefix(text, []byte(redactedMark+" names")) || bytes.Contains(text, []byte("<b>Redacted:</b>")) {
			return true
		}
	}
	return false
}

func (w *markdown) about(d Draft) {
	w.line("_Draft by `salve report`. Text between the markers is made again from the record; what you write " +
		"outside of them stays. Lines that begin with_ Candidate: _are for you to judge, and each_ **Question** _is " +
		"for you to answer._")
	w.line("")
	if d.Redacted {
		w.line(redactedMark + " names, IDs, addresses and tokens are replaced by pseudonyms; " +
			"the same pseudonym is the same value.")
		w.line("")
	}
	for _, run := range d.Runs {
		w.line("- Run %s: %s %s on %s, by %s, %s", code(run.Run), prose(run.Runbook), prose("version "+run.Version),
			prose(run.Target), prose(run.Actor), prose(run.State))
	}
	for _, name := range d.Inputs {
		w.line("- %s", code(name))
	}
}

func (w *markdown) items(items []Item) {
	asked := false
	for _, item := range items {
		text := prose(item.Text)
		if item.Command != "" {
			text += ": " + code(item.Command)
		}
		if cited := cite(item.Sources); cited != "" {
			text += " (" + cited + ")"
		}
		switch item.Kind {
		case Question:
			if w.text.Len() > 0 {
				w.line("")
			}
			w.line("> **Question:** %s", text)
			asked = true
			continue
		case Candidate:
			text = "Candidate: " + text
		case Fact:
		}
		if asked {
			w.line("")
			asked = false
		}
		w.line("- %s", text)
	}
}

func cite(sources []Source) string {
	var cited []string
	for _, source := range sources {
		cited = append(cited, code(source.String()))
	}
	return strings.Join(cited, ", ")
}

// detailRoom bounds what is folded, in bytes.
const detailRoom = 700 << 10

func (w *markdown) timeline(d Draft) {
	if w.text.Len() > 0 {
		w.line("")
	}
	if len(d.Timeline.Events) == 0 {
		w.line("No source has an event with a known time.")
	} else {
		w.tableHead()
		for _, event := range d.Timeline.Events {
			if event.Telling {
				event.Text = event.told()
				w.line("%s", w.row(event))
			}
		}
		w.line("")
		w.line("All %s: in the appendix.", report.Count(d.Timeline.Total, "event", "events"))
	}
}

func (w *markdown) tableHead() {
	w.line("| UTC | %s | What | Source |", prose(w.zone.String()))
	w.line("| --- | --- | --- | --- |")
}

func (w *markdown) row(e Event) string {
	text := prose(e.Text)
	if e.Count > 1 {
		text += fmt.Sprintf(" (%d times, until %s)", e.Count, e.Until.UTC().Format("15:04:05"))
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", e.At.UTC().Format("2006-01-02 15:04:05"),
		e.At.In(w.zone).Format("01-02 15:04:05 MST"), text, code(e.Source.String()))
}

// allEvents is folded, and stands apart from the timeline: two tables in one section would be two orders of events.
func (w *markdown) allEvents(t Timeline) {
	if len(t.Events) == 0 {
		return
	}
	w.line("")
	w.line("<details><summary>All %s</summary>", report.Count(t.Total, "event", "events"))
	w.line("")
	w.tableHead()
	left, from := t.Omitted, w.text.Len()
	for _, event := range t.Events {
		if row := w.row(event); w.text.Len()-from+len(row) < detailRoom {
			w.line("%s", row)
		} else {
			left += max(event.Count, 1)
		}
	}
	w.line("")
	if left > 0 {
		w.line("%s not listed: `salve runs show` and the files have them.", report.Count(left, "event is", "events are"))
		w.line("")
	}
	w.line("</details>")
}

func (w *markdown) undated(t Timeline) {
	if len(t.Undated) == 0 {
		return
	}
	w.line("")
	w.line("<details><summary>%s without a known date or zone</summary>",
		report.Count(len(t.Undated)+t.UndatedOmitted, "message", "messages"))
	w.line("")
	from := w.text.Len()
	for i, note := range t.Undated {
		if w.text.Len()-from > detailRoom/4 {
			t.UndatedOmitted += len(t.Undated) - i
			break
		}
		w.line("- %s %s (%s)", prose("at "+note.Clock), prose(note.Text), code(note.Source.String()))
	}
	if t.UndatedOmitted > 0 {
		w.line("- and %d more that are not listed", t.UndatedOmitted)
	}
	w.line("")
	w.line("</details>")
}

func (w *markdown) appendix(d Draft) {
	w.line("Guards and checks that did not hold, could not be asked, or were overridden:")
	w.line("")
	if len(d.Appendix.Guards) == 0 {
		w.line("- none in the record")
	}
	for _, g := range d.Appendix.Guards {
		times := ""
		if g.Count > 1 {
			times = fmt.Sprintf(", %d times", g.Count)
		}
		w.line("- %s %s (%s, at %s%s): %s (%s)", prose(g.Guard), prose(string(g.Answer)), prose(g.For), instant(g.At), times,
			prose(g.Reason), code(g.Source.String()))
		if g.Override != "" {
			w.line("  - overridden: %s", prose(g.Override))
		}
		for _, e := range g.Evidence {
			w.line("  - %s", evidence(e))
		}
	}
	if d.Appendix.Omitted > 0 {
		w.line("- and %d more that are not listed: `salve explain` has them", d.Appendix.Omitted)
	}
	w.held(d.Appendix.Held)
	w.allEvents(d.Timeline)
	w.undated(d.Timeline)
}

func evidence(e Evidence) string {
	text := fmt.Sprintf("seen %s in %s", instant(e.Seen), code(e.Query))
	if e.Identity != "" {
		text += ", identity " + code(e.Identity)
	}
	if e.Value != "" {
		text += ": " + code(e.Value)
	}
	return text
}

func (w *markdown) held(held []HeldGuard) {
	if len(held) == 0 {
		return
	}
	w.line("")
	w.line("<details><summary>%s that held</summary>", report.Count(len(held), "guard or check", "guards and checks"))
	w.line("")
	for _, h := range held {
		var seen []string
		for _, query := range h.Queries {
			seen = append(seen, code(query))
		}
		in := ""
		if len(seen) > 0 {
			in = ", seen in " + strings.Join(seen, ", ")
		}
		w.line("- %s: %s (%s%s; %s)", prose(h.Guard), prose(h.Reason), report.Count(h.Times, "time", "times"), in,
			code(h.Source.String()))
	}
	w.line("")
	w.line("</details>")
}
