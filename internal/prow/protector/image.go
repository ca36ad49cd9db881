package protector

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// program is the name of Prow's program, and the last part of its images' names.
const program = "branchprotector"

// Image gives the image of the branchprotector among containers; false when there is none.
func Image(containers []corev1.Container) (string, bool) {
	container, is := protectorAmong(containers)
	return container.Image, is
}

func protectorAmong(containers []corev1.Container) (corev1.Container, bool) {
	for _, container := range containers {
		if IsProtector(container.Image, append(slices.Clone(container.Command), container.Args...)) {
			return container, true
		}
	}
	return corev1.Container{}, false
}

// IsProtector tells a branchprotector by its image's name, whatever the registry and the tag, or by its command.
func IsProtector(image string, command []string) bool {
	name, _, _ := strings.Cut(path.Base(strings.Split(image, "@")[0]), ":")
	if strings.Contains(name, program) {
		return true
	}
	for _, word := range command {
		if path.Base(word) == program {
			return true
		}
	}
	return false
}
