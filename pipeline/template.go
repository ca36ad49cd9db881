package pipeline

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template/parse"
)

// segment is a part of a text with templates: either as it is, or a dotted path
// into the configuration.
type segment struct{ literal, path string }

// segments takes a text apart. Of Go's templates it knows {{ .a.b }}, with or
// without the hyphens that trim; everything else is an error.
func segments(text string) ([]segment, error) {
	tree := parse.New("")
	tree.Mode = parse.SkipFuncCheck
	defined := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", defined); err != nil {
		return nil, errors.New(placeInTemplate.ReplaceAllString(err.Error(), ""))
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
			all = append(all, segment{literal: string(node.Text)})
		case *parse.ActionNode:
			path, ok := pathOf(node.Pipe)
			if !ok {
				return nil, unsupported(node)
			}
			all = append(all, segment{path: path})
		default:
			return nil, unsupported(node)
		}
	}
	return all, nil
}

// placeInTemplate is what Go puts before its message.
var placeInTemplate = regexp.MustCompile(`^template: :\d+: `)

func unsupported(node parse.Node) error {
	what, _, _ := strings.Cut(node.String(), "}}")
	return fmt.Errorf("%s}} is more than the path {{ .a.b }} that a template may be", what)
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
