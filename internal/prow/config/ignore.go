package config

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// ignoreName is the file that keeps job files out of the configuration, in the form
// of a .gitignore: https://git-scm.com/docs/gitignore. It may be in any folder.
const ignoreName = ".prowignore"

// ignoreFile is one of them with the folder that its patterns are relative to.
type ignoreFile struct {
	folder string
	rules  []ignoreRule
}

type ignoreRule struct {
	pattern *regexp.Regexp
	keep    bool // the pattern began with an exclamation mark
	folders bool // it ended with a slash
}

// ignoreFile reads the .prowignore of a folder, if there is one.
func (l *loader) ignoreFile(folder string) {
	name := path.Join(folder, ignoreName)
	content, err := fileContent(l.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		l.missing(name, err)
		return
	}
	l.bytes += int64(len(content))
	file := ignoreFile{folder: folder}
	for line := range strings.Lines(string(content)) {
		rule, ok := l.ignoreRule(strings.TrimRight(line, "\r\n"))
		if ok {
			file.rules = append(file.rules, rule)
		}
	}
	l.ignore = append(l.ignore, file)
}

func (l *loader) ignoreRule(line string) (ignoreRule, bool) {
	line = strings.TrimRight(line, " \t")
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var rule ignoreRule
	rest, keep := strings.CutPrefix(line, "!")
	rule.keep = keep
	rest, rule.folders = strings.CutSuffix(strings.TrimPrefix(rest, `\`), "/")
	anchored := strings.Contains(rest, "/")
	expression := globExpression(strings.TrimPrefix(rest, "/"))
	if !anchored {
		expression = "(?:.*/)?" + expression
	}
	pattern, err := l.patterns.compile("^" + expression + "$")
	if err != nil {
		return ignoreRule{}, false // git ignores a pattern that it can't read
	}
	rule.pattern = pattern
	return rule, true
}

// globExpression is a glob of git's as a regular expression.
func globExpression(glob string) string {
	var out strings.Builder
	for i := 0; i < len(glob); i++ {
		switch rest := glob[i:]; {
		case strings.HasPrefix(rest, "**/"):
			out.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			out.WriteString(".*")
			i++
		case rest[0] == '*':
			out.WriteString("[^/]*")
		case rest[0] == '?':
			out.WriteString("[^/]")
		case rest[0] == '[' && strings.Contains(rest, "]"):
			end := strings.IndexByte(rest, ']')
			out.WriteString("[" + strings.Replace(rest[1:end], "!", "^", 1) + "]")
			i += end
		default:
			out.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return out.String()
}

// ignored is whether a file, or a folder above it, is kept out. A folder that is
// ignored takes all below it along; otherwise the last pattern that fits counts, of
// the deepest file that has one.
func (l *loader) ignored(name string) bool {
	if len(l.ignore) == 0 {
		return false
	}
	for i, character := range name {
		if character == '/' && l.matches(name[:i], true) {
			return true
		}
	}
	return l.matches(name, false)
}

func (l *loader) matches(name string, folder bool) bool {
	ignored := false
	for _, file := range l.ignore {
		relative, below := strings.CutPrefix(name, strings.TrimSuffix(file.folder, ".")+"/")
		if file.folder == "." {
			relative, below = name, true
		}
		if !below {
			continue
		}
		for _, rule := range file.rules {
			if (folder || !rule.folders) && rule.pattern.MatchString(relative) {
				ignored = !rule.keep
			}
		}
	}
	return ignored
}

// patterns are regular expressions that were compiled before: configurations repeat
// the same few for thousands of jobs.
type patterns map[string]*regexp.Regexp

func (p patterns) compile(expression string) (*regexp.Regexp, error) {
	if compiled, ok := p[expression]; ok {
		return compiled, nil
	}
	compiled, err := regexp.Compile(expression)
	if err == nil {
		p[expression] = compiled
	}
	return compiled, err
}
