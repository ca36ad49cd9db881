package scenario

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"salve/internal/triage/results"
)

// attempts are the parts of paths in which CI systems keep apart that they tried several times.
var attempts = regexp.MustCompile(`(?i)(attempt|retry|rerun|re-run)s?[-_. ]?[0-9]*`)

// batch is what a file of results belongs to: files that differ only in the attempt hold attempts of the same
// scenarios, all others hold scenarios of their own.
func batch(file string) string {
	return attempts.ReplaceAllString(filepath.ToSlash(file), "")
}

// identity tells scenarios apart.
type identity struct {
	batch, suite, class, name string
}

func identify(c results.Case) identity {
	return identity{batch(c.Origin.File), c.Suite, c.Class, c.Name}
}

// label is what the scenario is called. A failure without a test is its package's.
func label(c results.Case) string {
	switch {
	case c.Name == "" && c.Suite != "":
		return path.Base(c.Suite) + " (package)"
	case c.Name == "":
		return "(no name)"
	}
	return c.Name
}

// source is the file where a case failed. go test names it without its folder, which is the package's.
func source(c results.Case) string {
	if c.File == "" || c.Class != "" || strings.ContainsAny(c.File, `/\`) {
		return c.File
	}
	return path.Join(c.Suite, c.File)
}

// test is what several scenarios are of: the function of a subtest, the test of a parameter.
func test(c results.Case) string {
	name := c.Name
	if i := strings.IndexAny(name, "/[("); i > 0 {
		name = strings.TrimSpace(name[:i])
	}
	return c.Suite + "\x00" + c.Class + "\x00" + name
}

// parents are the names that a scenario's name lies below.
func parents(name string) []string {
	var out []string
	for i := range len(name) {
		if name[i] == '/' && i > 0 {
			out = append(out, name[:i])
		}
	}
	return out
}
