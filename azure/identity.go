package azure

import (
	"fmt"
	"strings"

	"salve/internal/apierr"
)

// The types of resources, as ARM names them; it writes them in either case.
const (
	clusterType    = "Microsoft.ContainerService/managedClusters"
	poolType       = "Microsoft.ContainerService/managedClusters/agentPools"
	scaleSetType   = "Microsoft.Compute/virtualMachineScaleSets"
	deploymentType = "Microsoft.Resources/deployments"
)

// identity is what each resource says of itself.
type identity struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// check tells whether an answer is about the resource that was asked for. What a
// lying or confused proxy answers about another one is never taken for it.
func (i identity) check(wantedType, wantedID string) error {
	wantedName := wantedID[strings.LastIndex(wantedID, "/")+1:]
	if SameID(i.ID, wantedID) && strings.EqualFold(i.Name, wantedName) && strings.EqualFold(i.Type, wantedType) {
		return nil
	}
	return apierr.New(apierr.Terminal, "ARM answered with %q (type %q, name %q) for a request for %q of type %q",
		short(i.ID), short(i.Type), short(i.Name), wantedID, wantedType)
}

// ShortID is an ARM resource ID from its resource group on, or as it is: for people.
func ShortID(id string) string {
	if _, rest, found := strings.Cut(id, "/resourceGroups/"); found {
		return rest
	}
	return id
}

// SameID compares ARM resource IDs: without case, because AKS writes parts of
// them in either.
func SameID(a, b string) bool {
	return strings.EqualFold(strings.TrimRight(a, "/"), strings.TrimRight(b, "/"))
}

// within tells whether an ID is below another one.
func within(id, parent string) bool {
	parent = strings.TrimRight(parent, "/") + "/"
	return len(id) > len(parent) && strings.EqualFold(id[:len(parent)], parent)
}

// SubscriptionScope is the resource ID of a subscription.
func SubscriptionScope(subscription string) string { return "/subscriptions/" + subscription }

// GroupID is the resource ID of a resource group.
func GroupID(subscription, resourceGroup string) string {
	return SubscriptionScope(subscription) + "/resourceGroups/" + resourceGroup
}

// ClusterID is the resource ID of a managed cluster.
func ClusterID(subscription, resourceGroup, cluster string) string {
	return fmt.Sprintf("%s/providers/%s/%s", GroupID(subscription, resourceGroup), clusterType, cluster)
}

// PoolID is the resource ID of an agent pool.
func PoolID(clusterID, pool string) string { return clusterID + "/agentPools/" + pool }

func scaleSetID(subscription, resourceGroup, name string) string {
	return fmt.Sprintf("%s/providers/%s/%s", GroupID(subscription, resourceGroup), scaleSetType, name)
}
