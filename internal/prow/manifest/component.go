package manifest

import (
	"path"
	"slices"
	"strings"
)

// program is one that Prow consists of.
type program struct {
	name string
	core bool
}

// programs are Prow's that run as a service or on a schedule; other names are those
// under which one is known too. (cmd/ in https://github.com/kubernetes-sigs/prow)
func programs() []program {
	return []program{
		{"prow-controller-manager", true}, {"plank", true}, {"sinker", true}, {"hook", true}, {"crier", true},
		{"horologium", true}, {"tide", true}, {"deck", true}, {"branchprotector", true}, {"status-reconciler", true},
		{"ghproxy", false}, {"gangway", false}, {"moonraker", false}, {"pipeline", false}, {"sub", false},
		{"gerrit", false}, {"webhook-server", false}, {"admission", false}, {"exporter", false},
		{"jenkins-operator", false}, {"peribolos", false}, {"tot", false}, {"needs-rebase", false},
		{"cherrypicker", false}, {"refresh", false}, {"invitations-accepter", false},
	}
}

// programOf tells which program of Prow a container runs. The name alone is not enough,
// for others have a deck or a pipeline too: the image is from a registry of Prow's, or
// the program is given Prow's configuration.
func programOf(image Image, args []string) (program, bool) {
	named := []string{path.Base(image.Repository)}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		named = append(named, path.Base(args[0]))
	}
	_, configured := flag(args, "config-path")
	ours := configured || strings.Contains(image.Repository, "prow")
	for _, program := range programs() {
		if ours && slices.ContainsFunc(named, func(name string) bool {
			return name == program.name || name == "prow-"+program.name
		}) {
			return program, true
		}
	}
	return program{}, false
}

// flag is the value of a flag, as Go's flag package reads it.
func flag(args []string, name string) (value string, given bool) {
	for i, word := range args {
		trimmed := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		if trimmed == word {
			continue
		}
		switch key, value, both := strings.Cut(trimmed, "="); {
		case key != name:
		case both:
			return value, true
		case i+1 < len(args):
			return args[i+1], true
		}
	}
	return "", false
}

// Flag is the value of one of the component's flags, such as config-path.
func (c Component) Flag(name string) (value string, given bool) { return flag(c.Args, name) }

// parseImage splits an image's reference. A colon in the first part is a port.
func parseImage(reference string) Image {
	var image Image
	image.Repository, image.Digest, _ = strings.Cut(reference, "@")
	slash := strings.LastIndex(image.Repository, "/")
	if colon := strings.LastIndex(image.Repository, ":"); colon > slash {
		image.Repository, image.Tag = image.Repository[:colon], image.Repository[colon+1:]
	}
	return image
}

// sourceOf finds the volume that a flag's path is in: that of the longest mount path
// above it.
func sourceOf(c Component, name string, mounts []mount, volumes []volume) *Source {
	file, given := c.Flag(name)
	if !given {
		return nil
	}
	source := &Source{Path: file}
	var in *mount
	for i, m := range mounts {
		below := file == m.MountPath || strings.HasPrefix(file, strings.TrimSuffix(m.MountPath, "/")+"/")
		if below && (in == nil || len(m.MountPath) > len(in.MountPath)) {
			in = &mounts[i]
		}
	}
	if in == nil {
		return source
	}
	rest := strings.Trim(strings.TrimPrefix(file, in.MountPath), "/")
	for _, v := range volumes {
		if v.Name == in.Name {
			source.of(v, c.Namespace, path.Join(in.SubPath, rest))
		}
	}
	return source
}

func (s *Source) of(v volume, namespace, rest string) {
	switch {
	case v.ConfigMap != nil:
		s.ConfigMap, s.Key = qualified(namespace, v.ConfigMap.Name), rest
		for _, item := range v.ConfigMap.Items {
			if item.Path == rest {
				s.Key = item.Key
			}
		}
	case v.Projected != nil:
		var names []string
		for _, source := range v.Projected.Sources {
			if source.ConfigMap != nil {
				names = append(names, source.ConfigMap.Name)
			}
		}
		s.Volume = "ConfigMaps " + strings.Join(names, ", ")
	default:
		s.Volume = "volume " + v.Name
	}
}
