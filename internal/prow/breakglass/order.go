package breakglass

import (
	"cmp"
	"slices"

	"salve/internal/prow/check"
)

// The parts, in the order in which they are applied.
const (
	// foundation is what workloads need to start.
	foundation = iota
	// deployer is what deploys Prow; with it Prow can deploy the rest itself.
	deployer
	rest
	// protection is what writes the protection of branches: last, and only if it is meant.
	protection
)

func partName(rank int) string {
	return []string{
		"what workloads need: namespaces, definitions, rights, configuration, services",
		"what deploys Prow: after it the deploy job can do the rest",
		"the rest",
		"branchprotector: only if you mean it",
	}[rank]
}

// What applying an object does.
const (
	unchanged = "leaves"
	changed   = "changes"
	created   = "makes"
)

// filesOf are the files of the revision, in the order in which they are applied.
func filesOf(in Input) []File {
	now := map[string]string{}
	for _, object := range in.Now.Objects {
		now[object.ID()] = object.Digest
	}
	var files []File
	at := map[string]int{}
	for _, object := range in.Then.Objects {
		i, known := at[object.File]
		if !known {
			i = len(files)
			at[object.File] = i
			files = append(files, File{Path: object.File})
		}
		resource := Resource{Kind: object.Kind, Namespace: object.Namespace, Name: object.Name, Change: unchanged}
		switch digest, there := now[object.ID()]; {
		case !there:
			resource.Change = created
		case digest != object.Digest:
			resource.Change = changed
		}
		files[i].Resources = append(files[i].Resources, resource)
		files[i].differs = files[i].differs || resource.Change != unchanged
	}
	broken := map[string]string{}
	for _, one := range in.Then.Unreadable {
		broken[one.Position.File] = one.Message
	}
	for _, object := range in.Then.Objects {
		files[at[object.File]].Incomplete = broken[object.Position.File]
	}
	for i := range files {
		files[i].place(in)
	}
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(first(a), first(b)), cmp.Compare(a.Path, b.Path))
	})
	return files
}

// place finds the part of a file. A file that runs a component which the deploy jobs need is of that part, whatever
// else it holds; one without any workload is of the foundation.
func (f *File) place(in Input) {
	needed := neededComponents(in.Exit)
	f.rank = foundation
	for _, resource := range f.Resources {
		if isWorkload(resource.Kind) {
			f.rank = max(f.rank, rest)
		}
	}
	deploys := false
	for _, component := range in.Then.Components {
		if !slices.ContainsFunc(f.Resources, func(r Resource) bool { return r.id() == component.Workload() }) {
			continue
		}
		f.protects = f.protects || component.Name == "branchprotector"
		deploys = deploys || slices.Contains(needed, component.Name)
	}
	switch {
	case deploys:
		f.rank = deployer
	case f.protects:
		f.rank = protection
	}
}

func neededComponents(exit check.Exit) (components []string) {
	for _, job := range exit.Jobs {
		for _, need := range job.Needs {
			if need.Kind == "component" {
				components = append(components, need.Name)
			}
		}
	}
	return components
}

func isWorkload(kind string) bool {
	return slices.Contains([]string{
		"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Job", "CronJob",
	}, kind)
}

// namespaced tells of the kinds that a Prow consists of which of them live in a namespace.
func namespaced(kind string) bool {
	return isWorkload(kind) || slices.Contains([]string{
		"ServiceAccount", "Role", "RoleBinding", "Secret", "ConfigMap", "PersistentVolumeClaim", "Service", "Ingress",
	}, kind)
}

// first is how early a file's most basic object is needed.
func first(f File) int {
	order := []string{
		"Namespace", "CustomResourceDefinition", "PriorityClass", "ServiceAccount", "ClusterRole", "Role",
		"ClusterRoleBinding", "RoleBinding", "Secret", "ConfigMap", "PersistentVolumeClaim", "Service",
	}
	least := len(order)
	for _, resource := range f.Resources {
		if at := slices.Index(order, resource.Kind); at >= 0 {
			least = min(least, at)
		}
	}
	return least
}

func stages(files []File) []Stage {
	all := []Stage{}
	for rank := foundation; rank <= protection; rank++ {
		stage := Stage{Name: partName(rank)}
		for _, file := range files {
			if file.rank == rank {
				stage.Files = append(stage.Files, file)
			}
		}
		if len(stage.Files) > 0 {
			all = append(all, stage)
		}
	}
	return all
}
