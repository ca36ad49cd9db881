package gotemplate

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"time"
	"unicode/utf8"
)

const (
	// largest bounds what a template writes, in bytes.
	largest = 16 << 20
	// patience bounds how long it runs. A range over a number can be endless without a word.
	patience = 10 * time.Second
)

// Error says why a text is no template, or can't be filled in.
type Error struct {
	// Line is that of the text, counted from 1; Column is 0 where it is not known.
	Line, Column int
	Reason       string
	// Missing is the dotted path that leads nowhere; empty where something else is wrong.
	Missing string
	// Endless: it was given up, and still runs.
	Endless bool
}

func (e *Error) Error() string { return e.Reason }

// Part is a piece of a text: either as it is, or a dotted path.
type Part struct {
	Literal, Path string
	// At is the offset in the text, in bytes.
	At int
}

// Template is a text with templates.
type Template struct {
	text     string
	compiled *template.Template
}

// Parse reads a text. What is wrong with it is an *Error.
func Parse(text string) (*Template, error) {
	compiled, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, syntax(err)
	}
	return &Template{text: text, compiled: compiled}, nil
}

// root is what stands in the text itself.
func (t *Template) root() []parse.Node {
	if t.compiled.Tree == nil || t.compiled.Root == nil {
		return nil
	}
	return t.compiled.Root.Nodes
}

// Parts takes a text apart of which all templates are paths, {{ .a.b }}. It is nil, and says at which place, where one
// is more than that.
func (t *Template) Parts() ([]Part, *Error) {
	all := []Part{}
	for _, other := range t.compiled.Templates() {
		if other.Name() != "" {
			return nil, &Error{Line: 1, Reason: fmt.Sprintf("{{define %q}} is more than a path {{ .a.b }}", other.Name())}
		}
	}
	for _, node := range t.root() {
		switch node := node.(type) {
		case *parse.TextNode:
			all = append(all, Part{Literal: string(node.Text), At: int(node.Pos)})
		case *parse.ActionNode:
			path, ok := pathOf(node.Pipe)
			if !ok {
				return nil, t.more(node)
			}
			all = append(all, Part{Path: path, At: int(node.Pos)})
		default:
			return nil, t.more(node)
		}
	}
	return all, nil
}

func (t *Template) more(node parse.Node) *Error {
	what, _, _ := strings.Cut(node.String(), "}}")
	line := 1 + strings.Count(t.text[:node.Position()], "\n")
	return &Error{Line: line, Reason: what + "}} is more than a path {{ .a.b }}"}
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

// Branches says where a template decides which of the text there is: a condition, a loop or another template. It is nil
// where none does.
func (t *Template) Branches() *Error {
	for _, node := range t.root() {
		switch node.(type) {
		case *parse.IfNode, *parse.RangeNode, *parse.WithNode, *parse.TemplateNode:
			return t.more(node)
		}
	}
	return nil
}

// Execute fills the text in. What can't be is an *Error.
func (t *Template) Execute(data any) (string, error) { return t.executeWithin(data, patience) }

func (t *Template) executeWithin(data any, patience time.Duration) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	out := &bounded{}
	go func() {
		err := t.compiled.Execute(out, data)
		done <- result{out.String(), err}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case made := <-done:
		if made.err != nil {
			return "", t.failure(made.err)
		}
		return made.text, nil
	case <-timer.C: // what still runs ends with the process; it can write no more than the bound
		says := fmt.Sprintf("timed out: filling it in takes more than %s", patience)
		return "", &Error{Line: 1, Reason: says, Endless: true}
	}
}

// bounded is a text that grows up to a bound.
type bounded struct{ strings.Builder }

var errTooLarge = fmt.Errorf("it becomes larger than %d bytes", largest)

func (b *bounded) Write(piece []byte) (int, error) {
	if b.Len()+len(piece) > largest {
		return 0, errTooLarge
	}
	return b.Builder.Write(piece)
}

var _ io.Writer = (*bounded)(nil)

