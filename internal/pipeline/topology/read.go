package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// deepest bounds how deep service groups may be nested.
const deepest = 16

// Read reads the files of a topology. The error says that one could not be read at all; what is wrong with their
// content is in the list, and the topology then holds what could be understood.
func Read(paths ...string) (*Topology, diagnostic.List, error) {
	r := &reader{topology: &Topology{services: map[string]*Service{}}}
	for _, path := range paths {
		content, err := pipeline.ReadContent(path)
		if err != nil {
			return nil, nil, err
		}
		r.file(path, content)
	}
	r.adopt(len(paths) > 1)
	r.entrypoints()
	r.found.Sort()
	return r.topology, r.found, nil
}

// reader takes files apart.
type reader struct {
	topology *Topology
	path     string
	found    diagnostic.List
	spelling diagnostic.Speller
}

func (r *reader) add(at diagnostic.Position, rule, advice, format string, arguments ...any) {
	r.found = append(r.found, problem(at, rule, fmt.Sprintf(format, arguments...), advice))
}

func (r *reader) file(path string, content []byte) {
	root, found := pipeline.Document(path, content)
	r.path, r.found = path, append(r.found, found...)
	if root == nil || !r.mapping("a topology", root) {
		return
	}
	if isPipeline(root) {
		r.add(r.at(root), "topology", "give its file without --topology",
			"this is a pipeline, and no topology of service groups")
		return
	}
	fields := r.fields("a topology", root, "services", "entrypoints")
	if fields["services"] == nil {
		r.add(r.at(root), "missing-field", "", `a topology needs "services"`)
	}
	for _, node := range r.list("services", fields["services"]) {
		if service := r.service(node, nil, 1); service != nil {
			r.topology.Roots = append(r.topology.Roots, service)
		}
	}
	for _, node := range r.list("entrypoints", fields["entrypoints"]) {
		r.entrypoint(node)
	}
}

// isPipeline tells a file that has resource groups, and lists no service groups.
func isPipeline(root *yaml.Node) bool {
	groups, services := false, false
	for i := 0; i+1 < len(root.Content); i += 2 {
		groups = groups || root.Content[i].Value == "resourceGroups"
		services = services || root.Content[i].Value == "services"
	}
	return groups && !services
}

func (r *reader) entrypoint(node *yaml.Node) {
	if !r.mapping("an entrypoint", node) {
		return
	}
	fields := r.fields("an entrypoint", node, "identifier", "metadata")
	identifier := r.text(fields["identifier"])
	if identifier.Value == "" {
		r.add(r.at(node), "missing-field", "", `an entrypoint needs "identifier"`)
		return
	}
	r.topology.Entrypoints = append(r.topology.Entrypoints, Entrypoint{At: identifier.At, Identifier: identifier.Value,
		Name: r.metadata(fields["metadata"], "name").Value})
}

// service reads a service group and all below it. It is nil where it has no name, or one that is there already.
func (r *reader) service(node *yaml.Node, parent *Service, depth int) *Service {
	if !r.mapping("a service group", node) {
		return nil
	}
	if depth > deepest {
		r.add(r.at(node), "yaml-depth", "", "service groups are nested more than %d deep", deepest)
		return nil
	}
	fields := r.fields("a service group", node, "serviceGroup", "purpose", "pipelinePath", "children", "metadata",
		"externalParent", "stamped")
	name := r.text(fields["serviceGroup"])
	if name.Value == "" {
		r.add(r.at(node), "missing-field", "", `a service group needs "serviceGroup"`)
		return nil
	}
	service := &Service{At: name.At, ServiceGroup: name.Value, Parent: parent,
		externalParent: r.text(fields["externalParent"])}
	r.stamped(service, fields["stamped"])
	purpose, _ := r.or(node, fields, "purpose", "purpose", name.Value)
	service.Purpose = purpose.Value
	r.pipeline(node, fields, service)
	if parent != nil && service.externalParent.Value != "" {
		r.add(service.externalParent.At, "wrong-value", "only the first of a tree has one",
			"service group %s has a parent in this file, and an externalParent", name.Value)
	}
	for _, below := range r.list("children", fields["children"]) {
		if child := r.service(below, service, depth+1); child != nil {
			service.Children = append(service.Children, child)
		}
	}
	if before := r.topology.services[name.Value]; before != nil {
		r.add(name.At, "duplicate-name", "rename one of the two", "there are two service groups %s; the other is at %s",
			name.Value, before.At)
		return nil
	}
	r.topology.services[name.Value] = service
	return service
}

