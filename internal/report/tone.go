package report

import (
	"io"
	"strings"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// Tone is what a part of a line means, which a terminal shows as a colour. It never says what no sign or word says too.
type Tone int

// The tones.
const (
	Neutral Tone = iota
	Good
	Bad
	Doubtful
	Faint
	Strong
)

// Span is a part of a line, in one tone.
type Span struct {
	Tone Tone
	Text string
}

// Painter is an output that shows tones.
type Painter interface {
	io.Writer
	// Paint writes spans after each other.
	Paint([]Span) error
}

// toned is a part of a line that has a tone: the bytes from, up to to.
type toned struct {
	line, from, to int
	tone           Tone
}

// paint has the next line that is written show the first sign in a tone.
func (s *textWriter) paint(tone Tone, sign string) { s.next, s.sign = tone, sign }

// painted remembers where the sign stands in the line that was written.
func (s *textWriter) painted(line string) {
	if s.next == Neutral || s.sign == "" {
		return
	}
	if from := strings.Index(line, s.sign); from >= 0 {
		s.tones = append(s.tones, toned{s.count, from, from + len(s.sign), s.next})
	}
	s.next, s.sign = Neutral, ""
}

// spans divides a text into parts of one tone. A text whose lines are not those that were written has none.
func (s *textWriter) spans(text string) []Span {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) != s.count+1 {
		return []Span{{Text: text}}
	}
	var spans []Span
	for _, part := range s.tones {
		if part.to > len(lines[part.line]) {
			return []Span{{Text: text}}
		}
	}
	tones := s.tones
	for number, line := range lines {
		from := 0
		for len(tones) > 0 && tones[0].line == number {
			part := tones[0]
			spans = append(spans, Span{Text: line[from:part.from]}, Span{part.tone, line[part.from:part.to]})
			from, tones = part.to, tones[1:]
		}
		spans = append(spans, Span{Text: line[from:]})
	}
	return spans
}

// answerTone is that of a finding.
func answerTone(finding runbook.Finding) Tone {
	switch {
	case finding.Answer == runbook.AnswerHolds:
		return Good
	case finding.Passes(), finding.Answer == runbook.AnswerUnknown:
		return Doubtful
	}
	return Bad
}

// signTone is that of a line of a timeline.
func signTone(m Moment) Tone {
	switch sign(m) {
	case "✓":
		return Good
	case "✗":
		return Bad
	case "–":
		return Faint
	case " ":
		return Neutral
	}
	return Doubtful
}

// outcomeTone is that of a verdict.
func outcomeTone(outcome runbook.Outcome) Tone {
	switch outcome {
	case runbook.Remediated, runbook.RolledOut, runbook.NothingToDo:
		return Good
	case runbook.Failed:
		return Bad
	case "":
		return Strong
	case runbook.Deferred, runbook.Undecided, runbook.NeedsAttention:
	}
	return Doubtful
}

// stateTone is that of a run in a list.
func stateTone(state string) Tone {
	switch {
	case state == StateBroken:
		return Bad
	case state == StateUnverified:
		return Doubtful
	case strings.HasPrefix(state, "open"):
		return Doubtful
	}
	return outcomeTone(runbook.Outcome(state))
}

// verdictTone is that of how a run stands.
func verdictTone(history *journal.History) Tone {
	if history.Closed == nil {
		return Doubtful
	}
	return outcomeTone(history.Closed.Outcome)
}

// Conclude writes the last line of an answer, which begins with how it ended.
func Conclude(out io.Writer, says string, result engine.Result) error {
	s := &textWriter{}
	lead, _, _ := strings.Cut(says, ":")
	s.paint(outcomeTone(result.Outcome), lead)
	s.line("%s", says)
	return s.flush(out)
}
