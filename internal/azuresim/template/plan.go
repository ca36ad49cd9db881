package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Site is where, when and under which name a template is deployed.
type Site struct {
	Tenant       string
	Subscription string
	// Group is the resource group; empty at the scope of the subscription.
	Group         string
	GroupLocation string
	// Deployment is its name, Location what it asks for at the scope of the subscription, Mode Incremental or Complete.
	Deployment string
	Location   string
	Mode       string
	Now        time.Time
}

// Azure is what expressions ask about the world.
type Azure interface {
	// Resource is everything that a GET of the ID shows, false when it is not there.
	Resource(id string) (map[string]any, bool)
}

// Plan is a template with the values of its parameters: the resources to deploy, copies made and conditions evaluated.
type Plan struct {
	// Resources are in the order of the template. Those whose condition does not hold are left out.
	Resources []Resource

	template   *Template
	site       Site
	values     map[string]Value // of parameters, by name in lower case
	binding    map[string]bool  // parameters whose default is being evaluated
	given      map[string]any
	variables  map[string]any // already evaluated
	evaluating map[string]bool
	skipped    []Resource // their condition does not hold
}

// Resource is one resource of a plan.
type Resource struct {
	ID         string
	Type       string
	Name       string
	APIVersion string
	// Group is where it goes, empty for what is not in a resource group.
	Group string
	// Existing: it is only looked at.
	Existing bool
	// Needs are the places in the plan of what has to be there before it.
	Needs []int

	symbol   string
	copyName string
	turns    []loop
	declared declared
}

// NestedType is the type of a deployment inside of a deployment.
const NestedType = "Microsoft.Resources/deployments"

// GroupType is the type of a resource group.
const GroupType = "Microsoft.Resources/resourceGroups"

// Bind gives the parameters their values (name, then "value", as in a parameters file) and expands the resources.
// Errors are of type *Error.
func (t *Template) Bind(parameters map[string]any, site Site) (*Plan, error) {
	p := &Plan{
		template: t, site: site, values: map[string]Value{}, binding: map[string]bool{}, variables: map[string]any{},
		evaluating: map[string]bool{},
	}
	if err := p.bindParameters(parameters); err != nil {
		return nil, asError(err)
	}
	if err := p.expand(); err != nil {
		return nil, asError(err)
	}
	if err := p.order(); err != nil {
		return nil, asError(err)
	}
	return p, nil
}

func asError(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return invalid("%s", err)
}

// notEvaluated says of what the expression is that failed. An error about something missing stays one.
func notEvaluated(what string, err error) error {
	var missing *MissingError
	var refused *Error
	switch {
	case errors.As(err, &missing):
		return err
	case errors.As(err, &refused):
		return refused
	}
	return &Error{"InvalidTemplate", fmt.Sprintf("Unable to process template language expressions for %s %s. "+
		"Please see https://aka.ms/arm-functions for usage details.", what, err)}
}

// Parameters are the values by the names of the template.
func (p *Plan) Parameters() map[string]Value {
	all := map[string]Value{}
	for name := range p.template.parameters {
		all[name] = p.values[strings.ToLower(name)]
	}
	return all
}

func (p *Plan) expand() error {
	seen := map[string]bool{}
	for _, declared := range p.template.resources {
		made, err := p.expandOne(declared)
		if err != nil {
			return err
		}
		for _, resource := range made {
			if key := strings.ToLower(resource.ID); !resource.Existing {
				if seen[key] {
					return invalid("The template resource '%s' of type '%s' is defined multiple times in the template: "+
						"resource names must be unique.", resource.Name, resource.Type)
				}
				seen[key] = true
			}
			p.Resources = append(p.Resources, resource)
		}
	}
	return nil
}

