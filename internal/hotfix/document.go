package hotfix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// member is one name and value of a JSON object, with where the value stands in
// the document: a rewrite replaces these bytes and no other.
type member struct {
	name       string
	value      json.RawMessage
	nameStart  int
	start, end int
}

// checkDocument refuses what is not one JSON document in UTF-8 of bounded depth,
// before anything is allocated for its contents.
func checkDocument(raw []byte) error {
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return errors.New("it begins with a byte order mark; save it without")
	case !utf8.Valid(raw):
		return errors.New("it is not UTF-8")
	case Depth(raw) > maxNesting:
		return fmt.Errorf("it is nested more than %d deep", maxNesting)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	var document json.RawMessage
	if err := decoder.Decode(&document); err != nil {
		return located(raw, err)
	}
	if rest := bytes.TrimLeft(raw[decoder.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return placed(raw, len(raw)-len(rest), errors.New("something follows the JSON object"))
	}
	if document[0] != '{' {
		return errors.New("it is not a JSON object")
	}
	return nil
}

// Depth is how deep a document's brackets nest, whether or not they match.
func Depth(raw []byte) int {
	open, deepest, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open++
			deepest = max(deepest, open)
		case c == '}' || c == ']':
			open--
		}
	}
	return deepest
}

// membersOf lists an object's members in their order, duplicates and all. The
// object stands at offset of a document that checkDocument has passed.
func membersOf(object json.RawMessage, offset int) []member {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if opening, err := decoder.Token(); err != nil || opening != json.Delim('{') {
		return nil
	}
	var members []member
	for decoder.More() {
		before := int(decoder.InputOffset())
		name, err := decoder.Token()
		text, isText := name.(string)
		if err != nil || !isText {
			return members
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return members
		}
		end := offset + int(decoder.InputOffset())
		members = append(members, member{
			name: text, value: value,
			nameStart: offset + before + bytes.IndexByte(object[before:], '"'),
			start:     end - len(value), end: end,
		})
	}
	return members
}

// Position gives the line and the column, both from 1 and the column in characters,
// of an offset in a document.
func Position(raw []byte, offset int) (line, column int) {
	before := raw[:min(max(offset, 0), len(raw))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

// PlacedError is what is wrong with a document, and where.
type PlacedError struct {
	Line, Column int // as Place gives them
	Err          error
}

func (e *PlacedError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}
func (e *PlacedError) Unwrap() error { return e.Err }

func placed(raw []byte, offset int, err error) error {
	line, column := Position(raw, offset)
	return &PlacedError{line, column, err}
}

func located(raw []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return placed(raw, int(syntax.Offset)-1, err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return placed(raw, len(raw), errors.New("it ends in the middle"))
	}
	return err
}
