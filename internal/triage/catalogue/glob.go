package catalogue

import (
	"regexp"
	"strings"
)

// glob is the expression of a pattern for paths: "*" is any text without a slash, "**/" any folders, or none, and "?"
// one character. It must cover the path's end: what leads there may be left out, for nobody knows where CI puts things.
func glob(pattern string) *regexp.Regexp {
	var out strings.Builder
	out.WriteString(`(?s)^(?:.*/)?`)
	for rest := strings.TrimPrefix(pattern, "/"); rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**/"):
			out.WriteString(`(?:.*/)?`)
			rest = rest[3:]
			continue
		case strings.HasPrefix(rest, "**"):
			out.WriteString(`.*`)
			rest = rest[2:]
			continue
		case rest[0] == '*':
			out.WriteString(`[^/]*`)
		case rest[0] == '?':
			out.WriteString(`[^/]`)
		default:
			out.WriteString(regexp.QuoteMeta(rest[:1]))
		}
		rest = rest[1:]
	}
	out.WriteString(`(?:\.gz|\.zst)?$`) // results are read compressed as well
	return regexp.MustCompile(out.String())
}

// wildcard is the expression of a value in which "*" is any text.
func wildcard(value string) *regexp.Regexp {
	parts := strings.Split(value, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`)
}
