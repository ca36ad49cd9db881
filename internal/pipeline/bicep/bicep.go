package bicep

import "strings"

// Using is what the using statement of a file of parameters names:
// https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-using
type Using struct {
	// Target is as written: a path from the file's folder, or what a module or a template spec is called. It is empty
	// for using none.
	Target       string
	Line, Column int
}

// None tells whether the file is for no template.
func (u Using) None() bool { return u.Target == "" }

// IsPath tells whether the target is a file.
func (u Using) IsPath() bool {
	scheme, _, found := strings.Cut(u.Target, ":")
	return !u.None() && (!found || !registry(scheme))
}

// registry tells whether what stands before a colon is where modules or template specs are kept, perhaps with an
// alias, as in br/public.
func registry(scheme string) bool {
	kept, _, _ := strings.Cut(scheme, "/")
	return kept == "br" || kept == "ts"
}

// UsingOf finds the using statement of a file of parameters, whose templates may not be filled in yet.
func UsingOf(source string) (using Using, found bool) {
	statements(source, true, func(first token, l *lexer) {
		if found || first.value != "using" {
			return
		}
		switch next := l.next(); {
		case next.kind == text && next.value != "":
			using, found = Using{next.value, next.line, next.column}, true
		case next.kind == word && next.value == "none":
			using, found = Using{"", next.line, next.column}, true
		}
	})
	return using, found
}

// Outputs are the names of the outputs that a template declares, in their order.
func Outputs(source string) []string {
	var names []string
	statements(source, false, func(first token, l *lexer) {
		if first.value != "output" {
			return
		}
		if next := l.next(); next.kind == word {
			names = append(names, next.value)
		}
	})
	return names
}

// statements visits the first word of each line that is in no brackets.
func statements(source string, templated bool, visit func(first token, l *lexer)) {
	l, depth, begins := newLexer(source, templated), 0, true
	for {
		next := l.next()
		switch {
		case next.kind == end:
			return
		case next.kind == newline:
			begins = true
			continue
		case next.kind == word && begins && depth == 0:
			visit(next, l)
		case next.kind == mark && strings.Contains("([{", next.value):
			depth++
		case next.kind == mark && strings.Contains(")]}", next.value):
			depth = max(depth-1, 0)
		}
		begins = false
	}
}