// Go's words before its own: where it was, and what it was doing.
var (
	inParsing   = regexp.MustCompile(`^template: :(\d+):(?:(\d+):)? ?`)
	startedAt   = regexp.MustCompile(` started at :(\d+)$`)
	inExecution = regexp.MustCompile(`(?s)^template: [^:]*:(\d+):(\d+): executing "[^"]*" at <(.*)>: (.*)$`)
	noEntry     = regexp.MustCompile(`map has no entry for key|nil data; no entry for key|can't evaluate field`)
	dotted      = regexp.MustCompile(`^\$?((?:\.[A-Za-z0-9_]+)+)$`)
)

func syntax(err error) *Error {
	said := inParsing.FindStringSubmatch(err.Error())
	wrong := &Error{Line: 1, Reason: inParsing.ReplaceAllString(err.Error(), "")}
	if began := startedAt.FindStringSubmatch(wrong.Reason); began != nil {
		said, wrong.Reason = began, startedAt.ReplaceAllString(wrong.Reason, "")
	}
	if said != nil {
		wrong.Line, _ = strconv.Atoi(said[1]) // it is digits
	}
	return wrong
}

func (t *Template) failure(err error) *Error {
	if errors.Is(err, errTooLarge) {
		return &Error{Line: 1, Reason: errTooLarge.Error()}
	}
	said := inExecution.FindStringSubmatch(err.Error())
	if said == nil {
		return &Error{Line: 1, Reason: err.Error()}
	}
	wrong := &Error{Reason: fmt.Sprintf("{{ %s }}: %s", said[3], said[4])}
	wrong.Line, _ = strconv.Atoi(said[1])
	wrong.Column, _ = strconv.Atoi(said[2])
	wrong.Column++ // Go counts bytes from 0, and of a path names a part
	if lines := strings.Split(t.text, "\n"); wrong.Line <= len(lines) {
		if at := strings.Index(lines[wrong.Line-1], said[3]); at >= 0 {
			wrong.Column = 1 + utf8.RuneCountInString(lines[wrong.Line-1][:at])
		}
	}
	if path := dotted.FindStringSubmatch(said[3]); path != nil && noEntry.MatchString(said[4]) {
		wrong.Missing = strings.TrimPrefix(path[1], ".")
	}
	return wrong
}

// Paths are the dotted paths that the text leads along, sorted, each once. What is reached from within a value, as in a
// range, is not among them: the path of the value is.
func (t *Template) Paths() []string {
	found := &paths{}
	for _, one := range t.compiled.Templates() {
		if one.Tree != nil && one.Root != nil {
			found.nodes(one.Root, true)
		}
	}
	slices.Sort(found.all)
	return slices.Compact(found.all)
}

// paths collects the paths of a tree.
type paths struct{ all []string }

func (p *paths) add(names []string) {
	if len(names) > 0 {
		p.all = append(p.all, strings.Join(names, "."))
	}
}

// nodes visits what a list holds; atRoot tells whether the dot is what the template was given.
func (p *paths) nodes(list *parse.ListNode, atRoot bool) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.ActionNode:
			p.pipe(node.Pipe, atRoot)
		case *parse.IfNode:
			p.branch(&node.BranchNode, atRoot, atRoot)
		case *parse.RangeNode:
			p.branch(&node.BranchNode, atRoot, false)
		case *parse.WithNode:
			p.branch(&node.BranchNode, atRoot, false)
		case *parse.TemplateNode:
			p.pipe(node.Pipe, atRoot)
		}
	}
}

func (p *paths) branch(node *parse.BranchNode, atRoot, inside bool) {
	p.pipe(node.Pipe, atRoot)
	p.nodes(node.List, inside)
	p.nodes(node.ElseList, atRoot)
}

func (p *paths) pipe(pipe *parse.PipeNode, atRoot bool) {
	if pipe == nil {
		return
	}
	for _, command := range pipe.Cmds {
		for _, argument := range command.Args {
			p.argument(argument, atRoot)
		}
	}
}

func (p *paths) argument(node parse.Node, atRoot bool) {
	switch node := node.(type) {
	case *parse.FieldNode:
		if atRoot {
			p.add(node.Ident)
		}
	case *parse.VariableNode:
		if node.Ident[0] == "$" {
			p.add(node.Ident[1:])
		}
	case *parse.ChainNode:
		p.argument(node.Node, atRoot)
	case *parse.PipeNode:
		p.pipe(node, atRoot)
	}
}
