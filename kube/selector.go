package kube

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"salve/internal/apierr"
)

// Selector reads a label selector by which objects are found that are to be removed.
// One that only says what they are not is refused: it selects those of strangers.
func ParseSelector(text string) (labels.Selector, error) {
	parsed, err := labels.Parse(text)
	if err != nil {
		return nil, apierr.New(apierr.Terminal, "selector %q: %w", text, err)
	}
	wanted, _ := parsed.Requirements()
	for _, one := range wanted {
		switch one.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In, selection.Exists:
			return parsed, nil
		}
	}
	return nil, apierr.New(apierr.Terminal, "selector %q names no label that they have: it would select what is others'", text)
}
