package grouping

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Failure is what the results of a test run say about one that failed. Any part may be empty.
type Failure struct {
	Type    string // an exception's class for example
	Message string
	Text    string // the failure's body or the log's end: stacks, diffs
	File    string // of the assertion, as the results name it
	Line    int
}

// Identity is what a failure is recognised by.
type Identity struct {
	Key     Key
	Message string // masked, one line, at most 512 bytes
	Frame   string // the first function of the project's own in the stack, without line and folder
	// Place is the assertion's file, without its folder, and line. The line is for people and signatures: it is no
	// part of the key, since every change further up in the file moves it.
	Place string
}

const (
	maxMessage = 512
	maxName    = 200 // of a frame and of a place
)

// Identify works out a failure's identity. A message that says enough is the key alone: one outage is met at many
// places. Where the message could stand anywhere, such as "exit status 1", or is an error that the language raises by
// itself, the key is of the frame as well, or else of the place's file.
//
// It takes time in proportion to the failure's length.
func Identify(f Failure) Identity {
	said := read(f)
	masked := withoutHeader(bounded(oneLine(Mask(said.message)), 4*maxMessage))
	identity := Identity{
		Message: bounded(masked, maxMessage),
		Frame:   bounded(oneLine(Mask(said.frame)), maxName),
		Place:   said.place.String(),
	}
	message := alike(identity.Message)
	if !said.anywhere && informative(message) {
		identity.Key = newKey(message)
		return identity
	}
	where := identity.Frame
	if where == "" {
		where = Mask(said.place.file)
	}
	identity.Key = newKey(message, alike(where))
	return identity
}

// place is a line of a source file.
type place struct {
	file string // without its folder
	line int
}

func newPlace(file string, line int) place {
	file = path.Base(strings.ReplaceAll(strings.TrimSpace(file), `\`, "/"))
	if file == "." || file == "/" {
		return place{}
	}
	return place{file: bounded(oneLine(file), maxName), line: max(0, line)}
}

func (p place) String() string {
	if p.line == 0 || p.file == "" {
		return p.file
	}
	return p.file + ":" + strconv.Itoa(p.line)
}

// oneLine has single blanks for whatever separates words, and nothing that steers a terminal.
func oneLine(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	blank := false
	for _, char := range s { // a byte that is no text comes as U+FFFD
		if char <= ' ' || char >= 0x7f && char <= 0xa0 || char == '\u2028' || char == '\u2029' || char == '\ufeff' {
			blank = out.Len() > 0
			continue
		}
		if blank {
			out.WriteByte(' ')
			blank = false
		}
		out.WriteRune(char)
	}
	return out.String()
}

// bounded is the beginning of a text, in whole characters and marks.
func bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	if open := strings.LastIndexByte(s[:end], '<'); open >= 0 && end-open < len(markDuration) {
		if mark := markAt(s[open:]); open+len(mark) > end {
			end = open
		}
	}
	return strings.TrimRight(s[:end], " ")
}

// alike is a masked text with one mark for all: what was a number in one run may be a duration in the next, and one
// address three. Marks that only punctuation joins are one.
func alike(masked string) string {
	var out strings.Builder
	out.Grow(len(masked))
	for at := 0; at < len(masked); {
		mark := ""
		if masked[at] == '<' {
			mark = markAt(masked[at:])
		}
		if mark == "" {
			out.WriteByte(masked[at])
			at++
			continue
		}
		at += len(mark)
		if mark == markPath && at < len(masked) && masked[at] == '\\' {
			out.WriteString("*/")
			at++
			continue
		}
		for {
			next := at
			for next < len(masked) && next-at < 3 && strings.IndexByte(" .,:;/-+_|xX", masked[next]) >= 0 {
				next++
			}
			following := ""
			if next < len(masked) && masked[next] == '<' {
				following = markAt(masked[next:])
			}
			if following == "" {
				break
			}
			at = next + len(following)
		}
		out.WriteByte('*')
	}
	return out.String()
}
