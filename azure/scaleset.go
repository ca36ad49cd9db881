package azure

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
)

// poolTag is the tag by which AKS says whose a scale set is.
const poolTag = "aks-managed-poolName"

// ScaleSet is a virtual machine scale set (VMSS) behind an agent pool.
type ScaleSet struct{ ID, Name string }

// ScaleSets lists the scale sets of a pool in the node resource group, by the
// tag that AKS sets. An empty list means that none is to be seen.
func (c *Client) ScaleSets(ctx context.Context, nodeResourceGroup, pool string) ([]ScaleSet, error) {
	client, err := armcompute.NewVirtualMachineScaleSetsClient(c.subscription, c.credential, c.options)
	if err != nil {
		return nil, err
	}
	var sets []ScaleSet
	pager := client.NewListPager(nodeResourceGroup, nil)
	for pager.More() {
		var page armcompute.VirtualMachineScaleSetsClientListResponse
		err := c.read(ctx, fmt.Sprintf("listing the scale sets of %q", nodeResourceGroup), func(ctx context.Context) error {
			page, err = pager.NextPage(ctx)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, set := range page.Value {
			if set != nil && value(set.Tags[poolTag]) == pool {
				sets = append(sets, ScaleSet{ID: value(set.ID), Name: value(set.Name)})
			}
		}
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
func (c *Client) Interfaces(ctx context.Context, nodeResourceGroup, scaleSet string, visit func(Interface) (more bool)) error {
	client, err := armnetwork.NewInterfacesClient(c.subscription, c.credential, c.options)
	if err != nil {
		return err
	}
	pager := client.NewListVirtualMachineScaleSetNetworkInterfacesPager(nodeResourceGroup, scaleSet, nil)
	for pager.More() {
		var page armnetwork.InterfacesClientListVirtualMachineScaleSetNetworkInterfacesResponse
		err := c.read(ctx, fmt.Sprintf("listing the network interfaces of scale set %q", scaleSet), func(ctx context.Context) error {
			page, err = pager.NextPage(ctx)
			return err
		})
		if err != nil {
			return err
		}
		for _, nic := range page.Value {
			if nic != nil && !visit(interfaceOf(nic)) {
				return nil
			}
		}
	}
	return nil
}

func interfaceOf(nic *armnetwork.Interface) Interface {
	seen := Interface{ID: value(nic.ID)}
	if nic.Properties == nil {
		return seen
	}
	if nic.Properties.VirtualMachine != nil {
		seen.Machine = value(nic.Properties.VirtualMachine.ID)
	}
	if nic.Properties.IPConfigurations != nil {
		count := len(nic.Properties.IPConfigurations)
		seen.Configurations = &count
	}
	return seen
}
