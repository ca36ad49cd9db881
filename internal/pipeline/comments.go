package pipeline

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/gotemplate"
)

// comments validates the templates in comments. Rollout tools fill in the whole text of a file before they read it as
// YAML: one that leads nowhere stops them there too.
func (v *validator) comments() {
	text := v.file.in.text
	if !mayComment(text) {
		return
	}
	only := onlyComments(text, v.file.root)
	if !templated(only) {
		return
	}
	filler := filler{config: v.in.Config, quote: asIs}
	parsed, err := gotemplate.Parse(only)
	if err != nil {
		v.inComment(filler.flaw(err))
		return
	}
	if branch := parsed.Branches(); branch != nil {
		v.inComment(flaw{"template", "a comment decides which lines the file has: " + branch.Reason,
			"write the file without it", branch.Line, 1})
		return
	}
	line, column := placeIn(only, strings.Index(only, "{{"))
	v.warn(nil, diagnostic.Position{File: v.file.Path, Line: line, Column: column}, "template-in-comment",
		"write comments without braces",
		"templates in comments are filled in too, and stop a rollout where they lead nowhere")
	if v.in.Config == nil {
		return
	}
	_, flaws := filler.fill(only)
	for _, one := range flaws {
		v.inComment(one)
	}
}

// mayComment tells whether a template might be in a comment, without a look at what the comments are.
func mayComment(text string) bool {
	for line := range strings.Lines(text) {
		if at := strings.IndexByte(line, '#'); at >= 0 && templated(line[at:]) {
			return true
		}
	}
	return false
}

func (v *validator) inComment(wrong flaw) {
	found := problem(diagnostic.Position{File: v.file.Path, Line: wrong.line, Column: wrong.column}, wrong.rule,
		"in a comment: %s", wrong.message)
	found.Advice = wrong.advice
	v.found = append(v.found, found)
}

// onlyComments is a text of which nothing but its comments is left, each where it was.
func onlyComments(text string, root *yaml.Node) string {
	lines := strings.Split(text, "\n")
	inBlock := blocks(lines, root)
	for i, line := range lines {
		at := commentIn(line)
		if at < 0 || inBlock[i] {
			lines[i] = ""
			continue
		}
		lines[i] = strings.Repeat(" ", at) + line[at:]
	}
	return strings.Join(lines, "\n")
}

// blocks are the lines of blocks of text, in which nothing is a comment.
func blocks(lines []string, node *yaml.Node) map[int]bool {
	inside := map[int]bool{}
	eachScalar(node, func(scalar *yaml.Node) {
		if scalar.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 || scalar.Line > len(lines) {
			return
		}
		indent := blockIndent(lines[scalar.Line:])
		for i := scalar.Line; i < len(lines) && indent > 0; i++ {
			text := strings.TrimLeft(lines[i], " ")
			if text != "" && len(lines[i])-len(text) < indent {
				return
			}
			inside[i] = true
		}
	})
	return inside
}

// commentIn is where the comment of a line begins; -1 where there is none. Quotes hold no comment.
func commentIn(line string) int {
	var quote byte
	for i := range len(line) {
		switch c := line[i]; {
		case quote == '"' && c == '\\':
			continue
		case quote != 0:
			if c == quote && (c != '"' || !escaped(line, i)) {
				quote = 0
			}
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t[{,:-", line[i-1]) >= 0):
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i
		}
	}
	return -1
}

// escaped tells whether a character in double quotes has an odd number of backslashes before it.
func escaped(line string, at int) bool {
	slashes := 0
	for at > slashes && line[at-1-slashes] == '\\' {
		slashes++
	}
	return slashes%2 == 1
}
