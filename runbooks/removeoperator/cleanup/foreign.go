package cleanup

import (
	"fmt"
	"slices"
)

// ForeignError says that the record of a run, or its bundle, names what the run was not asked to touch. A record
// is memory and no authority: nothing of it is used then.
type ForeignError struct {
	// What is named, and by what.
	What, By string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("conflict: %s names %s, which this run was not asked to touch", e.By, e.What)
}

// checkBundle compares what a record says of its bundle with what was asked.
func (o *Operator) checkBundle(b Bundle) error {
	switch {
	case b.File != o.Bundle:
		return &ForeignError{fmt.Sprintf("file %q", b.File), "the run's record"}
	case b.Namespace != "" && b.Namespace != o.Namespace:
		return &ForeignError{fmt.Sprintf("namespace %q", b.Namespace), "the run's record"}
	case (b.Namespace == "") != (b.NamespaceUID == ""):
		return &ForeignError{fmt.Sprintf("namespace %q with UID %q", b.Namespace, b.NamespaceUID), "the run's record"}
	case b.File == "" && (b.Bytes < 0 || b.Bytes > mostExported):
		return &ForeignError{fmt.Sprintf("a bundle of %d bytes", b.Bytes), "the run's record"}
	}
	return nil
}

// checkEntry compares an object of a bundle with what the operator is known by. That a CRD's name is made of
// its plural and its group, as the API server demands, was checked when it was read.
func (o *Operator) checkEntry(entry Entry) error {
	own := false
	switch entry.Role {
	case RoleDefinition:
		own = entry.Definition != nil && inGroup(entry.Definition.Defines.Group, o.Group)
	case RoleObject:
		own = inGroup(entry.Resource.Group, o.Group) && entry.Resource.Namespaced == (entry.Namespace != "")
	case RoleNamespace:
		own = entry.Resource == namespaces && entry.Name == o.Namespace
	case RoleContent:
		own = entry.Namespace == o.Namespace
	case RoleHook:
		own = slices.Contains(hookResources(), entry.Resource)
	case RoleOwned:
		own = slices.Contains(ownedResources(), entry.Resource)
	}
	if !own || entry.UID == "" || entry.Name == "" {
		return &ForeignError{fmt.Sprintf("%s (as %q)", entry.Object, entry.Role), "the run's bundle"}
	}
	return nil
}
