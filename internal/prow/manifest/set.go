package manifest

import (
	"cmp"
	"slices"

	"salve/internal/diagnostic"
)

// Set is what a folder of manifests holds, as far as it matters to Prow.
type Set struct {
	// Folder is the folder as positions name it.
	Folder string
	// Components are sorted by name, then place.
	Components []Component
	// Objects are all that the manifests make, in the order of files and of documents in them.
	Objects []Object
	// ConfigMaps have their data, by namespace/name.
	ConfigMaps map[string]ConfigMap
	// Secrets are where the manifests make Secrets, by namespace/name.
	Secrets map[string]diagnostic.Position
	// LeftAlone are folders that were not read, with the reason.
	LeftAlone []LeftAlone
	// Unreadable are files that could not be read.
	Unreadable diagnostic.List
	// Files counts what was read.
	Files int
}

// Object is one that a manifest makes.
type Object struct {
	Kind string
	// Namespace is empty where the manifest names none.
	Namespace, Name string
	Position        diagnostic.Position
	// File is the path of the manifest as it was read, without the root of positions.
	File string
	// Digest stands for what is written of the object: two of one digest are made the same.
	Digest string
}

// ID tells an object from others: its kind, namespace and name.
func (o Object) ID() string { return o.Kind + " " + qualified(o.Namespace, o.Name) }

// LeftAlone is a folder that was not read.
type LeftAlone struct {
	Position diagnostic.Position
	Reason   string
}

// ConfigMap is one with its data.
type ConfigMap struct {
	Position diagnostic.Position
	Data     map[string]string
}

// Component is one container of Prow's.
type Component struct {
	// Name is the program's, such as sinker.
	Name string
	// Core says that a job, a merge or the protection of branches depends on it.
	Core bool
	// Kind, Namespace and Object name the workload. The namespace is empty where the
	// manifest names none.
	Kind, Namespace, Object string
	// ServiceAccount is empty where the manifest names none.
	ServiceAccount string
	Position       diagnostic.Position
	Image          Image
	// Args are the words of command and args.
	Args []string
	// Config and JobConfig are where the flags --config-path and --job-config-path lead;
	// nil where the flag is not given.
	Config, JobConfig *Source
}

// Image is what a container is made from.
type Image struct {
	Repository, Tag, Digest string
	Position                diagnostic.Position
}

// Version is the digest where there is one, else the tag, else latest.
func (i Image) Version() string { return cmp.Or(i.Digest, i.Tag, "latest") }

// String is the image as manifests write it.
func (i Image) String() string {
	switch {
	case i.Digest != "":
		return i.Repository + "@" + i.Digest
	case i.Tag != "":
		return i.Repository + ":" + i.Tag
	}
	return i.Repository
}

// Source is where a component reads a file from.
type Source struct {
	// Path is the flag's value.
	Path string
	// ConfigMap is namespace/name, and Key the key in it; both are empty where the path
	// is not in a volume of one ConfigMap. Volume then says what it is.
	ConfigMap, Key string
	Volume         string
}

// String is the source in words.
func (s Source) String() string {
	switch {
	case s.ConfigMap != "" && s.Key != "":
		return "ConfigMap " + s.ConfigMap + ", key " + s.Key
	case s.ConfigMap != "":
		return "ConfigMap " + s.ConfigMap
	case s.Volume != "":
		return s.Volume + ", path " + s.Path
	}
	return "path " + s.Path
}

// Workload is the object in words, such as Deployment prow/sinker.
func (c Component) Workload() string {
	return c.Kind + " " + qualified(c.Namespace, c.Object)
}

// Incomplete says that something could not be read, or was left alone.
func (s *Set) Incomplete() bool { return len(s.Unreadable)+len(s.LeftAlone) > 0 }

// Named are the components of some names.
func (s *Set) Named(names ...string) []Component {
	var found []Component
	for _, c := range s.Components {
		if slices.Contains(names, c.Name) {
			found = append(found, c)
		}
	}
	return found
}

func (s *Set) sort() {
	slices.SortStableFunc(s.Components, func(a, b Component) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Position.File, b.Position.File),
			cmp.Compare(a.Position.Line, b.Position.Line))
	})
}

func qualified(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
