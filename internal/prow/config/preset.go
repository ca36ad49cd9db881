package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"salve/internal/diagnostic"
)

// Preset is what is added to the pod of each job that has all of its labels.
type Preset struct {
	Position diagnostic.Position
	Labels   map[string]string

	env        []string
	references []Reference // of env
	volumes    []volume
	mounts     []mount
}

func (r *reader) preset(node *yaml.Node, path string) *Preset {
	preset := &Preset{Position: r.at(node)}
	r.fields(node, path, func(f field) bool {
		switch f.name {
		case "labels":
			preset.Labels = map[string]string{}
			r.entries(f.value, f.path(), func(f field) { preset.Labels[f.name] = r.label(f) })
		case "env":
			preset.env, preset.references = r.env(f)
		case "volumes":
			preset.volumes = r.volumes(f)
		case "volumemounts":
			preset.mounts = r.mounts(f)
		case "tolerations":
		default:
			return false
		}
		return true
	})
	return preset
}

// label is a preset's, where Prow takes true for "true".
func (r *reader) label(f field) string {
	node := resolve(f.value)
	if node != nil && node.Kind == yaml.ScalarNode {
		return keyText(node)
	}
	return r.text(f)
}

// fits is whether a job has all labels of the preset. One without labels fits all.
func (p *Preset) fits(labels map[string]string) bool {
	for label, value := range p.Labels {
		if has, ok := labels[label]; !ok || has != value {
			return false
		}
	}
	return true
}

// apply adds the preset to a pod. The error names what the pod has already.
func (p *Preset) apply(pod *Pod) error {
	for _, name := range p.env {
		for i := range pod.containers {
			if slices.Contains(pod.containers[i].env, name) {
				return fmt.Errorf("env var duplicated in pod spec: %s", name)
			}
			pod.containers[i].env = append(pod.containers[i].env, name)
		}
	}
	if len(pod.containers) > 0 {
		pod.References = append(pod.References, p.references...)
	}
	for _, added := range p.volumes {
		if slices.ContainsFunc(pod.volumes, func(v volume) bool { return v.name == added.name }) {
			return fmt.Errorf("volume duplicated in pod spec: %s", added.name)
		}
		pod.volumes = append(pod.volumes, added)
	}
	for _, added := range p.mounts {
		for i := range pod.containers {
			mounts := &pod.containers[i].mounts
			if slices.ContainsFunc(*mounts, func(m mount) bool { return m.name == added.name }) {
				return fmt.Errorf("volume mount duplicated in pod spec: %s", added.name)
			}
			*mounts = append(*mounts, added)
		}
	}
	return nil
}

// presetLabels refuses a label with one value in two presets.
func (l *loader) presetLabels() {
	seen := map[string]bool{}
	for _, preset := range l.config.Presets {
		for _, label := range sortedKeys(preset.Labels) {
			pair := label + ":" + preset.Labels[label]
			if seen[pair] {
				l.refuse(preset.Position, "duplicate preset label %s", pair)
			}
			seen[pair] = true
		}
	}
}
