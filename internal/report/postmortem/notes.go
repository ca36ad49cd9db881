package postmortem

import (
	"regexp"
	"strings"
)

// decisive are words with which people tell that they act, find out or give up: such a message has a line of its own.
var decisive = regexp.MustCompile(`(?i)\b(roll(ed|ing|s)? ?back|rollback|revert(ed|ing|s)?|merged?|deploy(ed|ing|s)?|` +
	`restart(ed|ing)?|delet(e|ed|ing)|drain(ed|ing)?|cordon(ed)?|pag(ed|ing)|outage|incident|is down|broken|fix(ed|es)?|` +
	`confirmed|verified|verify|determined|suspect(ed)?|worked|resolved|mitigat(ed|ing)|stuck|wrong|fail(ed|ing|s)?|` +
	`alert(s|ed|ing)?|root cause|recover(ed|ing)?|clean(ed)? up|scal(ed|ing)|on ?call|oncall)\b`)

func (s *story) readNotes(file NotesFile) {
	for _, note := range file.Notes {
		source := Source{Kind: FromNote, Of: file.Name, At: note.Line}
		author := note.Author
		if note.Bot {
			author += " (bot)"
		}
		if note.At.IsZero() {
			s.undated = append(s.undated, Undated{Clock: clean(note.Clock, 16), Source: source,
				Text: clean(author+": "+note.Text, eventRoom)})
			continue
		}
		event := Event{At: note.At, Kind: Said, Source: source, clock: "notes " + file.Name, Text: author + ": " + note.Text}
		if said := decisiveLine(note.Text); said != "" {
			event.Short, event.Telling = clean(author+": "+said, eventRoom), true
		}
		s.add(event)
	}
	for _, question := range file.Questions {
		s.facts.questions = append(s.facts.questions, mention{text: line("%s", question.Text),
			source: Source{Kind: FromNote, Of: file.Name, At: question.Line}})
	}
}

// decisiveLine is the first line of a message that tells something, without questions.
func decisiveLine(text string) string {
	for said := range strings.Lines(text) {
		said = strings.TrimSpace(said)
		if decisive.MatchString(said) && !strings.HasSuffix(said, "?") {
			return said
		}
	}
	return ""
}
