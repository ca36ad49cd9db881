package main

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is a Markdown file, read and rendered.
type page struct {
	source, title string
	body          []byte
	headings      []heading
	anchors       map[string]bool
	links         []link
	// index are its headings of the second level with the pages that each lists; of docs/README.md that is the
	// navigation.
	index []group
}

// heading is one of the second or third level.
type heading struct {
	ID, Text string
	Level    int
}

// link is one within the repository.
type link struct{ text, path, fragment string }

// group is a part of the navigation: pages by their paths, each with what it is called there.
type group struct {
	Title string
	Pages []string
	Names map[string]string
}

func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(
			util.Prioritized(tables{}, 100), util.Prioritized(codeBlocks{}, 100))),
	)
}

func newPage(source string, content []byte, s *site) (*page, error) {
	p := &page{source: source, anchors: map[string]bool{}}
	markdown := newMarkdown()
	root := markdown.Parser().Parse(text.NewReader(content), parser.WithContext(
		parser.NewContext(parser.WithIDs(&slugs{taken: map[string]int{}}))))
	var wrong []error
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			wrong = append(wrong, p.visit(node, content, s))
		}
		return ast.WalkContinue, nil
	})
	if err := errors.Join(append(wrong, err)...); err != nil {
		return nil, err
	}
	if p.title == "" {
		return nil, errors.New("the page has no title: its first line is to be # Title")
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, content, root); err != nil {
		return nil, err
	}
	p.body = out.Bytes()
	return p, nil
}

// visit notes headings and rewrites links.
func (p *page) visit(node ast.Node, content []byte, s *site) error {
	switch node := node.(type) {
	case *ast.Heading:
		p.addHeading(node, content)
	case *ast.Link:
		address, err := p.follow(string(node.Destination), plain(node, content), s)
		if err != nil {
			return err
		}
		node.Destination = []byte(address)
	case *ast.Image:
		if remote(string(node.Destination)) {
			return fmt.Errorf("picture %q is on another host: no page loads anything from there", node.Destination)
		}
		_, address, err := s.resolve(p.source, string(node.Destination))
		if err != nil {
			return err
		}
		node.Destination = []byte(address)
	case *ast.HTMLBlock:
		raw := string(node.Lines().Value(content))
		if node.HasClosure() {
			raw += string(node.ClosureLine.Value(content))
		}
		return checkHTML(raw)
	case *ast.RawHTML:
		return checkHTML(string(node.Segments.Value(content)))
	}
	return nil
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	// details are what GitHub folds: reports have them.
	details = regexp.MustCompile(`<details><summary>[^<>]*</summary>|</details>`)
)

// checkHTML lets comments and folded parts through, and nothing else: all HTML of a page is shown as it is.
func checkHTML(raw string) error {
	left := strings.TrimSpace(details.ReplaceAllString(comment.ReplaceAllString(raw, ""), ""))
	if left != "" {
		return fmt.Errorf("raw HTML is not shown: %.60q; a < in text is written &lt;", left)
	}
	return nil
}

// follow gives the address that a link leads to on the site.
func (p *page) follow(to, words string, s *site) (string, error) {
	if remote(to) {
		for _, scheme := range []string{"https://", "http://", "mailto:"} {
			if strings.HasPrefix(to, scheme) {
				return to, nil
			}
		}
		return "", fmt.Errorf("link %q is neither https nor mailto", to)
	}
	found, address, err := s.resolve(p.source, to)
	if err != nil {
		return "", err
	}
	p.links = append(p.links, found)
	if len(p.index) > 0 {
		last := &p.index[len(p.index)-1]
		last.Pages = append(last.Pages, found.path)
		last.Names[found.path] = words
	}
	return address, nil
}

func remote(address string) bool {
	scheme, _, found := strings.Cut(address, ":")
	return found && !strings.ContainsAny(scheme, "/#.?") || strings.HasPrefix(address, "//")
}

func (p *page) addHeading(node *ast.Heading, content []byte) {
	words := plain(node, content)
	id, _ := node.AttributeString("id")
	name, _ := id.([]byte)
	p.anchors[string(name)] = true
	switch {
	case node.Level == 1 && p.title == "":
		p.title = words
	case node.Level == 2 || node.Level == 3:
		p.headings = append(p.headings, heading{ID: string(name), Text: words, Level: node.Level})
	}
	if node.Level == 2 {
		p.index = append(p.index, group{Title: words, Names: map[string]string{}})
	}
}

// plain is the text of a node without its marks.
func plain(node ast.Node, content []byte) string {
	var words strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
		if leaf, ok := node.(*ast.Text); ok && entering {
			words.Write(leaf.Value(content))
		}
		return ast.WalkContinue, nil
	})
	return words.String()
}

// slugs names headings as GitHub does, so that a link works there and here.
type slugs struct{ taken map[string]int }

// Generate names a heading.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(value)))
	count := s.taken[name]
	s.taken[name]++
	if count > 0 {
		name = fmt.Sprintf("%s-%d", name, count)
	}
	return []byte(name)
}

// Put takes a name that a page gives itself.
func (s *slugs) Put(value []byte) { s.taken[string(value)]++ }

// tables scroll by themselves where a screen is narrow.
type tables struct{}

func (tables) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(extensionast.KindTable,
		func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
			text := "</tbody></table></div>\n"
			if entering {
				text = `<div class="table" tabindex="0"><table>` + "\n"
			}
			_, err := w.WriteString(text)
			return ast.WalkContinue, err
		})
}

// codeBlocks set apart what is typed from what is answered.
type codeBlocks struct{}

func (c codeBlocks) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindFencedCodeBlock, c.render)
	register.Register(ast.KindCodeBlock, c.render)
}

func (codeBlocks) render(w util.BufWriter, content []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var out strings.Builder
	out.WriteString(`<pre tabindex="0"><code>`)
	for line := range strings.Lines(string(node.Lines().Value(content))) {
		escaped := string(util.EscapeHTML([]byte(strings.TrimRight(line, "\n"))))
		switch {
		case strings.HasPrefix(line, "$ "):
			escaped = `<span class="typed">` + escaped + `</span>`
		case strings.HasPrefix(strings.TrimLeft(line, " "), "# "):
			escaped = `<span class="note">` + escaped + `</span>`
		}
		out.WriteString(escaped + "\n")
	}
	out.WriteString("</code></pre>\n")
	_, err := w.WriteString(out.String())
	return ast.WalkSkipChildren, err
}
