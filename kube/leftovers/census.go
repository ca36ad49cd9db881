package leftovers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"salve/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namesKept is how many bytes the names of a census may take in all: an entry of a
// journal in a cluster takes less than a megabyte.
const namesKept = 256 << 10

// Census is what there is of the objects of some definitions.
type Census struct {
	Total    int `json:"total"`
	Deleting int `json:"deleting"`
	// Releasable are being deleted and held by finalizers that may be removed.
	Releasable int `json:"releasable,omitempty"`
	// Counts are the objects of each resource that has any.
	Counts map[string]int `json:"counts,omitempty"`
	// Names are all names, by resource and namespace; nil when they are too many.
	Names map[string]map[string][]string `json:"names,omitempty"`
	// Examples are the first objects, with who holds those that are being deleted.
	Examples []string `json:"examples,omitempty"`
	// Digest stands for the identity of every object.
	Digest string `json:"digest"`

	digest hash.Hash
	bytes  int
}

// census reads the metadata of all objects of some definitions. It keeps their
// names, up to a limit.
func (o *Operator) census(ctx context.Context, of []Definition) (Census, error) {
	var all Census
	err := kube.Afresh(func() error {
		all = Census{Counts: map[string]int{}, Names: map[string]map[string][]string{}, digest: sha256.New()}
		for _, definition := range of {
			_, err := o.eachOf(ctx, definition, func(found *metav1.PartialObjectMetadata) error {
				held, stuck := o.heldOf(definition.Defines, found)
				all.count(held, stuck, found)
				return nil
			})
			if err != nil {
				return err
			}
		}
		all.Digest = hex.EncodeToString(all.digest.Sum(nil)[:8])
		return nil
	})
	return all, err
}

// count takes an object into account; stuck says that held names who holds it.
func (c *Census) count(held Held, stuck bool, found *metav1.PartialObjectMetadata) {
	resource := held.Resource.String()
	c.Total++
	c.Counts[resource]++
	fmt.Fprintln(c.digest, held.Object, held.UID)
	if found.DeletionTimestamp != nil {
		c.Deleting++
	}
	if len(held.Own) > 0 {
		c.Releasable++
	}
	if len(c.Examples) < shown {
		example := held.Object.String()
		if stuck {
			example = held.String()
		}
		c.Examples = append(c.Examples, example)
	}
	c.name(resource, found)
}

func (c *Census) name(resource string, found *metav1.PartialObjectMetadata) {
	if c.bytes += len(found.Name) + len(`"",`); c.bytes > namesKept {
		c.Names = nil
	}
	if c.Names == nil {
		return
	}
	if c.Names[resource] == nil {
		c.Names[resource] = map[string][]string{}
	}
	if c.Names[resource][found.Namespace] == nil {
		c.bytes += len(found.Namespace) + len(`"":[],`)
	}
	c.Names[resource][found.Namespace] = append(c.Names[resource][found.Namespace], found.Name)
}
