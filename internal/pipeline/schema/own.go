package schema

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// ownName is what an action that is not in the schema may be called: its program's name ends in it.
var ownName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// Known tells whether an action is one of the schema or of Salve's own.
func Known(action string) bool {
	_, known := actions[action]
	return known
}

// isOwn tells whether a site has an action of that name.
func (c *checker) isOwn(action string) bool {
	return c.own != nil && ownName.MatchString(action) && c.own(action)
}

// ownAction is the shape of a step with an action of a site's own: what every step has, and any other field.
func ownAction(action string) record {
	return record{called: "a step with the action " + action, others: free{},
		fields: slices.Concat(everyStep, may(length{}, "timeout"))}
}

// adviseAction says what to do about an action that nobody knows.
func adviseAction(action string) string {
	advice := diagnostic.DidYouMean(action, actionNames)
	if advice == "" && ownName.MatchString(action) {
		advice = "an action of your own needs a program: --action " + action + "=PROGRAM"
	}
	return advice
}

// free is a field of which the schema knows nothing. Where it says that a value comes from elsewhere, it has to say so
// as any other field does.
type free struct{}

func (free) check(c *checker, what string, node *yaml.Node) {
	switch node.Kind {
	case yaml.SequenceNode:
		for _, item := range node.Content {
			free{}.check(c, "an entry of "+what, item)
		}
	case yaml.MappingNode:
		switch names := keysOf(node); {
		case slices.Equal(names, []string{"name", "resourceGroup", "step"}):
			input.check(c, what, node)
		case len(names) == 1 && slices.Contains([]string{"value", "configRef", "input"}, names[0]):
			value.check(c, what, node)
		default:
			for i := 0; i+1 < len(node.Content); i += 2 {
				free{}.check(c, quoted(node.Content[i]), node.Content[i+1])
			}
		}
	default: // a scalar may be any
	}
}

func keysOf(mapping *yaml.Node) []string {
	names := make([]string, 0, len(mapping.Content)/2)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		names = append(names, mapping.Content[i].Value)
	}
	slices.Sort(names)
	return names
}
