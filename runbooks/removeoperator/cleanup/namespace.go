package cleanup

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/kube"
)

// JournalNamespaces are those that runs are recorded in when no other is named: records, keys and leases in the
// first one, exports in the second.
func JournalNamespaces() []string { return []string{"salve-system", "salve-system-exports"} }

// What a journal in a cluster keeps is labelled as Salve's or with the run that it is of. The keys of records may be
// made by hand, without a label (deploy/remove-operator-role.yaml): they are known by their name.
const (
	managerLabel  = "app.kubernetes.io/managed-by"
	managerName   = "salve"
	runLabel      = "salve-run"
	journalKeyFor = "journal-key-"
)

// shownOfJournal is how many objects of each kind of a journal are named.
const shownOfJournal = 5

func isJournals(resource kube.Resource, found metav1.Object) bool {
	_, ofRun := found.GetLabels()[runLabel]
	key := resource == secrets && strings.HasPrefix(found.GetName(), journalKeyFor)
	return ofRun || key || found.GetLabels()[managerLabel] == managerName
}

// Namespace is one reading of a namespace.
type Namespace struct {
	kube.Object
	Deleting bool
	// Journal names what a journal of Salve's own keeps in it: records, keys, exports and leases of runs.
	Journal []string
	// Stuck are the objects that keep it from going, once it is being deleted.
	Stuck []Stuck
}

// Hold says what keeps the namespace; empty when nothing is seen to.
func (n *Namespace) Hold() string {
	if len(n.Stuck) == 0 {
		return ""
	}
	shownHeld := names(n.Stuck[:min(len(n.Stuck), shown)])
	return ", and it waits for " + strings.Join(shownHeld, ", ")
}

// namespace reads the operator's namespace; it is nil when there is none.
func (o *Operator) namespace(ctx context.Context, passOver func(group string) bool) (*Namespace, error) {
	found, err := o.MetadataOf(ctx, kube.Object{Resource: namespaces, Name: o.Namespace})
	if found == nil || err != nil {
		return nil, err
	}
	seen := &Namespace{Object: kube.ObjectOf(namespaces, found), Deleting: found.DeletionTimestamp != nil}
	if isJournals(namespaces, found) {
		seen.Journal = []string{seen.String()}
	}
	for _, resource := range []kube.Resource{configMaps, secrets, leases} {
		kept, err := o.journalsOf(ctx, resource)
		if err != nil {
			return nil, err
		}
		seen.Journal = append(seen.Journal, kept...)
	}
	if seen.Deleting {
		seen.Stuck, err = o.stuckIn(ctx, passOver)
	}
	return seen, err
}

// journalsOf names the objects of a resource that a journal keeps in the namespace.
func (o *Operator) journalsOf(ctx context.Context, resource kube.Resource) (kept []string, _ error) {
	err := kube.RetryExpired(func() error {
		kept = nil
		_, err := o.EachObject(ctx, resource, kube.Scope{Namespace: o.Namespace},
			func(found *metav1.PartialObjectMetadata) error {
				if isJournals(resource, found) && len(kept) < shownOfJournal {
					kept = append(kept, kube.ObjectOf(resource, found).String())
				}
				return nil
			})
		return err
	})
	return kept, err
}
