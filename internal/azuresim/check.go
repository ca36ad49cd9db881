package azuresim

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"salve/internal/azuresim/template"
)

// problem is a bad value and where in the file it is.
type problem struct {
	path   []any
	reason string
}

func wrong(path []any, format string, arguments ...any) *problem {
	return &problem{path: path, reason: fmt.Sprintf(format, arguments...)}
}

func outcomes() []string {
	return []string{"remediated", "nothing-to-do", "deferred", "failed", "undecided", "needs-attention"}
}

func clusterStates() []string {
	return []string{
		stateSucceeded, stateFailed, stateCanceled, stateUpdating, stateUpgrading, stateCreating, stateDeleting,
	}
}

func interfaceStates() []string { return []string{interfacesEmpty, interfacesAbsent, interfacesNull} }

// fillIn gives what a pool or a fault leaves out.
func (s *Scenario) fillIn() {
	for i := range s.Pools {
		s.Pools[i].fillIn()
	}
	for i := range s.Apps {
		if s.Apps[i].Grace == 0 {
			s.Apps[i].Grace = Duration(10 * time.Second)
		}
	}
	for i := range s.Resources {
		setDefault(&s.Resources[i].Group, s.ResourceGroup)
		setDefault(&s.Resources[i].Location, s.Location)
	}
	for i := range s.Features {
		setDefault(&s.Features[i].State, stateNotRegistered)
	}
	for i := range s.Faults {
		s.Faults[i].fillIn()
	}
}

func (p *Pool) fillIn() {
	setDefault(&p.Mode, modeUser)
	setDefault(&p.State, stateSucceeded)
	setDefault(&p.VMSize, "Standard_D4ds_v5")
	setDefault(&p.OS, "Linux")
	setDefault(&p.Interfaces, interfacesEmpty)
	if p.Count == nil {
		p.Count = number(1)
	}
	if p.Ready == nil {
		p.Ready = number(*p.Count)
	}
	if p.Zones == nil {
		p.Zones = []string{"1", "2", "3"}
	}
	if p.FailedWrites != nil {
		setDefault(&p.FailedWrites.Every, Duration(45*time.Second))
	}
}

