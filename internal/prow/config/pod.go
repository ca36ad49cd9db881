package config

import (
	"salve/internal/diagnostic"

	"go.yaml.in/yaml/v3"
)

// Pod is what matters of a pod spec.
type Pod struct {
	Position diagnostic.Position
	// Images are those of all containers.
	Images []Located
	// Words are the commands and arguments of all containers.
	Words []string
	// ServiceAccount is empty where none is named.
	ServiceAccount Located
	// References are the Secrets and ConfigMaps that volumes, variables and pulling
	// images name, those of presets included.
	References []Reference

	containers     []container
	volumes        []volume
	initContainers int
}

type container struct {
	name, firstWord string
	env             []string
	mounts          []mount
}

type mount struct{ name, path string }

type volume struct {
	name       string
	references []Reference
}

// pod reads a pod spec; nil where there is none.
func (r *reader) pod(f field) *Pod {
	node := resolve(f.value)
	if node == nil {
		return nil
	}
	pod := &Pod{Position: r.at(f.key)}
	r.fields(node, f.path(), func(f field) bool {
		switch f.name {
		case "containers":
			pod.containers = r.containers(pod, f)
		case "initcontainers":
			pod.initContainers = len(r.containers(pod, f))
		case "volumes":
			pod.volumes = r.volumes(f)
		case "serviceaccountname", "serviceaccount":
			if value := r.located(f); value != nil && (f.name == "serviceaccountname" || pod.ServiceAccount.Value == "") {
				pod.ServiceAccount = *value
			}
		case "imagepullsecrets":
			r.each(f.value, f.path(), func(item *yaml.Node, path string) {
				pod.References = append(pod.References, r.reference(item, path, Secret, "imagePullSecrets"))
			})
		default:
			return knownPodField(f.name)
		}
		return true
	})
	return pod
}

func (r *reader) containers(pod *Pod, f field) []container {
	var containers []container
	r.each(f.value, f.path(), func(item *yaml.Node, path string) {
		var read container
		var command, args []string
		r.fields(item, path, func(f field) bool {
			switch f.name {
			case "name":
				read.name = r.text(f)
			case "image":
				if image := r.located(f); image != nil {
					pod.Images = append(pod.Images, *image)
				}
			case "command":
				command = r.texts(f)
			case "args":
				args = r.texts(f)
			case "env":
				var references []Reference
				read.env, references = r.env(f)
				pod.References = append(pod.References, references...)
			case "envfrom":
				pod.References = append(pod.References, r.envFrom(f)...)
			case "volumemounts":
				read.mounts = r.mounts(f)
			default:
				return knownContainerField(f.name)
			}
			return true
		})
		if words := append(command, args...); len(words) > 0 {
			read.firstWord, pod.Words = words[0], append(pod.Words, words...)
		}
		containers = append(containers, read)
	})
	return containers
}

// env reads variables: their names, and what they take their values from.
func (r *reader) env(f field) (names []string, references []Reference) {
	r.each(f.value, f.path(), func(item *yaml.Node, path string) {
		name := ""
		r.fields(item, path, func(f field) bool {
			switch f.name {
			case "name":
				name = r.text(f)
			case "value":
			case "valuefrom":
				r.fields(f.value, f.path(), func(f field) bool {
					switch f.name {
					case "secretkeyref":
						references = append(references, r.reference(f.value, f.path(), Secret, "env "+name))
					case "configmapkeyref":
						references = append(references, r.reference(f.value, f.path(), ConfigMap, "env "+name))
					case "fieldref", "resourcefieldref", "filekeyref":
					default:
						return false
					}
					return true
				})
			default:
				return false
			}
			return true
		})
		names = append(names, name)
	})
	return names, references
}

func (r *reader) envFrom(f field) []Reference {
	var references []Reference
	r.each(f.value, f.path(), func(item *yaml.Node, path string) {
		r.fields(item, path, func(f field) bool {
			switch f.name {
			case "secretref":
				references = append(references, r.reference(f.value, f.path(), Secret, "envFrom"))
			case "configmapref":
				references = append(references, r.reference(f.value, f.path(), ConfigMap, "envFrom"))
			case "prefix":
			default:
				return false
			}
			return true
		})
	})
	return references
}

// reference reads the several shapes in which Kubernetes names a Secret or a
// ConfigMap.
func (r *reader) reference(node *yaml.Node, path string, kind ObjectKind, from string) Reference {
	reference := Reference{Kind: kind, From: from, Position: r.at(node)}
	r.fields(node, path, func(f field) bool {
		switch f.name {
		case "name", "secretname":
			reference.Name, reference.Position = r.text(f), r.at(f.value)
		case "key":
			reference.Key = r.text(f)
		case "optional":
			reference.Optional = r.yes(f)
		}
		return true
	})
	return reference
}

func (r *reader) mounts(f field) []mount {
	var mounts []mount
	r.each(f.value, f.path(), func(item *yaml.Node, path string) {
		var read mount
		r.fields(item, path, func(f field) bool {
			switch f.name {
			case "name":
				read.name = r.text(f)
			case "mountpath":
				read.path = r.text(f)
			case "readonly", "recursivereadonly", "subpath", "subpathexpr", "mountpropagation":
			default:
				return false
			}
			return true
		})
		mounts = append(mounts, read)
	})
	return mounts
}
