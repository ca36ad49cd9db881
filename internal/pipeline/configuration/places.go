package configuration

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"salve/internal/pipeline"
)

// Place is one for which a configuration can be rendered.
type Place struct{ Cloud, Environment, Region string }

// String is the place as messages have it: public/int/uksouth.
func (p Place) String() string { return strings.Join([]string{p.Cloud, p.Environment, p.Region}, "/") }

// filled is a template, which may stand without quotes.
var filled = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// Places are those that a configuration and its overlays have something of their own for, in alphabetical order. It is
// read before it is rendered, for what templates lead to depends on the place: here they are texts like any other. An
// environment without regions has one place without a region.
func Places(path string, overlays ...string) ([]Place, error) {
	whole := map[string]any{}
	for _, one := range append([]string{path}, overlays...) {
		content, err := pipeline.ReadContent(one)
		if err != nil {
			return nil, err
		}
		values, err := parse([]byte(filled.ReplaceAllString(string(content), "template")))
		if err != nil {
			return nil, fmt.Errorf("reading which places %s has: %w", one, err)
		}
		whole = merge(whole, values)
	}
	var all []Place
	clouds := below(whole, "clouds")
	for _, cloud := range slices.Sorted(maps.Keys(clouds)) {
		environments := below(clouds[cloud], "environments")
		for _, environment := range slices.Sorted(maps.Keys(environments)) {
			regions := slices.Sorted(maps.Keys(below(environments[environment], "regions")))
			if len(regions) == 0 {
				regions = []string{""}
			}
			for _, region := range regions {
				all = append(all, Place{cloud, environment, region})
			}
		}
	}
	return all, nil
}

// below is a mapping in a value; nil where there is none.
func below(value any, field string) map[string]any {
	held, _ := value.(map[string]any)
	within, _ := held[field].(map[string]any)
	return within
}