func (f *Fault) fillIn() {
	switch {
	case f.Throttle != nil:
		setDefault(&f.Throttle.First, 1)
		setDefault(&f.Throttle.RetryAfter, Duration(5*time.Second))
	case f.ServerError != nil:
		setDefault(&f.ServerError.First, 1)
		setDefault(&f.ServerError.Status, 500)
	case f.LostResponse != nil:
		setDefault(&f.LostResponse.Nth, 1)
	case f.Deny != nil:
		setDefault(&f.Deny.Code, "AuthorizationFailed")
	case f.Hang != nil:
		setDefault(&f.Hang.First, 1)
	case f.Capacity != nil:
		setDefault(&f.Capacity.Code, "AllocationFailed")
	case f.NodeNeverJoins != nil:
		setDefault(&f.NodeNeverJoins.Nodes, 1)
	}
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

func (s *Scenario) check() *problem {
	switch {
	case strings.TrimSpace(s.Shows) == "" || strings.Contains(s.Shows, "\n"):
		return wrong([]any{"shows"}, "shows must be one line that says what the scenario shows")
	case !slices.Contains(outcomes(), s.Expect):
		return wrong([]any{"expect"}, "expect %q is not one of %s", s.Expect, strings.Join(outcomes(), ", "))
	case !slices.Contains(clusterStates(), s.ClusterState):
		return wrong([]any{"clusterState"}, "clusterState %q is not one of %s",
			s.ClusterState, strings.Join(clusterStates(), ", "))
	case s.PageSize < 1:
		return wrong([]any{"pageSize"}, "pageSize must be at least 1")
	case s.Durations.Retry <= 0:
		return wrong([]any{"durations", "retry"}, "retry must be above 0")
	case s.Durations.Drain <= 0:
		return wrong([]any{"durations", "drain"}, "drain must be above 0")
	case s.Log.PageSize < 1:
		return wrong([]any{"activityLog", "pageSize"}, "pageSize must be at least 1")
	case s.Operation != nil && s.ClusterState != stateUpdating && s.ClusterState != stateUpgrading:
		return wrong([]any{"operation"}, "an operation needs clusterState Updating or Upgrading, not %s", s.ClusterState)
	}
	seen := map[string]bool{}
	for i, pool := range s.Pools {
		if p := pool.check([]any{"pools", i}); p != nil {
			return p
		}
		if seen[pool.Name] {
			return wrong([]any{"pools", i, "name"}, "two pools are named %s", pool.Name)
		}
		seen[pool.Name] = true
	}
	for i, app := range s.Apps {
		if app.Name == "" || app.Namespace == "" || app.Replicas < 0 || app.MinAvailable < 0 {
			return wrong([]any{"apps", i}, "an app needs a namespace, a name and replicas, none negative")
		}
	}
	if p := s.checkResources(); p != nil {
		return p
	}
	if p := s.checkRegistrations(); p != nil {
		return p
	}
	for i, fault := range s.Faults {
		if p := fault.check([]any{"faults", i}, s); p != nil {
			return p
		}
	}
	return nil
}

// checkResources: names that ARM takes, in groups that there are, each once.
func (s *Scenario) checkResources() *problem {
	seen, groups := map[string]bool{}, append([]string{s.ResourceGroup}, s.ResourceGroups...)
	for i, name := range s.ResourceGroups {
		key := strings.ToLower(name)
		if !groupName.MatchString(name) || seen[key] || strings.EqualFold(name, s.ResourceGroup) {
			return wrong([]any{"resourceGroups", i}, "resource group %q is not a name of its own", name)
		}
		seen[key] = true
	}
	for i, resource := range s.Resources {
		at := []any{"resources", i}
		segments, kind := strings.Count(resource.Type, "/"), strings.ToLower(resource.Type)
		key := strings.ToLower(resource.Group + "/" + resource.Type + "/" + resource.Name)
		switch {
		case segments == 0 || segments != strings.Count(resource.Name, "/")+1:
			return wrong(at,
				"type %q and name %q: a resource has a type such as Namespace/kind and a name for each part of it",
				resource.Type, resource.Name)
		case kind == strings.ToLower(clusterType) || strings.HasPrefix(kind, strings.ToLower(clusterType)+"/") ||
			kind == strings.ToLower(template.NestedType):
			return wrong(append(at, "type"), "type %q: the embedded Azure has its own", resource.Type)
		case !slices.ContainsFunc(groups, func(name string) bool { return strings.EqualFold(name, resource.Group) }):
			return wrong(append(at, "group"), "no resource group is named %q", resource.Group)
		case seen[key]:
			return wrong(at, "two resources are of type %s and name %s", resource.Type, resource.Name)
		}
		seen[key] = true
	}
	return nil
}

func (p *Pool) check(at []any) *problem {
	field := func(name string) []any { return append(slices.Clone(at), name) }
	switch {
	case !validPoolName(p.Name, p.OS):
		return wrong(field("name"),
			"pool name %q: 1-12 lower-case letters and digits (Windows: 6), beginning with a letter", p.Name)
	case p.Mode != modeSystem && p.Mode != modeUser:
		return wrong(field("mode"), "mode %q is neither System nor User", p.Mode)
	case p.OS != "Linux" && p.OS != "Windows":
		return wrong(field("os"), "os %q is neither Linux nor Windows", p.OS)
	case *p.Count < 0:
		return wrong(field("count"), "count must not be negative")
	case *p.Ready < 0 || *p.Ready > *p.Count:
		return wrong(field("ready"), "ready must be between 0 and count (%d)", *p.Count)
	case !slices.Contains(clusterStates(), p.State):
		return wrong(field("state"), "state %q is not one of %s", p.State, strings.Join(clusterStates(), ", "))
	case !slices.Contains(interfaceStates(), p.Interfaces):
		return wrong(field("interfaces"), "interfaces %q is not one of %s", p.Interfaces,
			strings.Join(interfaceStates(), ", "))
	case p.Autoscale != nil && (p.Autoscale.Min < 0 || p.Autoscale.Max < p.Autoscale.Min):
		return wrong(field("autoscale"), "autoscale needs 0 <= min <= max")
	case p.FailedWrites != nil && p.FailedWrites.Events < 0:
		return wrong(append(field("failedWrites"), "events"), "events must not be negative")
	}
	for _, index := range p.Cordoned {
		if index < 0 || index >= *p.Ready {
			return wrong(field("cordoned"), "no node %d: the pool has %d", index, *p.Ready)
		}
	}
	for i, taint := range p.Taints {
		if _, ok := parseTaint(taint); !ok {
			return wrong(append(field("taints"), i), "taint %q is not key=value:Effect", taint)
		}
	}
	return nil
}

// check: one kind per fault, and values that make sense.
func (f *Fault) check(at []any, s *Scenario) *problem {
	kinds, value := 0, reflect.ValueOf(*f)
	for i := range value.NumField() {
		if !value.Field(i).IsNil() {
			kinds++
		}
	}
	field := func(names ...any) []any { return append(slices.Clone(at), names...) }
	known := func(name string) bool {
		return slices.ContainsFunc(s.Pools, func(p Pool) bool { return p.Name == name })
	}
	switch {
	case kinds != 1:
		return wrong(at, "a fault has exactly one kind, this one has %d", kinds)
	case f.ServerError != nil && (f.ServerError.Status < 500 || f.ServerError.Status > 599):
		return wrong(field("serverError", "status"), "status %d is not a server error", f.ServerError.Status)
	case f.Quota != nil && f.Quota.Pool == "":
		return wrong(field("quota"), "a quota needs a pool: a name, stand-in or recreated")
	case f.Capacity != nil && f.Capacity.Pool == "":
		return wrong(field("capacity"), "capacity needs a pool: a name, stand-in or recreated")
	case f.NodeNeverJoins != nil && f.NodeNeverJoins.Pool == "":
		return wrong(field("nodeNeverJoins"), "nodeNeverJoins needs a pool: a name, stand-in or recreated")
	case f.PDBBlocks != nil && !slices.ContainsFunc(s.Apps, func(a App) bool { return a.Name == f.PDBBlocks.App }):
		return wrong(field("pdbBlocks", "app"), "no app is named %q", f.PDBBlocks.App)
	case f.Recovers != nil && !known(f.Recovers.Pool):
		return wrong(field("recovers", "pool"), "no pool is named %q", f.Recovers.Pool)
	case f.ConcurrentWriter != nil && f.ConcurrentWriter.Pool != "" && !known(f.ConcurrentWriter.Pool):
		return wrong(field("concurrentWriter", "pool"), "no pool is named %q", f.ConcurrentWriter.Pool)
	}
	return nil
}
