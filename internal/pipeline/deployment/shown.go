package deployment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/pipeline/rollout"
)

// Shown are the parameters that come from the step's file, for people: those that
// variables give are shown with the step. Secrets are hidden.
func (o *Order) Shown(variables []rollout.Variable) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(o.Parameters)) {
		if slices.ContainsFunc(variables, func(one rollout.Variable) bool { return strings.EqualFold(one.Name, name) }) {
			continue
		}
		lines = append(lines, fmt.Sprintf("parameter %s=%s", name, o.shown(name)))
	}
	return lines
}

func (o *Order) shown(name string) string {
	var held struct {
		Value     any
		Reference json.RawMessage
	}
	switch err := json.Unmarshal(o.Parameters[name], &held); {
	case o.Secret[name]:
		return "***"
	case err != nil || held.Reference != nil:
		return "(from a key vault)"
	}
	return rollout.Variable{Value: held.Value}.Text()
}
