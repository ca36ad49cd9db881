package cleanup

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"salve/runbook"
)

// Left is a reading as decisions take it: values that are the same when they are read back from a record.
type Left struct {
	Definitions []LeftObject `json:"definitions"`
	Objects     LeftObjects  `json:"objects"`
	// Hooks and Owned are counted.
	Hooks int `json:"hooks"`
	Owned int `json:"owned"`
	// Namespace is nil when there is none.
	Namespace *LeftNamespace `json:"namespace"`
	Seen      time.Time      `json:"seen"`
}

// LeftObject is an object by its name and its identity.
type LeftObject struct {
	Name     string    `json:"name"`
	UID      types.UID `json:"uid"`
	Deleting bool      `json:"deleting"`
}

// LeftObjects are the custom resources, counted.
type LeftObjects struct {
	Total    int            `json:"total"`
	Deleting int            `json:"deleting"`
	Unread   []string       `json:"unread"`
	Counts   map[string]int `json:"counts"`
	Digest   string         `json:"digest"`
}

// LeftNamespace is the operator's namespace.
type LeftNamespace struct {
	LeftObject
	// Of is its name alone.
	Of string `json:"of"`
	// Journal names what a journal of Salve's own keeps in it.
	Journal []string `json:"journal"`
	// Hold says what keeps it from going; empty when nothing is seen to.
	Hold string `json:"hold"`
}

// Left gives what decisions take of a reading.
func (r *Reading) Left(seen time.Time) Left {
	left := Left{
		Hooks: len(r.Hooks), Owned: len(r.Owned), Seen: seen,
		Objects: LeftObjects{r.Objects.Total, r.Objects.Deleting, r.Objects.Unread, r.Objects.Counts, r.Objects.Digest},
	}
	for _, definition := range r.Definitions {
		left.Definitions = append(left.Definitions, LeftObject{definition.String(), definition.UID, definition.Deleting})
	}
	if of := r.Namespace; of != nil {
		left.Namespace = &LeftNamespace{LeftObject{of.String(), of.UID, of.Deleting}, of.Name, of.Journal, of.Hold()}
	}
	return left
}

// None tells whether nothing is left.
func (l Left) None() bool {
	return len(l.Definitions)+l.Hooks+l.Owned+l.Objects.Total == 0 && l.Namespace == nil
}

// String counts what is left.
func (l Left) String() string {
	text := fmt.Sprintf("%s with %s, %d of them being deleted; %s into the namespace, %s of the operator's own",
		count(len(l.Definitions), "CRD"), count(l.Objects.Total, "object"), l.Objects.Deleting,
		count(l.Hooks, "hook"), count(l.Owned, "other object"))
	if len(l.Objects.Unread) > 0 {
		text += "; not all can be read of " + strings.Join(l.Objects.Unread, ", ") +
			", which the operator would have to convert"
	}
	if l.Namespace == nil {
		return text + "; no namespace"
	}
	return text + "; namespace " + l.Namespace.Of
}

// Evidence pins what was read.
func (l Left) Evidence() []runbook.Evidence {
	all := []runbook.Evidence{runbook.NewEvidence("custom resources", l.Objects.Digest, l.Seen, l.Objects.Counts)}
	pinned := l.Definitions
	if l.Namespace != nil {
		pinned = append(pinned[:len(pinned):len(pinned)], l.Namespace.LeftObject)
	}
	for _, object := range pinned {
		all = append(all, runbook.NewEvidence(object.Name, string(object.UID), l.Seen,
			map[string]bool{"deleting": object.Deleting}))
	}
	return all
}
