package azure

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
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
	begin := func() *runtime.Pager[armcompute.VirtualMachineScaleSetsClientListResponse] {
		return client.NewListPager(nodeResourceGroup, nil)
	}
	link := func(page armcompute.VirtualMachineScaleSetsClientListResponse) *string { return page.NextLink }
	err = pages(ctx, c, fmt.Sprintf("listing the scale sets of %q", nodeResourceGroup), begin, link, func(page armcompute.VirtualMachineScaleSetsClientListResponse) bool {
		for _, set := range page.Value {
			if set != nil && value(set.Tags[poolTag]) == pool {
				sets = append(sets, ScaleSet{ID: value(set.ID), Name: value(set.Name)})
			}
		}
		return true
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
func (c *Client) Interfaces(ctx context.Context, nodeResourceGroup, scaleSet string, visit func(Interface) (more bool)) error {
	client, err := armnetwork.NewInterfacesClient(c.subscription, c.credential, c.options)
	if err != nil {
		return err
	}
	type answer = armnetwork.InterfacesClientListVirtualMachineScaleSetNetworkInterfacesResponse
	begin := func() *runtime.Pager[answer] {
		return client.NewListVirtualMachineScaleSetNetworkInterfacesPager(nodeResourceGroup, scaleSet, nil)
	}
	link := func(page answer) *string { return page.NextLink }
	return pages(ctx, c, fmt.Sprintf("listing the network interfaces of scale set %q", scaleSet), begin, link, func(page answer) bool {
		for _, nic := range page.Value {
			if nic != nil && !visit(interfaceOf(nic)) {
				return false
			}
		}
		return true
	})
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
