package protector

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// others says why a branchprotector in a namespace is another Prow's, which protects nothing that this one does; empty
// where it counts as ours, and where that can't be told. The name of a namespace proves nothing, for somebody may have
// started ours elsewhere by hand; nor does another namespace of ProwJobs alone: a second instance for the same
// organization writes the same protections. Its whole configuration does.
func (r *Reader) others(ctx context.Context, namespace string, pod corev1.PodSpec) string {
	switch {
	case slices.Contains(r.Others, namespace):
		return "its namespace is named as another Prow's"
	case r.Ours == nil || r.ProwJobs == "" || namespace == r.ProwJobs:
		return ""
	}
	from, err := configurationOf(pod)
	if err != nil {
		return ""
	}
	they, err := r.configurationIn(ctx, namespace, from)
	if err != nil || they.prowJobs == r.ProwJobs || r.Ours.meets(they.scope) {
		return ""
	}
	return fmt.Sprintf("its configuration, ConfigMap %s/%s, has ProwJobs in namespace %s, and protects nothing that this "+
		"one does", namespace, from.name, they.prowJobs)
}

// configMapKey is where a pod has its configuration from, in its own namespace.
type configMapKey struct{ name, key string }

// configurationOf follows --config-path through the mounts of a pod. The error is that it has no configuration which is
// one key of a ConfigMap, and nothing else.
func configurationOf(pod corev1.PodSpec) (configMapKey, error) {
	container, is := protectorAmong(pod.Containers)
	words := append(slices.Clone(container.Command), container.Args...)
	switch {
	case !is:
		return configMapKey{}, errors.New("no branchprotector")
	case slices.ContainsFunc(words, addsToConfiguration):
		return configMapKey{}, errors.New("its configuration has other parts, or is not told by its arguments")
	}
	file := path.Clean(flagOf(words, "config-path"))
	mount, inside := mountOf(container.VolumeMounts, file)
	if mount.SubPath != "" || mount.SubPathExpr != "" { // of a part of a volume, names are not its keys
		return configMapKey{}, errors.New("its configuration is no key of a volume")
	}
	for _, volume := range pod.Volumes {
		if volume.Name == mount.Name && volume.ConfigMap != nil {
			return keyIn(volume.ConfigMap, inside)
		}
	}
	return configMapKey{}, errors.New("its configuration is in no ConfigMap")
}

// addsToConfiguration tells whether a word of a command names shards of config.yaml, which may protect more, or is put
// together from variables, which may say anything.
func addsToConfiguration(word string) bool {
	return strings.Contains(word, "supplemental-prow-config") || strings.Contains(word, "$")
}

// mountOf is the deepest mount with a file: it hides those above it. Inside is the file's path in it, empty where the
// file itself is mounted. Where none has it the mount has no name.
func mountOf(mounts []corev1.VolumeMount, file string) (deepest corev1.VolumeMount, inside string) {
	at := ""
	for _, mount := range mounts {
		place := path.Clean(mount.MountPath)
		if (file == place || strings.HasPrefix(file, strings.TrimSuffix(place, "/")+"/")) && len(place) > len(at) {
			deepest, at = mount, place
		}
	}
	return deepest, strings.TrimPrefix(strings.TrimPrefix(file, at), "/")
}

func keyIn(source *corev1.ConfigMapVolumeSource, file string) (configMapKey, error) {
	if len(source.Items) == 0 {
		return configMapKey{source.Name, file}, nil
	}
	for _, item := range source.Items {
		if path.Clean(item.Path) == file {
			return configMapKey{source.Name, item.Key}, nil
		}
	}
	return configMapKey{}, errors.New("its ConfigMap has no such file")
}

// flagOf is the value of a flag, in either of its spellings; of several the last one counts.
func flagOf(words []string, name string) (value string) {
	for i, word := range words {
		bare := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
		if bare == word {
			continue
		}
		if given, is := strings.CutPrefix(bare, name+"="); is {
			value = given
		} else if bare == name && i+1 < len(words) {
			value = words[i+1]
		}
	}
	return value
}

// configurationIn reads the configuration of a branchprotector in a ConfigMap.
func (r *Reader) configurationIn(ctx context.Context, namespace string, from configMapKey) (theirs, error) {
	var found *corev1.ConfigMap
	err := r.Cluster.Read(ctx, "reading the configuration of another branchprotector",
		func(ctx context.Context) (err error) {
			found, err = r.Cluster.Client.CoreV1().ConfigMaps(namespace).Get(ctx, from.name, metav1.GetOptions{})
			return err
		})
	if err != nil {
		return theirs{}, err
	}
	text, there := found.Data[from.key]
	if !there || found.Name != from.name || found.Namespace != namespace {
		return theirs{}, fmt.Errorf("ConfigMap %s/%s has no key %s", namespace, from.name, from.key)
	}
	return readTheirs(from.key, text)
}
