package manifest

import (
	"crypto/sha256"
	"encoding/hex"

	"go.yaml.in/yaml/v3"
)

// text is a string and where it stands.
type text struct {
	value        string
	line, column int
}

func (t *text) UnmarshalYAML(node *yaml.Node) error {
	t.line, t.column = node.Line, node.Column
	return node.Decode(&t.value)
}

// object is what is read of any object. Unknown fields are somebody else's.
type object struct {
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name      text   `yaml:"name"`
		Namespace string `yaml:"namespace"`
	} `yaml:"metadata"`
	Items []yaml.Node `yaml:"items"`
	Data  yaml.Node   `yaml:"data"`
	Spec  yaml.Node   `yaml:"spec"`
}

// workload is the spec of a Deployment, a StatefulSet, a DaemonSet, a ReplicaSet, a Job
// or a CronJob.
type workload struct {
	Template    template `yaml:"template"`
	JobTemplate struct {
		Spec struct {
			Template template `yaml:"template"`
		} `yaml:"spec"`
	} `yaml:"jobTemplate"`
}

type template struct {
	Spec podSpec `yaml:"spec"`
}

type podSpec struct {
	ServiceAccount string      `yaml:"serviceAccountName"`
	InitContainers []container `yaml:"initContainers"`
	Containers     []container `yaml:"containers"`
	Volumes        []volume    `yaml:"volumes"`
}

type container struct {
	Name         string  `yaml:"name"`
	Image        text    `yaml:"image"`
	Command      []text  `yaml:"command"`
	Args         []text  `yaml:"args"`
	VolumeMounts []mount `yaml:"volumeMounts"`
}

type mount struct {
	Name      string `yaml:"name"`
	MountPath string `yaml:"mountPath"`
	SubPath   string `yaml:"subPath"`
}

type volume struct {
	Name      string `yaml:"name"`
	ConfigMap *struct {
		Name  string `yaml:"name"`
		Items []struct {
			Key  string `yaml:"key"`
			Path string `yaml:"path"`
		} `yaml:"items"`
	} `yaml:"configMap"`
	Projected *struct {
		Sources []struct {
			ConfigMap *struct {
				Name string `yaml:"name"`
			} `yaml:"configMap"`
		} `yaml:"sources"`
	} `yaml:"projected"`
}

// object takes one document, or one item of a list.
func (r *reader) object(name string, document *yaml.Node) error {
	if len(document.Content) == 0 || document.Kind == yaml.DocumentNode && document.Content[0].Kind != yaml.MappingNode {
		return nil // an empty document, or none of Kubernetes
	}
	var read object
	if err := document.Decode(&read); err != nil {
		return err
	}
	if read.Kind != "" && read.Kind != "List" {
		digest, err := digestOf(document)
		if err != nil {
			return err
		}
		r.set.Objects = append(r.set.Objects, Object{Kind: read.Kind, Namespace: read.Metadata.Namespace,
			Name: read.Metadata.Name.value, File: name, Digest: digest,
			Position: r.at(name, read.Metadata.Name.line, read.Metadata.Name.column)})
	}
	switch read.Kind {
	case "List":
		for i := range read.Items {
			if err := r.object(name, &read.Items[i]); err != nil {
				return err
			}
		}
	case "ConfigMap":
		return r.configMap(name, &read)
	case "Secret":
		r.set.Secrets[qualified(read.Metadata.Namespace, read.Metadata.Name.value)] =
			r.at(name, read.Metadata.Name.line, read.Metadata.Name.column)
	case "Pod":
		var pod podSpec
		if err := read.Spec.Decode(&pod); err != nil {
			return err
		}
		r.pod(name, &read, pod)
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob":
		var spec workload
		if err := read.Spec.Decode(&spec); err != nil {
			return err
		}
		if read.Kind == "CronJob" {
			spec.Template = spec.JobTemplate.Spec.Template
		}
		r.pod(name, &read, spec.Template.Spec)
	}
	return nil
}

// digestOf is the same for whatever decodes to the same: comments and the order of fields play no part.
func digestOf(document *yaml.Node) (string, error) {
	var content any
	if err := document.Decode(&content); err != nil {
		return "", err
	}
	raw, err := yaml.Marshal(content) // maps are in order
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

func (r *reader) configMap(name string, read *object) error {
	made := ConfigMap{Position: r.at(name, read.Metadata.Name.line, read.Metadata.Name.column)}
	if read.Data.Kind != 0 {
		if err := read.Data.Decode(&made.Data); err != nil {
			return err
		}
	}
	r.set.ConfigMaps[qualified(read.Metadata.Namespace, read.Metadata.Name.value)] = made
	return nil
}

func (r *reader) pod(name string, of *object, pod podSpec) {
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		image := parseImage(c.Image.value)
		image.Position = r.at(name, c.Image.line, c.Image.column)
		var args []string
		for _, word := range append(c.Command, c.Args...) {
			args = append(args, word.value)
		}
		program, ok := programOf(image, args)
		if !ok {
			continue
		}
		made := Component{Name: program.name, Core: program.core, Kind: of.Kind, Namespace: of.Metadata.Namespace,
			Object: of.Metadata.Name.value, ServiceAccount: pod.ServiceAccount, Position: image.Position, Image: image,
			Args: args}
		made.Config = sourceOf(made, "config-path", c.VolumeMounts, pod.Volumes)
		made.JobConfig = sourceOf(made, "job-config-path", c.VolumeMounts, pod.Volumes)
		r.set.Components = append(r.set.Components, made)
	}
}