// stamped reads whether a service group is there once in each stamp; those below it are too, and can't say otherwise:
// https://pkg.go.dev/github.com/Azure/ARO-Tools/pipelines/topology
func (r *reader) stamped(service *Service, node *yaml.Node) {
	above := service.Parent != nil && service.Parent.Stamped
	service.Stamped = above
	if node == nil {
		return
	}
	switch said, err := strconv.ParseBool(node.Value); {
	case node.ShortTag() != "!!bool" || err != nil:
		r.add(r.at(node), "wrong-type", "", `"stamped" must be true or false`)
	case above && !said:
		r.add(r.at(node), "wrong-value", "remove it", "service group %s is below %s, which is stamped, and so it is itself",
			service.ServiceGroup, service.Parent.ServiceGroup)
	case said:
		service.Stamped = true
		r.add(r.at(node), "no-effect", "to roll the others out, run it once for each --stamp",
			"service group %s is stamped: it is rolled out for one stamp at a time, that of --stamp", service.ServiceGroup)
		r.found[len(r.found)-1].Severity = diagnostic.Note
	}
}

// pipeline finds the pipeline of a service group.
func (r *reader) pipeline(node *yaml.Node, fields map[string]*yaml.Node, service *Service) {
	named, given := r.or(node, fields, "pipelinePath", "pipeline", service.ServiceGroup)
	if !given {
		return
	}
	service.Named, service.Pipeline = named, filepath.Join(filepath.Dir(r.path), filepath.FromSlash(named.Value))
	if info, err := os.Stat(service.Pipeline); err != nil || info.IsDir() {
		r.add(named.At, "file-missing", "", "there is no pipeline %s, seen from the folder of this file", named.Value)
	}
}

// or is a field of a service group, or what its metadata hold instead. It says so when there is neither.
func (r *reader) or(node *yaml.Node, fields map[string]*yaml.Node, field, key, group string) (pipeline.Text, bool) {
	text := r.text(fields[field])
	if text.Value == "" {
		text = r.metadata(fields["metadata"], key)
	}
	if text.Value == "" {
		r.add(r.at(node), "missing-field", "", "service group %s needs %q", group, field)
		return text, false
	}
	return text, true
}

// adopt gives service groups the parents that other files have. Those of a single file have none.
func (r *reader) adopt(several bool) {
	if !several {
		return
	}
	var roots []*Service
	for _, service := range r.topology.Roots {
		named := service.externalParent
		parent := r.topology.services[named.Value]
		switch {
		case named.Value == "":
			roots = append(roots, service)
		case parent == nil:
			r.add(named.At, "unknown-service-group", r.spelling.DidYouMean(named.Value, r.names()),
				"there is no service group %s, which would be the parent of %s", named.Value, service.ServiceGroup)
			roots = append(roots, service)
		case parent == service || parent.Under(service):
			r.add(named.At, "cycle", "", "service group %s would be below itself", service.ServiceGroup)
			roots = append(roots, service)
		default:
			service.Parent, parent.Children = parent, append(parent.Children, service)
		}
	}
	r.topology.Roots = roots
}

func (r *reader) entrypoints() {
	for _, one := range r.topology.Entrypoints {
		if _, found := r.topology.Lookup(one.Identifier); !found {
			r.add(one.At, "unknown-entrypoint", r.spelling.DidYouMean(one.Identifier, r.names()),
				"there is no service group %s", one.Identifier)
		}
	}
}

func (r *reader) names() []string {
	names := make([]string, 0, len(r.topology.services))
	for name := range r.topology.services {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
