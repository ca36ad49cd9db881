package pipeline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"
)

// segment is a part of a text with templates: either as it is, or a dotted path
// into the configuration.
type segment struct {
	literal, path string
	// at is the offset in the text, in bytes.
	at int
}

// segments takes a text apart. Of Go's templates it knows {{ .a.b }}, with or
// without the hyphens that trim; everything else is an error.
func segments(text string) ([]segment, error) {
	tree := parse.New("")
	tree.Mode = parse.SkipFuncCheck
	defined := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", defined); err != nil {
		return nil, syntaxError(err)
	}
	for name, other := range defined {
		if other != tree {
			return nil, fmt.Errorf("{{define %q}} is more than the path {{ .a.b }} that a template may be", name)
		}
	}
	var all []segment
	for _, node := range tree.Root.Nodes {
		switch node := node.(type) {
		case *parse.TextNode:
			all = append(all, segment{literal: string(node.Text), at: int(node.Pos)})
		case *parse.ActionNode:
			path, ok := pathOf(node.Pipe)
			if !ok {
				return nil, unsupported(text, node)
			}
			all = append(all, segment{path: path, at: int(node.Pos)})
		default:
			return nil, unsupported(text, node)
		}
	}
	return all, nil
}

// templateError says that a text is no template, or more than one may be.
type templateError struct {
	// line of the text, counted from 1.
	line   int
	reason string
}

func (e *templateError) Error() string { return e.reason }

// placeInTemplate is what Go puts before its message.
var placeInTemplate = regexp.MustCompile(`^template: :(\d+): `)

func syntaxError(err error) error {
	wrong := &templateError{line: 1, reason: placeInTemplate.ReplaceAllString(err.Error(), "")}
	if said := placeInTemplate.FindStringSubmatch(err.Error()); said != nil {
		wrong.line, _ = strconv.Atoi(said[1]) // it is digits
	}
	return wrong
}

func unsupported(text string, node parse.Node) error {
	what, _, _ := strings.Cut(node.String(), "}}")
	return &templateError{
		line:   1 + strings.Count(text[:node.Position()], "\n"),
		reason: what + "}} is more than the path {{ .a.b }} that a template may be",
	}
}

// pathOf is the path that a pipeline of one field leads along.
func pathOf(pipe *parse.PipeNode) (string, bool) {
	if pipe == nil || len(pipe.Decl) > 0 || len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return "", false
	}
	field, ok := pipe.Cmds[0].Args[0].(*parse.FieldNode)
	if !ok {
		return "", false
	}
	return strings.Join(field.Ident, "."), true
}
