package pipeline

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"salve/internal/diagnostic"
)

// Fill fills the templates of a file that a pipeline names, such as that of a
// deployment's parameters. quote writes a value as the file's language has it. When
// something can't be filled in, the text is empty and the list says what.
func (c *Config) Fill(path, text string, quote func(value string) string) (string, diagnostic.List) {
	if !templated(text) {
		return text, nil
	}
	parts, err := segments(text)
	var wrong *templateError
	if errors.As(err, &wrong) {
		return "", diagnostic.List{problem(diagnostic.Position{File: path, Line: wrong.line, Column: 1}, "template", "%s",
			wrong.reason)}
	}
	var filled strings.Builder
	var found diagnostic.List
	var spelling diagnostic.Speller
	for _, part := range parts {
		if part.path == "" {
			filled.WriteString(part.literal)
			continue
		}
		held, absent := c.text(part.path)
		if absent != nil {
			missing := problem(positionAt(path, text, part.at), "missing-config", "%s", absent.message)
			missing.Advice = spelling.DidYouMean(absent.name, absent.instead)
			found = append(found, missing)
			continue
		}
		filled.WriteString(quote(held))
	}
	if len(found) > 0 {
		return "", found
	}
	return filled.String(), nil
}

// positionAt is the place of an offset in bytes.
func positionAt(path, text string, offset int) diagnostic.Position {
	before := text[:offset]
	return diagnostic.Position{
		File: path, Line: 1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}

// parameterFiles are the files with parameters that steps name, each with the first
// of those steps.
func (f *File) parameterFiles() map[string]*Step {
	files := map[string]*Step{}
	for _, step := range f.Steps() {
		if step.ARM == nil || step.ARM.Parameters.Value == "" || templated(step.ARM.Parameters.Value) {
			continue
		}
		if path := f.seen(step.ARM.Parameters.Value); files[path] == nil {
			files[path] = step
		}
	}
	return files
}

// parameters validates the templates in the files with parameters.
func (v *validator) parameters() {
	if v.in.FileOnly || v.in.Config == nil {
		return
	}
	for path, step := range v.file.parameterFiles() {
		content, err := ReadNamed(path)
		if err != nil {
			continue // that it isn't there has been said
		}
		_, found := v.in.Config.Fill(path, string(content), func(value string) string { return value })
		for _, wrong := range found {
			wrong.Step = step.ID().String()
			v.found = append(v.found, wrong)
		}
	}
}

// ReadNamed reads a file that a pipeline names, if it is one: reading from anything
// else might never end. Of more than 16 MiB it gives the beginning.
func ReadNamed(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return ReadContent(path)
}