// expandOne makes the copies of a resource, or the one that it is, or none.
func (p *Plan) expandOne(d declared) ([]Resource, error) {
	env := &environment{plan: p}
	copying, _ := get(d.body, "copy")
	if copying == nil {
		return p.make(d, env, "")
	}
	asked, isObject := copying.(map[string]any)
	name, err := env.value(below(d.path, "copy.name"), getText(asked, "name"))
	if err != nil {
		return nil, notEvaluated("resource '"+getText(d.body, "name")+"'", err)
	}
	copyName, _ := name.(string)
	if !isObject || copyName == "" {
		line, column := p.template.where(d.path)
		return nil, invalid("The copy of the template resource at line '%d' and column '%d' needs a name and a count.",
			line, column)
	}
	count, err := env.count(below(d.path, "copy"), asked)
	if err != nil {
		return nil, notEvaluated("resource '"+getText(d.body, "name")+"'", err)
	}
	var all []Resource
	for i := range count {
		made, err := p.make(d, env.in(loop{copyName, i}), copyName)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// make evaluates what has to be known of a resource beforehand.
func (p *Plan) make(d declared, env *environment, copyName string) ([]Resource, error) {
	texts := map[string]string{}
	for _, field := range []string{"type", "name", "apiVersion", "scope", "resourceGroup", "subscriptionId"} {
		written, there := get(d.body, field)
		if !there {
			continue
		}
		value, err := env.value(below(d.path, field), written)
		if err != nil {
			return nil, notEvaluated("resource '"+getText(d.body, "name")+"'", err)
		}
		text, isText := value.(string)
		if !isText || text == "" {
			return nil, invalid("The '%s' of the template resource '%s' must be a string that is not empty.", field,
				getText(d.body, "name"))
		}
		texts[field] = text
	}
	resource := Resource{
		Type: texts["type"], Name: texts["name"], APIVersion: texts["apiVersion"], symbol: d.symbol, copyName: copyName,
		turns: env.loops, declared: d,
	}
	existing, _ := get(d.body, "existing")
	resource.Existing = existing == true
	if slash := strings.Count(resource.Type, "/"); slash == 0 || slash != strings.Count(resource.Name, "/")+1 {
		return nil, invalid("The template resource '%s' for type '%s' has incorrect segment lengths. A nested resource type "+
			"must have identical number of segments as its resource name. A root resource type must have segment length one "+
			"greater than its resource name. Please see https://aka.ms/arm-syntax-resources for usage details.",
			resource.Name, resource.Type)
	}
	if sub := texts["subscriptionId"]; sub != "" && !strings.EqualFold(sub, p.site.Subscription) {
		return nil, &Error{"SubscriptionNotFound", fmt.Sprintf("The subscription '%s' could not be found.", sub)}
	}
	resource.ID, resource.Group = p.place(resource.Type, resource.Name, texts["scope"], texts["resourceGroup"])
	holds, err := p.holds(d, env)
	if err != nil {
		return nil, err
	}
	if !holds {
		p.skipped = append(p.skipped, resource)
		return nil, nil
	}
	return []Resource{resource}, nil
}

// place gives the ID of a resource and the resource group that it is in.
func (p *Plan) place(kind, name, scope, group string) (id, in string) {
	if group == "" {
		group = p.site.Group
	}
	root := "/subscriptions/" + p.site.Subscription
	inGroup := root
	if group != "" {
		inGroup += "/resourceGroups/" + group
	}
	switch {
	case strings.EqualFold(kind, GroupType):
		return root + "/resourceGroups/" + name, ""
	case scope == "":
		return inGroup + "/providers/" + Path(kind, name), group
	case !strings.HasPrefix(scope, "/"):
		scope = inGroup + "/providers/" + scope
	}
	return scope + "/providers/" + Path(kind, name), groupOf(scope)
}

// Path is a type and a name as they stand in an ID, segment by segment.
func Path(kind, name string) string {
	types, names := strings.Split(kind, "/"), strings.Split(name, "/")
	parts := types[:1]
	for i, segment := range names {
		parts = append(slices.Clip(parts), types[min(i+1, len(types)-1)], segment)
	}
	return strings.Join(parts, "/")
}

func groupOf(id string) string {
	parts := strings.Split(id, "/")
	for i := range parts {
		if strings.EqualFold(parts[i], "resourceGroups") && i+1 < len(parts) {
			return parts[i+1]
		}
	}
	return ""
}

func (p *Plan) holds(d declared, env *environment) (bool, error) {
	written, there := get(d.body, "condition")
	if !there {
		return true, nil
	}
	value, err := env.value(below(d.path, "condition"), written)
	if err != nil {
		return false, notEvaluated("resource '"+getText(d.body, "name")+"'", err)
	}
	holds, isBool := value.(bool)
	if !isBool {
		return false, invalid("The condition of the template resource '%s' must be a boolean.", getText(d.body, "name"))
	}
	return holds, nil
}

// ofARM says whether a member of a resource is for ARM alone, and no part of its body.
func ofARM(member string) bool {
	switch strings.ToLower(member) {
	case "condition", "copy", "dependson", "existing", "comments", "scope", "resources", "metadata", "resourcegroup",
		"subscriptionid", "apiversion", "name", "type":
		return true
	}
	return false
}

// Body is what a resource is to be, as Azure is now: without its ID, name and type. With preview, expressions
// that refer to what is not there are left as they are written; otherwise that is a *MissingError. Other errors
// are of type *Error.
func (p *Plan) Body(resource Resource, azure Azure, preview bool) (map[string]any, error) {
	env := &environment{plan: p, azure: azure, loops: resource.turns, preview: preview}
	body := maps.Clone(resource.declared.body)
	maps.DeleteFunc(body, func(key string, _ any) bool { return ofARM(key) })
	inner, hasInner := any(nil), false
	if p.hasInnerTemplate(resource) {
		properties, _ := get(body, "properties")
		object, _ := properties.(map[string]any)
		if inner, hasInner = get(object, "template"); hasInner {
			object = maps.Clone(object)
			maps.DeleteFunc(object, func(key string, _ any) bool { return strings.EqualFold(key, "template") })
			maps.DeleteFunc(body, func(key string, _ any) bool { return strings.EqualFold(key, "properties") })
			body["properties"] = object
		}
	}
	value, err := env.value(resource.declared.path, body)
	if err != nil {
		return nil, notEvaluated("resource '"+resource.Name+"'", err)
	}
	made := value.(map[string]any) // an object stays one
	if hasInner {
		made["properties"].(map[string]any)["template"] = inner
	}
	return made, nil
}

// hasInnerTemplate: the resource is a deployment whose template is evaluated by itself, not within this one.
func (p *Plan) hasInnerTemplate(resource Resource) bool {
	if p.template.evaluated || !strings.EqualFold(resource.Type, NestedType) {
		return false
	}
	properties, _ := get(resource.declared.body, "properties")
	object, _ := properties.(map[string]any)
	options, _ := get(object, "expressionEvaluationOptions")
	scope, _ := options.(map[string]any)
	return strings.EqualFold(getText(scope, "scope"), "inner")
}

// Nested is the template of a deployment inside of this one, from its body.
func (p *Plan) Nested(resource Resource, text []byte) (*Template, error) {
	if p.hasInnerTemplate(resource) {
		return Parse(text)
	}
	return parseTemplate(text, true)
}

// Outputs evaluates what the deployment puts out. Errors are as those of Body.
func (p *Plan) Outputs(azure Azure) (map[string]Value, error) {
	env := &environment{plan: p, azure: azure}
	all := map[string]Value{}
	for _, name := range sortedKeys(p.template.outputs) {
		at := ".outputs." + name
		declaration, _ := p.template.outputs[name].(map[string]any)
		kind, isType := valueType(getText(declaration, "type"))
		if !isType {
			return nil, invalid("The template output '%s' is not valid: its type must be one of '%s'.",
				name, strings.Join(valueTypes(), ", "))
		}
		holds, err := p.holds(declared{path: at, body: declaration}, env)
		if err != nil {
			return nil, err
		}
		if !holds {
			continue
		}
		value, err := env.output(at, name, declaration)
		if err != nil {
			return nil, notEvaluated("output '"+name+"'", err)
		}
		if !fits(kind, value) {
			return nil, &Error{"DeploymentOutputEvaluationFailed",
				fmt.Sprintf("The template output '%s' is not valid: expected a value of type '%s', found '%s'.",
					name, kind, typeOf(value))}
		}
		all[name] = Value{Type: kind, Value: value}
	}
	return all, nil
}

func (env *environment) output(at, name string, declaration map[string]any) (any, error) {
	if copies, _ := get(declaration, "copy"); copies != nil {
		asked, _ := copies.(map[string]any)
		return env.turns(below(at, "copy"), name, asked)
	}
	written, _ := get(declaration, "value")
	return env.value(below(at, "value"), written)
}
