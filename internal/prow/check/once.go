package check

import (
	"fmt"
	"slices"

	"salve/internal/prow/finding"
)

// once makes one finding of those that are about the same: the worst of them, with the
// evidence of all. Two jobs of one name on two branches are such a case.
func once(found finding.List) finding.List {
	at := map[finding.Identity]int{}
	var list finding.List
	for _, f := range found {
		i, again := at[f.Identity()]
		if !again {
			at[f.Identity()] = len(list)
			list = append(list, f)
			continue
		}
		evidence := slices.Concat(list[i].Evidence, without(f.Evidence, list[i].Evidence))
		if !list[i].Severity.AtLeast(f.Severity) {
			list[i] = f
		}
		list[i].Evidence = evidence
	}
	return list
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
