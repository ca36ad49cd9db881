package template

import (
	"fmt"
	"slices"
	"strings"
)

// order finds what each resource needs, and refuses cycles.
func (p *Plan) order() error {
	for i := range p.Resources {
		resource := &p.Resources[i]
		needs, err := p.declaredNeeds(resource)
		if err != nil {
			return err
		}
		for _, id := range p.references(resource) {
			found, _ := p.find(id)
			needs = append(needs, found...)
		}
		needs = append(needs, p.batchBefore(i)...)
		slices.Sort(needs)
		resource.Needs = slices.Compact(needs)
	}
	return p.refuseRings()
}

func (p *Plan) declaredNeeds(resource *Resource) ([]int, error) {
	written, there := get(resource.declared.body, "dependsOn")
	if !there || written == nil {
		return nil, nil
	}
	env := &environment{plan: p, loops: resource.turns}
	value, err := env.value(below(resource.declared.path, "dependsOn"), written)
	if err != nil {
		return nil, notEvaluated("resource '"+resource.Name+"'", err)
	}
	list, isList := value.([]any)
	if !isList {
		return nil, invalid("The 'dependsOn' of the template resource '%s' must be an array.", resource.Name)
	}
	var needs []int
	for _, entry := range list {
		name, isText := entry.(string)
		found, known := p.find(name)
		if !isText || !known {
			return nil, invalid("The resource '%s' is not defined in the template, but the template resource '%s' depends on "+
				"it. Please see https://aka.ms/arm-syntax for usage details.", text(entry), resource.Name)
		}
		if p.ambiguous(found) {
			return nil, invalid("The name '%s' that the template resource '%s' depends on is that of several resources: use a "+
				"resource ID. Please see https://aka.ms/arm-syntax for usage details.", name, resource.Name)
		}
		needs = append(needs, found...)
	}
	return needs, nil
}

// find gives the resources that a dependency means: by ID, name, symbolic name or copy; all turns of a copy. What was
// left out by its condition is known, and is none.
func (p *Plan) find(name string) (found []int, known bool) {
	for i := range p.Resources {
		if p.Resources[i].goesBy(name) {
			found = append(found, i)
		}
	}
	known = len(found) > 0 || slices.ContainsFunc(p.skipped, func(r Resource) bool { return r.goesBy(name) }) ||
		slices.ContainsFunc(p.template.resources, func(d declared) bool {
			copying, _ := get(d.body, "copy")
			asked, _ := copying.(map[string]any)
			// a copy of none
			return asked != nil && (strings.EqualFold(getText(asked, "name"), name) || d.symbol == name && name != "")
		})
	return found, known
}

// ambiguous: several resources that are not the turns of one copy.
func (p *Plan) ambiguous(found []int) bool {
	return slices.ContainsFunc(found, func(i int) bool {
		return p.Resources[i].declared.path != p.Resources[found[0]].declared.path
	})
}

func (r *Resource) goesBy(name string) bool {
	return name != "" && (strings.EqualFold(r.ID, name) || strings.EqualFold(r.Name, name) ||
		strings.EqualFold(r.copyName, name) ||
		strings.EqualFold(r.Type+"/"+r.Name, name) || strings.EqualFold(Path(r.Type, r.Name), name) || r.isSymbol(name))
}

// isSymbol: turns of a copy are symbol[0], symbol[1] and so on.
func (r *Resource) isSymbol(name string) bool {
	if r.symbol == "" {
		return false
	}
	return strings.EqualFold(r.symbol, name) ||
		len(r.turns) > 0 && strings.EqualFold(fmt.Sprintf("%s[%d]", r.symbol, r.turns[0].index), name)
}

// references are the names that the body asks for with reference(), as far as they are known beforehand. ARM takes
// those for dependencies that are names of the same template; those that are IDs it does not.
func (p *Plan) references(resource *Resource) []string {
	var names []string
	env := &environment{plan: p, loops: resource.turns}
	var visit func(any)
	visitExpression := func(e expression) {
		walk(e, func(c *call) {
			if !strings.EqualFold(c.name, "reference") || len(c.arguments) == 0 {
				return
			}
			value, err := c.arguments[0].evaluate(env)
			if name, isText := value.(string); err == nil && isText && !strings.HasPrefix(name, "/") {
				names = append(names, name)
			}
		})
	}
	visit = func(value any) {
		switch value := value.(type) {
		case string:
			if e := p.template.expressions[value]; e != nil {
				visitExpression(e)
			}
		case []any:
			for _, one := range value {
				visit(one)
			}
		case map[string]any:
			for _, key := range sortedKeys(value) {
				if key == "template" && p.hasInnerTemplate(*resource) {
					continue
				}
				visit(value[key])
			}
		}
	}
	visit(resource.declared.body)
	return names
}

func walk(e expression, visit func(*call)) {
	switch e := e.(type) {
	case *call:
		visit(e)
		for _, argument := range e.arguments {
			walk(argument, visit)
		}
	case *member:
		walk(e.of, visit)
		walk(e.by, visit)
	}
}

// batchBefore: turns of a serial copy wait for the batch before theirs.
func (p *Plan) batchBefore(i int) []int {
	resource := &p.Resources[i]
	copying, _ := get(resource.declared.body, "copy")
	asked, _ := copying.(map[string]any)
	if !strings.EqualFold(getText(asked, "mode"), "serial") || len(resource.turns) == 0 {
		return nil
	}
	size := int64(1)
	if written, there := get(asked, "batchSize"); there {
		size, _ = integer(written)
	}
	batch := func(r *Resource) int64 { return int64(r.turns[0].index) / max(size, 1) }
	var needs []int
	for j := range i {
		other := &p.Resources[j]
		if other.copyName == resource.copyName && batch(other) == batch(resource)-1 {
			needs = append(needs, j)
		}
	}
	return needs
}

func (p *Plan) refuseRings() error {
	const open, closed = 1, 2
	state := make([]int, len(p.Resources))
	var visit func(i int) error
	visit = func(i int) error {
		switch state[i] {
		case open:
			return invalid("Circular dependency detected on resource: '%s'. Please see https://aka.ms/arm-syntax-resources "+
				"for usage details.", p.Resources[i].ID)
		case closed:
			return nil
		}
		state[i] = open
		for _, need := range p.Resources[i].Needs {
			if err := visit(need); err != nil {
				return err
			}
		}
		state[i] = closed
		return nil
	}
	for i := range p.Resources {
		if err := visit(i); err != nil {
			return err
		}
	}
	return nil
}
