package writefiles

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Entry is one file of a document. What is not given is the zero Text.
type Entry struct {
	Line                                        int
	Path, Permissions, Owner, Encoding, Content Text
}

// Text is one value.
type Text struct {
	Value string
	Line  int // where it begins; 0 for one that is not given
}

// Given tells whether the document has the value, be it empty.
func (t Text) Given() bool { return t.Line > 0 }

const listName = "write_files"

// Read gives the entries of a document, and an error when there are more than limit,
// or anything else than entries.
func Read(document []byte, limit int) ([]Entry, error) {
	r := &reader{text: string(document), line: 1, limit: limit}
	if err := r.checkCharacters(); err != nil {
		return nil, err
	}
	if err := r.document(); err != nil {
		return nil, err
	}
	return r.entries, nil
}

// reader stands at text[at].
type reader struct {
	text  string
	at    int
	line  int // from 1
	start int // of the line
	limit int

	entries []Entry
}

// wrong is an error at this place.
func (r *reader) wrong(format string, values ...any) error {
	return fmt.Errorf("line %d: %w", r.line, fmt.Errorf(format, values...))
}

// checkCharacters refuses what YAML refuses, and what ends a line besides the line
// feed: https://yaml.org/spec/1.2.2/#51-character-set.
func (r *reader) checkCharacters() error {
	line := 1
	for i := 0; i < len(r.text); {
		if c := r.text[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(r.text[i:])
		switch {
		case c == '\n':
			line++
		case c == utf8.RuneError && size == 1:
			return fmt.Errorf("line %d: it is not UTF-8", line)
		case c == '\r':
			return fmt.Errorf("line %d: it holds a carriage return; lines end with a line feed alone", line)
		case c < ' ' && c != '\t', c >= 0x7f && c < 0xa0, c == '\u2028', c == '\u2029', c == '\ufeff', c == '\ufffe',
			c == '\uffff':
			return fmt.Errorf("line %d: it holds the character %U; in double quotes that can be written as an escape", line, c)
		}
		i += size
	}
	return nil
}

func (r *reader) ended() bool { return r.at >= len(r.text) }

// peek gives the character some places on; behind the end there are line feeds.
func (r *reader) peek(ahead int) byte {
	if r.at+ahead >= len(r.text) {
		return '\n'
	}
	return r.text[r.at+ahead]
}

func (r *reader) column() int { return r.at - r.start }

// newline goes over a line feed.
func (r *reader) newline() {
	if r.at < len(r.text) {
		r.at++
		r.line++
	}
	r.start = r.at
}

func (r *reader) spaces() {
	for r.peek(0) == ' ' {
		r.at++
	}
}

// comment goes over a comment, if one is here. It needs a space before it.
func (r *reader) comment() {
	if r.peek(0) != '#' || r.column() > 0 && r.text[r.at-1] != ' ' {
		return
	}
	for r.peek(0) != '\n' {
		r.at++
	}
}

// endLine expects nothing more of the line, and goes to the next token.
func (r *reader) endLine() error {
	r.spaces()
	r.comment()
	if r.peek(0) != '\n' {
		return r.wrong("%q is not expected here", r.peek(0))
	}
	r.newline()
	return r.token()
}

// token goes over empty lines and comments to the beginning of what follows.
func (r *reader) token() error {
	for !r.ended() {
		r.spaces()
		r.comment()
		if r.peek(0) != '\n' {
			if r.peek(0) == '\t' {
				return r.wrong("a tab is no indentation")
			}
			return nil
		}
		r.newline()
	}
	return nil
}

// marker tells whether the line begins with the marker of a document's beginning or
// end.
func (r *reader) marker(text string) bool {
	return r.column() == 0 && strings.HasPrefix(r.text[r.at:], text) && blank(r.peek(len(text)))
}

func (r *reader) atMarker() bool { return r.marker("---") || r.marker("...") }

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// document reads the whole.
func (r *reader) document() error {
	if err := r.token(); err != nil {
		return err
	}
	if r.marker("---") {
		r.at += len("---")
		if err := r.endLine(); err != nil {
			return err
		}
	}
	if err := r.root(); err != nil {
		return err
	}
	if r.marker("...") {
		r.at += len("...")
		if err := r.endLine(); err != nil {
			return err
		}
	}
	if r.ended() {
		return nil
	}
	if name, err := r.key(); err == nil {
		return r.wrong("something follows the list %s: %.40q", listName, name)
	}
	return r.wrong("something follows the list %s", listName)
}

func (r *reader) root() error {
	switch {
	case r.ended() || r.atMarker():
		return r.wrong("there is no %s", listName)
	case r.peek(0) == '{':
		return r.flowRoot()
	case r.column() > 0:
		return r.wrong("%s has to begin at the beginning of its line", listName)
	}
	name, err := r.key()
	switch {
	case err != nil:
		return err
	case name != listName:
		return r.wrong("%s is expected, and not %.40q", listName, name)
	}
	return r.list()
}

// list reads the value of write_files.
func (r *reader) list() error {
	r.spaces()
	if r.peek(0) == '\n' || r.peek(0) == '#' {
		if err := r.endLine(); err != nil {
			return err
		}
	}
	switch {
	case r.ended():
		return r.wrong("%s has no value", listName)
	case r.peek(0) == '[' && r.column() > 0:
		if err := r.flowList(); err != nil {
			return err
		}
		return r.endLine()
	case !r.dash():
		return r.wrong("%s has to be a list", listName)
	case strings.TrimLeft(r.text[r.start:r.at], " ") != "":
		return r.wrong("a list begins on a line of its own")
	}
	for column := r.column(); !r.ended() && r.dash() && r.column() == column; {
		if err := r.item(column); err != nil {
			return err
		}
	}
	if !r.ended() && r.column() > 0 {
		return r.wrong("the indentation is not that of an entry")
	}
	return nil
}

// dash tells whether an item of a list begins here.
func (r *reader) dash() bool {
	return r.peek(0) == '-' && blank(r.peek(1)) && !r.ended() && !r.marker("---")
}

// item reads one entry, whose dash is here.
func (r *reader) item(dash int) error {
	r.at++
	r.spaces()
	if r.peek(0) == '\n' || r.peek(0) == '#' {
		if err := r.endLine(); err != nil {
			return err
		}
		if r.ended() || r.column() <= dash {
			return r.wrong("an entry is empty")
		}
	}
	entry, err := r.begin()
	if err != nil {
		return err
	}
	if r.peek(0) == '{' {
		if err := r.flowEntry(entry); err != nil {
			return err
		}
		return r.endLine()
	}
	return r.blockEntry(entry, r.column())
}

// begin makes room for an entry.
func (r *reader) begin() (*Entry, error) {
	if len(r.entries) == r.limit {
		return nil, r.wrong("%s names more than %d files", listName, r.limit)
	}
	r.entries = append(r.entries, Entry{Line: r.line})
	return &r.entries[len(r.entries)-1], nil
}

// blockEntry reads the names and values of an entry in a column.
func (r *reader) blockEntry(entry *Entry, column int) error {
	for !r.ended() && r.column() == column && !r.atMarker() {
		if r.dash() {
			return r.wrong("an entry has to be a mapping with a path and a content")
		}
		into, err := r.field(entry)
		if err != nil {
			return err
		}
		if *into, err = r.value(column); err != nil {
			return err
		}
	}
	if !r.ended() && r.column() > column {
		return r.wrong("the indentation is not that of the entry's other fields")
	}
	return nil
}

// field reads the name of a field, and gives where its value goes.
func (r *reader) field(entry *Entry) (*Text, error) {
	name, err := r.key()
	if err != nil {
		return nil, err
	}
	return r.into(entry, name)
}

// into gives where the value of a field goes.
func (r *reader) into(entry *Entry, name string) (*Text, error) {
	fields := map[string]*Text{"path": &entry.Path, "permissions": &entry.Permissions, "owner": &entry.Owner,
		"encoding": &entry.Encoding, "content": &entry.Content}
	into, known := fields[name]
	switch {
	case !known:
		return nil, r.wrong("the field %.40q is not known here", name)
	case into.Given():
		return nil, r.wrong("the field %q is given twice", name)
	}
	return into, nil
}

// key reads a name and the colon behind it, on one line.
func (r *reader) key() (string, error) {
	began := r.line
	name, err := r.word()
	if err != nil {
		return "", err
	}
	r.spaces()
	if r.line != began || r.peek(0) != ':' || !blank(r.peek(1)) {
		return "", r.wrong("a name with a colon and a space behind it is expected")
	}
	r.at++
	return name, nil
}

// word reads a name as a scalar.
func (r *reader) word() (string, error) {
	switch c := r.peek(0); c {
	case '\'', '"':
		return r.quoted()
	default:
		return r.plainOnLine(false)
	}
}
