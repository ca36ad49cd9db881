package finding

import (
	"cmp"
	"fmt"
	"slices"
)

// List is what was found.
type List []Finding

// Sort orders a list: the worst first, then by rule, place and subject.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity.rank(), a.Severity.rank()), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Position.File, b.Position.File), cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column), cmp.Compare(a.Subject.String(), b.Subject.String()),
			cmp.Compare(a.Message, b.Message))
	})
}

// Count is how many findings have a severity.
func (l List) Count(severity Severity) int {
	count := 0
	for _, f := range l {
		if f.Severity == severity {
			count++
		}
	}
	return count
}

// Worst is the worst severity; ok is false where the list is empty, which says nothing
// about what was looked at.
func (l List) Worst() (worst Severity, ok bool) {
	for _, f := range l {
		if !ok || f.Severity.AtLeast(worst) {
			worst, ok = f.Severity, true
		}
	}
	return worst, ok
}

// Validate refuses a list with an invalid finding, or with two of one identity.
func (l List) Validate() error {
	seen := make(map[Identity]bool, len(l))
	for _, f := range l {
		if err := f.Validate(); err != nil {
			return err
		}
		if seen[f.Identity()] {
			return fmt.Errorf("rule %s found %q twice", f.Rule, f.Subject)
		}
		seen[f.Identity()] = true
	}
	return nil
}

// Printable is the list without what a terminal would obey instead of show.
func (l List) Printable() List {
	printable := make(List, len(l))
	for i, f := range l {
		printable[i] = f.printable()
	}
	return printable
}
