package writefiles

import "strings"

// header is what stands behind the sign of a block scalar.
type header struct {
	folds  bool
	chomp  byte // + keeps all line feeds at the end, - none, 0 one
	indent int  // 0 where the first line tells
}

// block reads a block scalar of an entry in a column, and goes to the next token.
func (r *reader) block(column int) (string, error) {
	h, err := r.header()
	if err != nil {
		return "", err
	}
	if h.indent > 0 {
		h.indent += column
	}
	var value strings.Builder
	// ending is the line feed of the line before, empty are those of the lines between,
	// which are held back: it depends on what follows what they mean.
	ending, empty, spaced := "", 0, false
	for {
		skipped, more, err := r.nextOfBlock(&h, column)
		if err != nil {
			return "", err
		}
		empty += skipped
		if !more {
			break
		}
		startsBlank := blank(r.peek(0))
		if h.folds && !spaced && !startsBlank && ending != "" {
			if empty == 0 {
				value.WriteByte(' ')
			}
		} else {
			value.WriteString(ending)
		}
		value.WriteString(strings.Repeat("\n", empty))
		spaced, empty = startsBlank, 0
		began := r.at
		for r.peek(0) != '\n' {
			r.at++
		}
		value.WriteString(r.text[began:r.at])
		if ending = "\n"; r.ended() {
			ending = ""
		}
		r.newline()
	}
	if h.chomp != '-' {
		value.WriteString(ending)
	}
	if h.chomp == '+' {
		value.WriteString(strings.Repeat("\n", empty))
	}
	return value.String(), r.token()
}

// header reads the line of a block scalar's sign.
func (r *reader) header() (h header, err error) {
	h.folds = r.peek(0) == '>'
	r.at++
	for range 2 {
		switch c := r.peek(0); {
		case (c == '+' || c == '-') && h.chomp == 0:
			h.chomp = c
			r.at++
		case c >= '1' && c <= '9' && h.indent == 0:
			h.indent = int(c - '0')
			r.at++
		}
	}
	r.spaces()
	r.comment()
	if r.peek(0) != '\n' {
		return h, r.wrong("%q is not expected behind the sign of a block", r.peek(0))
	}
	r.newline()
	return h, nil
}

// nextOfBlock goes to the text of the next line of a block that is not empty, if
// there is one, and counts the empty ones. Where the block ends it stands at the
// beginning of a line. The first line tells the indentation.
func (r *reader) nextOfBlock(h *header, column int) (empty int, more bool, err error) {
	widest := 0
	for !r.ended() {
		for r.peek(0) == ' ' && (h.indent == 0 || r.column() < h.indent) {
			r.at++
		}
		switch at := r.column(); {
		case r.peek(0) == '\t' && (h.indent == 0 || at < h.indent):
			return 0, false, r.wrong("a tab is no indentation")
		case r.peek(0) == '\n':
			widest = max(widest, at)
			if r.ended() {
				return empty, false, nil
			}
			r.newline()
			empty++
			continue
		case h.indent == 0 && at > column:
			if widest > at {
				return 0, false, r.wrong("an empty line before this has more spaces than the block's first line")
			}
			h.indent = at
			return empty, true, nil
		case h.indent > 0 && at == h.indent:
			return empty, true, nil
		}
		r.at = r.start
		return empty, false, nil
	}
	return empty, false, nil
}
