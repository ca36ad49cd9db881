package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression, with those methods of regexp.Regexp that are used. The zero value is not usable.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New gives the expression of a text. Using it panics where the text is none.
func New(text string) *Regexp {
	expression := lazy(text)
	if inTest() {
		expression.compiled()
	}
	return expression
}

// inTest: an invalid expression is to be found by any test of its package, as by Go's own internal/lazyregexp.
func inTest() bool {
	return len(os.Args) > 0 && strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
}

func lazy(text string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString is that of regexp.Regexp.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString is that of regexp.Regexp.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex is that of regexp.Regexp.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch is that of regexp.Regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of regexp.Regexp.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllString is that of regexp.Regexp.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringIndex is that of regexp.Regexp.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is that of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is that of regexp.Regexp.
func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compiled().ReplaceAllString(s, with)
}

// ReplaceAllStringFunc is that of regexp.Regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, with)
}

// Split is that of regexp.Regexp.
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }
