package check

import (
	"fmt"
	"slices"

	"salve/internal/prow/finding"
)

// once keeps the first finding of each identity.
func once(found finding.List) finding.List {
	seen := map[finding.Identity]bool{}
	return slices.DeleteFunc(found, func(f finding.Finding) bool {
		twice := seen[f.Identity()]
		seen[f.Identity()] = true
		return twice
	})
}

// few shows the first items of a list.
func few(items []string) []string {
	const shown = 10
	if len(items) <= shown {
		return items
	}
	return append(slices.Clone(items[:shown]), fmt.Sprintf("and %d more", len(items)-shown))
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
