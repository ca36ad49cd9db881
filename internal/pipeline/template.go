package pipeline

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/gotemplate"
)

// templated tells whether a text isn't final yet.
func templated(text string) bool { return strings.Contains(text, "{{") }

// flaw is why a text can't be filled in.
type flaw struct {
	rule, message, advice string
	// line and column are those of the text, counted from 1.
	line, column int
}

// filler fills templates in with what a configuration holds.
type filler struct {
	config *Config
	// quote writes a value as the language of the text has it.
	quote    func(value string) string
	spelling diagnostic.Speller
	// endless is why no more templates are filled in that are more than a path: one did not end. nil before that.
	endless error
	// data is what templates that are more than a path walk through; nil before there was one.
	data any
	// parsed are the texts that were read: most files have few that differ.
	parsed map[string]*gotemplate.Template
}

// parse reads a text, once.
func (f *filler) parse(text string) (*gotemplate.Template, error) {
	if known := f.parsed[text]; known != nil {
		return known, nil
	}
	parsed, err := gotemplate.Parse(text)
	if err != nil {
		return nil, err
	}
	if f.parsed == nil {
		f.parsed = map[string]*gotemplate.Template{}
	}
	f.parsed[text] = parsed
	return parsed, nil
}

// fill is a text with its templates filled in. Where there are flaws, the text is empty.
func (f *filler) fill(text string) (string, []flaw) {
	if !templated(text) {
		return text, nil
	}
	parsed, err := f.parse(text)
	if err != nil {
		return "", []flaw{f.flaw(err)}
	}
	parts, more := parsed.Parts()
	if more != nil {
		if f.data == nil {
			f.data = f.config.data(f.quote)
		}
		if f.endless != nil {
			return "", []flaw{f.flaw(f.endless)}
		}
		filled, err := parsed.Execute(f.data)
		if err == nil {
			return filled, nil
		}
		var wrong *gotemplate.Error
		if errors.As(err, &wrong) && wrong.Endless {
			f.endless = err
		}
		return "", []flaw{f.flaw(err)}
	}
	var filled strings.Builder
	var flaws []flaw
	for _, part := range parts {
		if part.Path == "" {
			filled.WriteString(part.Literal)
			continue
		}
		held, absent := f.config.text(part.Path)
		if absent != nil {
			line, column := placeIn(text, part.At)
			flaws = append(flaws, flaw{"missing-config", absent.message, f.advise(absent), line, column})
			continue
		}
		filled.WriteString(f.quote(held))
	}
	if len(flaws) > 0 {
		return "", flaws
	}
	return filled.String(), nil
}

// flaw is what an error of a template comes to.
func (f *filler) flaw(err error) flaw {
	var wrong *gotemplate.Error
	if !errors.As(err, &wrong) {
		return flaw{rule: "template", message: err.Error(), line: 1, column: 1}
	}
	found := flaw{rule: "template", message: wrong.Reason, line: wrong.Line, column: max(wrong.Column, 1)}
	if _, absent := f.config.lookup(wrong.Missing); wrong.Missing != "" && absent != nil {
		found.rule, found.message, found.advice = "missing-config", absent.message, f.advise(absent)
	}
	return found
}

// advise suggests what is there instead.
func (f *filler) advise(absent *absence) string {
	return f.spelling.DidYouMean(absent.name, absent.instead)
}

// placeIn is the place of an offset in bytes.
func placeIn(text string, offset int) (line, column int) {
	before := text[:offset]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// number is one of the configuration: templates write it in decimals.
type number float64

func (n number) String() string { return plain(float64(n)) }

// data is the configuration as templates walk through it. Texts are quoted.
func (c *Config) data(quote func(string) string) any {
	if c == nil {
		return map[string]any{}
	}
	return dataOf(literal(c.root), quote)
}

func dataOf(held any, quote func(string) string) any {
	switch held := held.(type) {
	case map[string]any:
		for name, value := range held {
			held[name] = dataOf(value, quote)
		}
	case []any:
		for i, value := range held {
			held[i] = dataOf(value, quote)
		}
	case string:
		return quote(held)
	case int:
		return number(held)
	case float64:
		return number(held)
	}
	return held
}

// pathsIn are the paths of a text's templates. What is no template leads nowhere.
func pathsIn(text string) []string {
	if !templated(text) {
		return nil
	}
	parsed, err := gotemplate.Parse(text)
	if err != nil {
		return nil
	}
	return parsed.Paths()
}

func eachScalar(node *yaml.Node, visit func(*yaml.Node)) {
	if node.Kind == yaml.ScalarNode {
		visit(node)
	}
	for _, child := range node.Content {
		eachScalar(child, visit)
	}
}
