package cleanup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"salve/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// isSharedGroup tells the groups that many operators have their own below.
func isSharedGroup(group string) bool {
	return group == "k8s.io" || group == "x-k8s.io" || group == "kubernetes.io"
}

// CheckGroup finds names that are not the API group of one operator.
func CheckGroup(group string) error {
	switch problems := validation.IsDNS1123Subdomain(group); {
	case group == "":
		return errors.New("the API group is missing")
	case len(problems) > 0 || !strings.Contains(group, ".") || isSharedGroup(group):
		return fmt.Errorf("%q is not the API group of one operator, such as example.io", group)
	}
	return nil
}

// CheckNamespace finds names that are not the namespace of one operator.
func CheckNamespace(name string) error {
	switch problems := validation.IsDNS1123Label(name); {
	case name == "":
		return errors.New("the operator's namespace is missing")
	case len(problems) > 0:
		return fmt.Errorf("%q: %s", name, problems[0])
	case slices.Contains(JournalNamespaces(), name):
		return fmt.Errorf("%q is no operator's: Salve keeps the journals of all runs in it", name)
	case name == metav1.NamespaceDefault || strings.HasPrefix(name, "kube-"):
		return fmt.Errorf("%q is not an operator's own: it would be deleted with all that is in it", name)
	}
	return nil
}

// CheckSelectors finds label selectors that can't be read or that select what is
// others'.
func CheckSelectors(texts []string) error {
	for _, text := range texts {
		if _, err := kube.ParseSelector(text); err != nil {
			return err
		}
	}
	return nil
}

// CheckFinalizers finds what can't be a finalizer.
func CheckFinalizers(names []string) error {
	for _, name := range names {
		if problems := validation.IsQualifiedName(name); len(problems) > 0 {
			return fmt.Errorf("%q: %s", name, problems[0])
		}
	}
	return nil
}
