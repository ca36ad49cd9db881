package cleanup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/clock"
	"salve/kube"
)

// namesKept is how many bytes the names of an inventory may take in all: an entry of a
// journal in a cluster takes less than a megabyte.
const namesKept = 256 << 10

// Inventory is what there is of the objects of some definitions.
type Inventory struct {
	Total    int `json:"total"`
	Deleting int `json:"deleting"`
	// Releasable are being deleted and held by finalizers that may be removed.
	Releasable int `json:"releasable,omitempty"`
	// Unread are the resources of which not every object could be read, because the
	// operator that is gone would have to convert them.
	Unread []string `json:"unread,omitempty"`
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

// inventory reads the metadata of all objects of some definitions. It keeps their
// names, up to a limit.
func (o *Operator) inventory(ctx context.Context, of []Definition) (Inventory, error) {
	var all Inventory
	err := kube.RetryExpired(func() error {
		all = Inventory{Counts: map[string]int{}, Names: map[string]map[string][]string{}, digest: sha256.New()}
		for _, definition := range of {
			if err := o.inventoryOf(ctx, definition, &all); err != nil {
				return err
			}
		}
		all.Digest = hex.EncodeToString(all.digest.Sum(nil)[:8])
		return nil
	})
	return all, err
}

// conversionPatience is how long a definition's objects are tried to read that the
// operator would have to convert. It may have stored all of them in one version.
const conversionPatience = 5 * time.Second

func (o *Operator) inventoryOf(ctx context.Context, definition Definition, all *Inventory) error {
	limited := ctx
	if definition.conversion != nil {
		var cancel context.CancelFunc
		limited, cancel = clock.WithTimeout(ctx, o.Clock, conversionPatience)
		defer cancel()
	}
	_, err := o.eachOf(limited, definition, func(found *metav1.PartialObjectMetadata) error {
		held, stuck := o.stuckOf(definition.Defines, found)
		all.count(held, stuck, found)
		return nil
	})
	if definition.conversion != nil && apierr.ClassOf(err) == apierr.Transient && context.Cause(ctx) == nil &&
		!apierrors.IsResourceExpired(err) {
		all.Unread = append(all.Unread, definition.Defines.String())
		return nil
	}
	return err
}

// count takes an object into account; stuck says that held names who holds it.
func (c *Inventory) count(held Stuck, stuck bool, found *metav1.PartialObjectMetadata) {
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

func (c *Inventory) name(resource string, found *metav1.PartialObjectMetadata) {
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
