package azure

import (
	"context"
	"fmt"
	"strings"

	"salve/internal/apierr"
)

// Scale sets and their network interfaces are asked for by plain requests: the SDK's
// modules of Compute and Network are huge, and two lists are all that is needed.
const (
	// https://learn.microsoft.com/rest/api/compute/virtual-machine-scale-sets/list
	scaleSetsVersion = "2024-07-01"
	// https://learn.microsoft.com/rest/api/virtualnetwork/network-interface-in-vm-ss:
	// list-virtual-machine-scale-set-network-interfaces
	interfacesVersion = "2018-10-01"
)

// poolTag is the tag by which AKS says whose a scale set is.
const poolTag = "aks-managed-poolName"

// ScaleSet is a virtual machine scale set (VMSS) behind an agent pool.
type ScaleSet struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ScaleSets lists the scale sets of a pool in the node resource group, by the
// tag that AKS sets. An empty list means that none is to be seen.
func (c *Client) ScaleSets(ctx context.Context, nodeResourceGroup, pool string) ([]ScaleSet, error) {
	type item struct {
		identity
		Tags map[string]string `json:"tags"`
	}
	doing := fmt.Sprintf("listing the scale sets of %q", nodeResourceGroup)
	path := strings.TrimSuffix(scaleSetID(c.subscription, nodeResourceGroup, ""), "/")
	var sets []ScaleSet
	err := list(ctx, c, doing, c.address(path, scaleSetsVersion, nil), func(set item) (bool, error) {
		if set.Tags[poolTag] != pool {
			return true, nil
		}
		if err := set.check(scaleSetType, scaleSetID(c.subscription, nodeResourceGroup, set.Name)); err != nil {
			return false, fmt.Errorf("%s: %w", doing, err)
		}
		sets = append(sets, ScaleSet{ID: set.ID, Name: set.Name})
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return sets, nil
}

// Interface is a network interface of an instance of a scale set.
type Interface struct {
	ID string
	// Machine is the ID of the instance that has it; empty when it isn't realized.
	Machine string
	// Configurations is nil when the answer had none or null: that is not known,
	// and different from an explicit empty list.
	Configurations *int
}

// Interfaces streams the network interfaces of a scale set until visit says to
// stop.
func (c *Client) Interfaces(
	ctx context.Context, nodeResourceGroup, scaleSet string, visit func(Interface) (more bool),
) error {
	type reference struct {
		ID string `json:"id"`
	}
	type item struct {
		ID         string `json:"id"`
		Properties struct {
			VirtualMachine   *reference   `json:"virtualMachine"`
			IPConfigurations *[]reference `json:"ipConfigurations"`
		} `json:"properties"`
	}
	doing := fmt.Sprintf("listing the network interfaces of scale set %q", scaleSet)
	set := scaleSetID(c.subscription, nodeResourceGroup, scaleSet)
	return list(ctx, c, doing, c.address(set+"/networkInterfaces", interfacesVersion, nil), func(nic item) (bool, error) {
		if !within(nic.ID, set) {
			return false, apierr.New(apierr.Terminal, "%s: ARM answered with %q, which is not of %q", doing, short(nic.ID), set)
		}
		seen := Interface{ID: nic.ID}
		if nic.Properties.VirtualMachine != nil {
			seen.Machine = nic.Properties.VirtualMachine.ID
		}
		if nic.Properties.IPConfigurations != nil {
			count := len(*nic.Properties.IPConfigurations)
			seen.Configurations = &count
		}
		return visit(seen), nil
	})
}
