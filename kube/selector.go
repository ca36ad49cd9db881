package kube

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"salve/internal/apierr"
)

// ParseSelector parses a label selector of objects that are to be deleted. One that
// requires no label is refused: it selects the objects of others as well.
func ParseSelector(text string) (labels.Selector, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "invalid selector %q: %w", text, err)
	}
	requirements, _ := parsed.Requirements()
	for _, requirement := range requirements {
		switch requirement.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In, selection.Exists:
			return parsed, nil
		default: // the others select objects without the label too
		}
	}
	return nil, apierr.New(apierr.Terminal, "invalid selector %q: it requires no label (use for example app=web)", text)
}
