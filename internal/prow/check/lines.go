package check

import (
	"slices"
	"strings"
)

// branchLines are lines of evidence, each with the branches that it holds for.
type branchLines struct {
	order    []string
	branches map[string][]string
}

func (l *branchLines) add(text, branch string) {
	if l.branches == nil {
		l.branches = map[string][]string{}
	}
	if l.branches[text] == nil {
		l.order = append(l.order, text)
	}
	if !slices.Contains(l.branches[text], branch) {
		l.branches[text] = append(l.branches[text], branch)
	}
}

// evidence is a line for each text.
func (l *branchLines) evidence() []string {
	var lines []string
	for _, text := range l.order {
		on := " on branch "
		if len(l.branches[text]) > 1 {
			on = " on branches "
		}
		lines = append(lines, text+on+strings.Join(few(l.branches[text]), ", "))
	}
	return few(lines)
}
