package prepublish

import (
	"errors"
	"fmt"

	"salve/internal/hotfix"
)

// Finding is something of a pointer file that has to be mended.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // in characters
	Field   string `json:"field"`  // empty for the file as a whole
	Problem string `json:"problem"`
}

func (f Finding) String() string {
	text := fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
	if f.Field != "" {
		text += f.Field + ": "
	}
	return text + f.Problem
}

// document is a pointer file under examination.
type document struct {
	file     string
	raw      []byte
	findings []Finding
}

func (d *document) add(field string, offset int, format string, values ...any) {
	line, column := hotfix.Position(d.raw, offset)
	d.findings = append(d.findings, Finding{d.file, line, column, field, fmt.Sprintf(format, values...)})
}

// addWhole is for what is wrong with the document itself.
func (d *document) addWhole(err error) {
	found := Finding{File: d.file, Line: 1, Column: 1, Problem: err.Error()}
	var placed *hotfix.PlacedError
	if errors.As(err, &placed) {
		found.Line, found.Column, found.Problem = placed.Line, placed.Column, placed.Err.Error()
	}
	d.findings = append(d.findings, found)
}
