package postmortem

import (
	"regexp"
	"strings"
)

// decisive are words with which people tell that they act, find out or give up: such a message has a line of its own.
var decisive = regexp.MustCompile(`(?i)\b(roll(ed|ing|s)? ?back|rollback|revert(ed|ing|s)?|merged?|deploy(ed|ing)|` +
	`restart(ed|ing)?|delet(e|ed|ing)|drain(ed|ing)?|cordon(ed)?|pag(ed|ing)|outage|incident|is down|broken|fix(ed|es)?|` +
	`confirmed|verified|verify|determined|suspect(ed)?|worked|resolved|mitigat(ed|ing)|stuck|wrong|fail(ed|ing|s)?|` +
	`alert(s|ed|ing)?|root cause|recover(ed|ing)?|clean(ed)? up|scal(ed|ing)|on ?call|oncall)\b`)

// noticing are words with which people tell that they see trouble, or ask whether others do.
var noticing = regexp.MustCompile(`(?i)\b(roll(ed|ing|s)? ?back|rollback|revert(ed|ing|s)?|outage|` +
	`(is|are|was|were) down|broken|stuck|wrong|fail(s|ed|ing|ures?)|alert(s|ed|ing)?|paged|` +
	`(any|every)(one|body)( else)? (is )?(see(s|ing)?|having|getting|notic(es|ing))|` +
	`(see(ing)?|having|getting|webhook|network|more|some|are) (\w+ )?(issues?|problems?|errors?|trouble)|` +
	`(issues?|problems?|trouble) (with|accessing|reaching|connecting)|(not|isn't|aren't) (working|responding)|` +
	`can(not|'t|t) (reach|access|connect|log in|open)|time(s|d)? ?outs?|unavailable|unreachable|very slow|` +
	`crash(es|ed|ing))\b`)

// unsure are words with which people say that they do not know: such a line decides nothing.
var unsure = regexp.MustCompile(`(?i)\b(unsure|not sure|may be wrong|might be wrong|could be wrong|no idea)\b`)

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
		said, noticed := tellingLine(note.Text)
		if said != "" {
			event.Short, event.Telling, event.noticed = clean(author+": "+said, eventRoom), true, noticed
		}
		s.add(event)
	}
	for _, question := range file.Questions {
		s.facts.questions = append(s.facts.questions, mention{text: line("%s", question.Text),
			source: Source{Kind: FromNote, Of: file.Name, At: question.Line}})
	}
}

// tellingLine is the first line of a message that tells something, and whether it tells of trouble. Code and logs that
// were pasted are nobody's words; of questions only those count that ask about trouble.
func tellingLine(text string) (said string, noticed bool) {
	fence := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Count(line, "```")%2 == 1 {
			fence = !fence
			continue
		}
		words := inlineCode.ReplaceAllString(line, "")
		if fence || pasted.MatchString(words) || unsure.MatchString(words) {
			continue
		}
		if noticing.MatchString(words) {
			return line, true
		}
		if said == "" && decisive.MatchString(words) && !strings.HasSuffix(line, "?") {
			said = line
		}
	}
	return said, false
}

var (
	inlineCode = regexp.MustCompile("```.*?```|`[^`]*`")
	// pasted is a line of a log, of JSON, of a table, of a commit or of a terminal.
	pasted = regexp.MustCompile(`^(?:[IWEF]\d{4} |[{\[]"|[0-9a-f]{7,40} |\S+@\S+[:~].*[$#] |[$%] |\+|diff |@@ |commit |` +
		`time="|\d{4}-\d\d-\d\d[T ]\d\d:)|\blevel=\w|"(?:level|msg|severity)":|\s{4,}\S+\s{4,}`)
)
