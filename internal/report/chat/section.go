package chat

import (
	"salve/internal/lazyregexp"
)

// block is what stands under one heading.
type block struct {
	// heading is its line; nil for what stands before the first.
	heading *line
	lines   []line
	title   string
	// part is whether it may hold chat: the written parts of a post-mortem don't.
	part     bool
	timeline bool
}

var (
	headingPattern = lazyregexp.New(`^(#{1,6})\s+(.*?)\s*#*$`)
	writtenParts   = lazyregexp.New(`(?i)\b(time\s?line|timlines?|chronology|summ?ary|impact|root\s?cause|` +
		`detection|dectection|resolution|resoluton|lessons?|went|lucky|action\s+items?|mitigation|trigger|background)\b`)
	timelineParts = lazyregexp.New(`(?i)\b(ti?m?e?\s?lines?|chronology)\b`)
	chatParts     = lazyregexp.New(`(?i)\b(appendi\w*|apendi\w*|chat\w*|slack|irc|teams|matrix|discussions?|` +
		`transcripts?|conversations?|messages)\b|#[a-z]`)
	channelPattern = lazyregexp.New(`#[\p{L}\p{N}][\p{L}\p{N}_\-]*`)
)

func isHeading(l *line) bool {
	return !l.quoted && !l.code && l.indent() < 4 && headingPattern.MatchString(l.raw)
}

// splitBlocks cuts the document at its headings. A "# comment" in a message, with text right before and after it, is
// no heading.
func splitBlocks(lines []line) []block {
	blocks := []block{{part: true}}
	written := 0 // the level of the written part that we are in
	for i := range lines {
		l := &lines[i]
		last := &blocks[len(blocks)-1]
		apart := i == 0 || lines[i-1].blank() || i+1 == len(lines) || lines[i+1].blank()
		if l.text == "" || l.text[0] != '#' || !apart || !isHeading(l) {
			if last.lines == nil {
				last.lines = lines[i:i]
			}
			last.lines = last.lines[:len(last.lines)+1]
			continue
		}
		m := headingPattern.FindStringSubmatch(l.raw)
		level, title := len(m[1]), m[2]
		if written > 0 && level <= written {
			written = 0
		}
		chat := chatParts.MatchString(title)
		isTitle := level == 1 && len(blocks) == 1
		if written == 0 && !chat && !isTitle && writtenParts.MatchString(title) {
			written = level
		}
		blocks = append(blocks, block{heading: l, title: title, part: written == 0 || chat,
			timeline: !isTitle && timelineParts.MatchString(title)})
	}
	return blocks
}

// askAboutUnread asks about what looks like chat in the written parts, where it isn't read.
func askAboutUnread(blocks []block, asked *questions) {
	for _, b := range blocks {
		if b.part || b.timeline || len(b.lines) == 0 {
			continue
		}
		if chat := readTranscript(block{lines: b.lines, part: true}, &questions{}); chat != nil {
			asked.ask(chat.entries[0].message.Line, "is this chat? It stands under %q, where chat isn't read: "+
				"move it below a heading such as \"Appendix\"", b.title)
		}
	}
}
