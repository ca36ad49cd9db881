package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// document is JSON and where in its text each value stands.
type document struct {
	text   []byte
	root   any
	places map[string]int // offsets by path
}

// deepest bounds how far values and expressions may be nested.
const deepest = 200

// readDocument keeps numbers as they were written.
func readDocument(text []byte) (*document, error) {
	d := &document{text: text, places: map[string]int{}}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	root, err := d.read(decoder, "", 0)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
		}
	}
	if err != nil {
		line, column := d.at(int(decoder.InputOffset()))
		return nil, invalid("The template is not valid JSON at line '%d' and column '%d': %s.", line, column, err)
	}
	d.root = root
	return d, nil
}

func (d *document) read(decoder *json.Decoder, path string, depth int) (any, error) {
	if depth > deepest {
		return nil, fmt.Errorf("values are nested deeper than %d", deepest)
	}
	d.places[path] = d.nextValue(int(decoder.InputOffset()))
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return d.readObject(decoder, path, depth)
	case json.Delim('['):
		list := []any{}
		for decoder.More() {
			item, err := d.read(decoder, item(path, len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := decoder.Token()
		return list, err
	}
	return token, nil
}

// nextValue skips what stands between two values.
func (d *document) nextValue(offset int) int {
	for offset < len(d.text) && strings.ContainsRune(" \t\r\n,:", rune(d.text[offset])) {
		offset++
	}
	return offset
}

func (d *document) readObject(decoder *json.Decoder, path string, depth int) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		name, isText := key.(string)
		if !isText {
			return nil, errors.New("a key is not a string")
		}
		if object[name], err = d.read(decoder, below(path, name), depth+1); err != nil {
			return nil, err
		}
	}
	_, err := decoder.Token()
	return object, err
}

// where gives the line and column of a value; of the nearest that holds it when the text has none of that path.
func (d *document) where(path string) (line, column int) {
	for {
		if offset, known := d.places[path]; known {
			return d.at(offset)
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return d.at(d.places[""])
		}
		path = path[:cut]
	}
}

func (d *document) at(offset int) (line, column int) {
	before := d.text[:min(offset, len(d.text))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

func below(path, name string) string     { return path + "." + name }
func item(path string, index int) string { return fmt.Sprintf("%s[%d]", path, index) }

// Error is a refusal in ARM's terms.
type Error struct {
	// Code is InvalidTemplate, InvalidTemplateDeployment or such.
	Code    string
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

func invalid(format string, arguments ...any) *Error {
	return &Error{Code: "InvalidTemplate", Message: "Deployment template validation failed: '" +
		fmt.Sprintf(format, arguments...) + "'."}
}

// MissingError says that a resource that an expression refers to is not there.
type MissingError struct {
	ID string
}

// Error implements error.
func (e *MissingError) Error() string { return "the resource '" + e.ID + "' was not found" }
