package chat

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"salve/internal/textencoding"
)

// Bounds of what is read.
const (
	maxBytes     = 16 << 20
	maxMessages  = 200_000
	maxLines     = 1_000_000
	maxLine      = 64 << 10
	maxQuestions = 200
)

// ErrTooLarge is in the error of an export beyond the bounds.
var ErrTooLarge = errors.New("chat export too large")

// Clock is a time of day as written, on a 24-hour clock.
type Clock struct{ Hour, Minute, Second int }

// String is the clock as 08:27, or 08:27:33 if seconds are not 0.
func (c Clock) String() string {
	if c.Second != 0 {
		return fmt.Sprintf("%02d:%02d:%02d", c.Hour, c.Minute, c.Second)
	}
	return fmt.Sprintf("%02d:%02d", c.Hour, c.Minute)
}

func (c Clock) seconds() int { return c.Hour*3600 + c.Minute*60 + c.Second }

// Message is one message of a chat.
type Message struct {
	// Line is that of the message's header, from 1.
	Line   int
	Author string
	Bot    bool
	Clock  Clock
	// At is the instant; zero unless date and zone are known.
	At time.Time
	// Date is YYYY-MM-DD; empty unless it is known.
	Date    string
	Text    string
	Edited  bool
	Channel string
}

// Question is what only a person can answer.
type Question struct {
	Line int
	Text string
}

// Options are what a person told about an export.
type Options struct {
	// Date is that of the first message, YYYY-MM-DD; empty if it isn't told.
	Date string
	// Zone is that of the times; nil if it isn't told.
	Zone *time.Location
	// Channel names the channel; empty: as the export says.
	Channel string
}

// Export is what was read.
type Export struct {
	Messages  []Message
	Questions []Question
	// Zone is as found in prose, such as "PST"; empty if it isn't told.
	Zone string
}

// Parse reads a chat export, or the chat in a post-mortem, in UTF-8, or in UTF-16 with a byte order mark. No chat gives
// no messages.
func Parse(raw []byte, options Options) (Export, error) {
	if len(raw) > maxBytes {
		return Export{}, fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooLarge, len(raw), maxBytes)
	}
	told := day{}
	if options.Date != "" {
		var ok bool
		if told, ok = parseDay(options.Date); !ok || told.text() != options.Date {
			return Export{}, fmt.Errorf("invalid date %q: must be YYYY-MM-DD", options.Date)
		}
	}
	options.Channel = cleanLine(options.Channel)
	raw, err := textencoding.UTF8(raw)
	if err != nil {
		return Export{}, err
	}
	if isJSON(raw) {
		return parseSlack(raw, options)
	}
	lines, err := splitLines(raw)
	if err != nil {
		return Export{}, err
	}
	blocks := splitBlocks(lines)
	asked := &questions{}
	var chats []*transcript
	total := 0
	for _, b := range blocks {
		if chat := readTranscript(b, asked); chat != nil {
			if total += len(chat.entries); total > maxMessages {
				return Export{}, fmt.Errorf("line %d: %w: more than %d messages", b.lines[0].number, ErrTooLarge, maxMessages)
			}
			chats = append(chats, chat)
		}
	}
	if len(chats) == 0 {
		askAboutUnread(blocks, asked)
		return Export{Questions: asked.sorted()}, nil
	}
	document := readProse(blocks, chats)
	setDates(chats, document, told, asked)
	zone := setInstants(chats, document, options.Zone, asked)
	export := Export{Zone: zone}
	for _, chat := range chats {
		for _, e := range chat.entries {
			e.message.Channel = chat.channel
			if options.Channel != "" {
				e.message.Channel = options.Channel
			}
			export.Messages = append(export.Messages, e.message)
		}
	}
	export.Questions = asked.sorted()
	return export, nil
}

// isJSON is whether the input is an array or an object of JSON; "[8:27 AM] Name" is not.
func isJSON(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return false
	}
	inner := bytes.TrimLeft(raw[1:], " \t\r\n")
	switch raw[0] {
	case '[':
		return len(inner) > 0 && (inner[0] == '{' || inner[0] == ']' && len(bytes.TrimSpace(inner)) == 1)
	case '{':
		return len(inner) > 0 && inner[0] == '"'
	}
	return false
}

// questions collects what is to be asked, each once.
type questions struct {
	list []Question
	seen map[Question]bool
}

func (q *questions) ask(line int, format string, values ...any) {
	question := Question{line, fmt.Sprintf(format, values...)}
	if q.seen[question] || len(q.list) > maxQuestions {
		return
	}
	if q.seen == nil {
		q.seen = map[Question]bool{}
	}
	q.seen[question] = true
	if len(q.list) == maxQuestions {
		question.Text = "more is unclear from here on: answer the questions above first"
	}
	q.list = append(q.list, question)
}

// sorted is what is asked, in the order of the lines.
func (q *questions) sorted() []Question {
	slices.SortStableFunc(q.list, func(a, b Question) int { return a.Line - b.Line })
	return q.list
}
