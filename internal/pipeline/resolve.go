package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline/schema"
)

// Resolve gives the file with its templates filled in, and its configRefs with
// the literals that they lead to. Templates that can't be filled in stay as they
// are, and are in the list.
func (f *File) Resolve(config *Config) (*File, diagnostic.List) {
	r := resolver{file: f, filler: filler{config: config, quote: asIs}, filled: map[*yaml.Node]bool{},
		groups: map[*yaml.Node]string{}}
	for _, group := range (object{f.in, f.root}).objects("resourceGroups") {
		r.groups[group.node] = group.text("name").Value
	}
	root := r.node(f.root)
	facts, wrong := schema.Check(f.Path, root, r.filled, f.in.own)
	resolved := fileOf(&reading{path: f.Path, text: f.in.text, facts: facts, config: config, own: f.in.own}, root)
	resolved.written = &written{f.in, f.root}
	for _, step := range resolved.Steps() {
		for _, ref := range step.ConfigRefs {
			if _, absent := config.lookup(ref.Value); absent != nil {
				r.add(ref.At, "missing-config", step.ID().String(), absent.message, r.advise(absent))
			}
		}
	}
	found := append(r.found, wrong...)
	found.Sort()
	return resolved, found
}

// Config is the configuration that the file was resolved by; nil if it wasn't.
func (f *File) Config() *Config { return f.in.config }

// resolver fills templates in.
type resolver struct {
	filler
	file  *File
	found diagnostic.List
	// filled are the nodes that came of templates; true of those that have another type than before.
	filled map[*yaml.Node]bool
	// step is the one at hand; empty outside of steps.
	step string
	// groups are the names of resource groups, and group the one at hand.
	groups map[*yaml.Node]string
	group  string
}

func (r *resolver) add(at diagnostic.Position, rule, step, message, advice string) {
	if step == "" && r.group != "" {
		message = fmt.Sprintf("resource group %s: %s", r.group, message)
	}
	r.found = append(r.found, diagnostic.Diagnostic{
		Position: at, Severity: diagnostic.Error, Rule: rule, Step: step, Message: message, Advice: advice,
	})
}

// node gives a copy of a node wherever something in it is filled in, and the node
// itself where nothing is.
func (r *resolver) node(node *yaml.Node) *yaml.Node {
	if facts := r.file.in.facts[node]; facts != nil {
		r.step = facts.Step
		defer func() { r.step = "" }()
	}
	if name, ok := r.groups[node]; ok {
		r.group = name
		defer func() { r.group = "" }()
	}
	if node.Kind == yaml.ScalarNode {
		return r.scalar(node)
	}
	filled := node
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			continue // keys are what they are
		}
		if now := r.node(child); now != child {
			if filled == node {
				filled = &yaml.Node{}
				*filled = *node
				filled.Content = slices.Clone(node.Content)
			}
			filled.Content[i] = now
		}
	}
	return filled
}

func (r *resolver) scalar(node *yaml.Node) *yaml.Node {
	if !templated(node.Value) {
		return node
	}
	text, flaws := r.fill(node.Value)
	for _, wrong := range flaws {
		r.add(position(r.file.Path, node), wrong.rule, r.step, wrong.message, wrong.advice)
	}
	if len(flaws) > 0 {
		return node
	}
	filled := *node
	filled.Value, filled.Tag = text, "!!str"
	if node.Tag == schema.Template {
		read, err := scalarOf(text, node.Style&yaml.FlowStyle != 0)
		if err != nil {
			r.add(position(r.file.Path, node), "template", r.step, err.Error(), "write the template in quotes")
			return node
		}
		filled.Value, filled.Tag, filled.Style = read.Value, read.Tag, read.Style
	}
	r.filled[&filled] = node.Tag == schema.Template
	return &filled
}

// plain is a value as an environment variable or a template has it: strings as
// they are, numbers in decimals, lists and mappings as JSON.
func plain(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case []any, map[string]any:
		if raw, err := json.Marshal(value); err == nil {
			return string(raw)
		}
	}
	return fmt.Sprint(value)
}

// Plain is the value's literal as an environment variable has it: strings as they
// are, numbers in decimals, lists and mappings as JSON. It is empty where there is
// no literal.
func (v Value) Plain() string { return plain(v.Literal) }

// ConfigPaths are all paths into the configuration that the file leads along, in
// templates and configRefs and in the parameters files that it names, sorted, each
// once; of a resolved file, those that it led along before.
func (f *File) ConfigPaths() []string {
	if f.written != nil {
		return fileOf(f.written.in, f.written.root).ConfigPaths()
	}
	var paths []string
	for _, step := range f.Steps() {
		for _, ref := range step.ConfigRefs {
			paths = append(paths, ref.Value)
		}
	}
	eachScalar(f.root, func(node *yaml.Node) { paths = append(paths, pathsIn(node.Value)...) })
	for path := range f.parameterFiles() {
		content, _ := ReadNamed(path) // one that can't be read leads nowhere
		paths = append(paths, pathsIn(string(content))...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
