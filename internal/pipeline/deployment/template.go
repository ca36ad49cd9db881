package deployment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// template is an ARM template, as far as it has to be understood here.
type template struct {
	text       json.RawMessage
	schema     string
	parameters map[string]parameter
	resources  json.RawMessage
}

// parameter is one that a template declares.
type parameter struct {
	name         string
	Type         string
	DefaultValue json.RawMessage
	Nullable     bool
}

// secure tells whether ARM keeps its value to itself.
func (p parameter) secure() bool { return strings.HasPrefix(strings.ToLower(p.Type), "secure") }

func parseTemplate(text []byte) (*template, error) {
	var said struct {
		Schema     string `json:"$schema"`
		Parameters map[string]parameter
		Resources  json.RawMessage
	}
	if err := unmarshal(text, &said); err != nil {
		return nil, err
	}
	if said.Schema == "" || said.Resources == nil {
		return nil, errors.New("it is no ARM template: $schema or resources are missing")
	}
	read := &template{text: text, schema: said.Schema, parameters: map[string]parameter{}, resources: said.Resources}
	for name, declared := range said.Parameters {
		declared.name = name
		read.parameters[strings.ToLower(name)] = declared
	}
	return read, nil
}

// unmarshal reads JSON, and says where it is none.
func unmarshal(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		before := text[:min(int(syntax.Offset), len(text))]
		return fmt.Errorf("line %d: it is no JSON: %w", 1+bytes.Count(before, []byte("\n")), err)
	}
	return err
}

// declared is the parameter of a name; ARM doesn't tell upper from lower case.
func (t *template) declared(name string) (parameter, error) {
	if found, ok := t.parameters[strings.ToLower(name)]; ok {
		return found, nil
	}
	var names []string
	for _, one := range t.parameters {
		names = append(names, one.name)
	}
	slices.Sort(names)
	var spelling diagnostic.Speller
	advice := spelling.DidYouMean(name, names)
	if advice == "" {
		advice = "it declares " + strings.Join(names, ", ")
	}
	if len(names) == 0 {
		advice = "it declares none"
	}
	return parameter{}, fmt.Errorf("the template has no parameter %q; %s", name, advice)
}

// deployable are the last parts of the schemas of templates for each level.
func deployable() map[string]string {
	return map[string]string{"ResourceGroup": "/deploymentTemplate.json",
		"Subscription": "/subscriptionDeploymentTemplate.json"}
}

// fits finds what a template has that the step doesn't mean.
func (t *template) fits(arm *pipeline.ARM) error {
	level := arm.DeploymentLevel.Value
	schema, _, _ := strings.Cut(t.schema, "#")
	if want := deployable()[level]; !strings.HasSuffix(strings.ToLower(schema), strings.ToLower(want)) {
		return fmt.Errorf("its $schema %s is not that of a template for deploymentLevel %s, which ends in %s#", t.schema,
			level, want)
	}
	changed, err := changes(t.resources)
	switch {
	case err != nil:
		return err
	case arm.OutputOnly && len(changed) > 0:
		return fmt.Errorf("the step is outputOnly, and the template deploys %s", strings.Join(changed, ", "))
	}
	return nil
}

// nested is the type of a deployment within a template; it may be one that only
// looks things up.
const nested = "Microsoft.Resources/deployments"

// changes are the types of what a template's resources would change, each once.
// Resources are a list, or by symbolic names.
func changes(resources json.RawMessage) ([]string, error) {
	type resource struct {
		Type       string
		Existing   bool
		Properties struct {
			Template struct{ Resources json.RawMessage }
		}
	}
	var all []resource
	named := map[string]resource{}
	if json.Unmarshal(resources, &all) != nil {
		if err := json.Unmarshal(resources, &named); err != nil {
			return nil, fmt.Errorf("its resources are neither a list nor a mapping: %w", err)
		}
		all = slices.Collect(maps.Values(named))
	}
	var types []string
	for _, one := range all {
		switch inner := one.Properties.Template.Resources; {
		case one.Existing:
		case strings.EqualFold(one.Type, nested) && inner != nil:
			below, err := changes(inner)
			if err != nil {
				return nil, err
			}
			types = append(types, below...)
		default:
			types = append(types, one.Type)
		}
	}
	slices.Sort(types)
	return slices.Compact(types), nil
}
