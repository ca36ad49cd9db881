package schema

import (
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// name is what resource groups and steps are called.
//
// The schema's patterns for names aren't anchored, so that it refuses only a name in which no letter, digit or hyphen
// is: https://github.com/Azure/ARO-Tools/blob/main/pipelines/types/pipeline.schema.v1.json
type name struct {
	// most bounds its length, in characters.
	most int
}

var (
	nameCharacter = regexp.MustCompile(`[a-zA-Z0-9-]`)
	plainName     = regexp.MustCompile(`^[a-zA-Z0-9-]+$`)
)

func (n name) check(c *checker, what string, node *yaml.Node) {
	text{filled: true, most: n.most, like: nameCharacter, says: "letters, digits and hyphens"}.check(c, what, node)
	called := node.Value
	switch {
	case node.Kind != yaml.ScalarNode, templated(called), !nameCharacter.MatchString(called),
		plainName.MatchString(called):
	case strings.Contains(called, "/"):
		c.add(node, "wrong-value", "write a hyphen in its place",
			"%s %q has a slash: a step is recorded as GROUP/STEP, and that would name two steps alike", what, called)
	case strings.ContainsFunc(called, func(r rune) bool { return !unicode.IsPrint(r) }):
		c.add(node, "wrong-value", "", "%s %q has characters that can't be seen, so that nobody could name it", what, called)
	default:
		c.warn(node, "name-characters", "",
			"%s %q isn't letters, digits and hyphens only: the schema lets it pass, and the step runs; in names in Azure "+
				"each other character becomes a hyphen", what, called)
	}
}
