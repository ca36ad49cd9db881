package reference

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
)

// Comments are the comments of this module's types.
type Comments struct {
	root     string
	packages map[string]map[string]string
}

// NewComments reads comments below the root of the module, when they are asked for.
func NewComments(root string) *Comments {
	return &Comments{root: root, packages: map[string]map[string]string{}}
}

// Type is the comment of a type, empty where there is none.
func (c *Comments) Type(t reflect.Type) string { return c.of(t.PkgPath())[t.Name()] }

// Field is the comment of a struct's field.
func (c *Comments) Field(t reflect.Type, field string) string {
	return c.of(t.PkgPath())[t.Name()+"."+field]
}

// of reads a package. One that can't be parsed does not compile either: it has no comments here.
func (c *Comments) of(path string) map[string]string {
	folder, ours := strings.CutPrefix(path, module)
	if !ours {
		return nil
	}
	if read, ok := c.packages[path]; ok {
		return read
	}
	found := map[string]string{}
	c.packages[path] = found
	sources, err := filepath.Glob(filepath.Join(c.root, folder, "*.go"))
	if err != nil {
		return found
	}
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if general, ok := node.(*ast.GenDecl); ok && general.Tok == token.TYPE {
				for _, spec := range general.Specs {
					typeComments(found, general, spec.(*ast.TypeSpec))
				}
			}
			return true
		})
	}
	return found
}

func typeComments(found map[string]string, general *ast.GenDecl, spec *ast.TypeSpec) {
	doc := spec.Doc
	if doc == nil && len(general.Specs) == 1 {
		doc = general.Doc
	}
	found[spec.Name.Name] = line(doc)
	shape, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range shape.Fields.List {
		text := line(field.Doc)
		if text == "" {
			text = line(field.Comment)
		}
		for _, name := range field.Names {
			found[spec.Name.Name+"."+name.Name] = text
		}
	}
}

// line is a comment on one line.
func line(group *ast.CommentGroup) string {
	if group == nil {
		return ""
	}
	return strings.Join(strings.Fields(group.Text()), " ")
}
