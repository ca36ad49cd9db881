package topology

import (
	"fmt"
	"slices"

	"salve/internal/diagnostic"
	"salve/internal/pipeline"
)

// Service is a service group.
type Service struct {
	// At is where its name stands.
	At           diagnostic.Position
	ServiceGroup string
	Purpose      string
	// Pipeline is the path of its pipeline, and Named how the topology calls that.
	Pipeline string
	Named    pipeline.Text
	// Parent is rolled out before it; nil for the first of a tree.
	Parent   *Service
	Children []*Service
	// Stamped: it is there once in each stamp of a region, and not once in the region.
	Stamped bool

	externalParent pipeline.Text
}

// Misnamed says that the pipeline of a service group is another's.
func (s *Service) Misnamed(file *pipeline.Outline) diagnostic.List {
	own := file.ServiceGroup
	if own.Value == s.ServiceGroup || own.Value == "" { // the file's own validation says what is missing
		return nil
	}
	return diagnostic.List{problem(own.At, "wrong-service-group",
		fmt.Sprintf("this is the pipeline of %s, and the topology has it for %s", own.Value, s.ServiceGroup), "")}
}

// Problem is something that is wrong with a service group.
func (s *Service) Problem(rule, message string) diagnostic.Diagnostic {
	return problem(s.At, rule, message, "")
}

// Entrypoint names a part of a tree: a service group and all below it.
type Entrypoint struct {
	At         diagnostic.Position
	Identifier string
	// Name is what people call it; empty where nobody said.
	Name string
}

// Topology is one or more files taken together.
type Topology struct {
	// Roots are the service groups without a parent.
	Roots       []*Service
	Entrypoints []Entrypoint

	services map[string]*Service
}

// Lookup finds a service group.
func (t *Topology) Lookup(group string) (*Service, bool) {
	service, found := t.services[group]
	return service, found
}

// ServiceGroups are the names of all, each parent before its children.
func (t *Topology) ServiceGroups() []string {
	var names []string
	for _, service := range t.Services() {
		names = append(names, service.ServiceGroup)
	}
	return names
}

// Services are all service groups, each parent before its children.
func (t *Topology) Services() []*Service {
	var all []*Service
	for _, root := range t.Roots {
		all = append(all, root.Below()...)
	}
	return all
}

// Below are a service group and all that is rolled out after it, each parent before its children.
func (s *Service) Below() []*Service {
	all := []*Service{s}
	for _, child := range s.Children {
		all = append(all, child.Below()...)
	}
	return all
}

// Under tells whether a service group is below another, so that it is rolled out after that.
func (s *Service) Under(other *Service) bool {
	for at := s.Parent; at != nil; at = at.Parent {
		if at == other {
			return true
		}
	}
	return false
}

// After tells whether a service group is rolled out after another.
func (t *Topology) After(group, other string) bool {
	one, found := t.Lookup(group)
	above, there := t.Lookup(other)
	return found && there && one.Under(above)
}

// WaitsForStamps tells whether a service group that is there once would wait for one that each stamp has: which stamp
// is meant can't be told.
func (t *Topology) WaitsForStamps(group, other string) bool {
	one, found := t.Lookup(group)
	stamped, there := t.Lookup(other)
	return found && there && !one.Stamped && stamped.Stamped
}

// Entry finds an entrypoint by its identifier, or by the name that people give it.
func (t *Topology) Entry(named string) (*Service, bool) {
	at := slices.IndexFunc(t.Entrypoints, func(e Entrypoint) bool { return e.Identifier == named })
	if at < 0 {
		at = slices.IndexFunc(t.Entrypoints, func(e Entrypoint) bool { return e.Name == named && named != "" })
	}
	if at < 0 {
		return nil, false
	}
	return t.Lookup(t.Entrypoints[at].Identifier)
}

// problem is something that is wrong, by a rule of pipelines.
func problem(at diagnostic.Position, rule, message, advice string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Position: at, Severity: diagnostic.Error, Rule: rule, Message: message, Advice: advice}
}
