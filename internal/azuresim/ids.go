package azuresim

import "fmt"

const (
	clusterType = "Microsoft.ContainerService/ManagedClusters"
	// managedClusters is the cluster's type as ARM itself writes it.
	managedClusters = "Microsoft.ContainerService/managedClusters"
	poolType        = "Microsoft.ContainerService/managedClusters/agentPools"
	scaleSetType    = "Microsoft.Compute/virtualMachineScaleSets"
)

// AKS writes resource IDs with /resourcegroups/ in lower case, and its types with a capital: clients have to compare
// without case, so the embedded Azure does as AKS does.

func (m *model) clusterID() string {
	return fmt.Sprintf("/subscriptions/%s/resourcegroups/%s/providers/Microsoft.ContainerService/managedClusters/%s",
		m.scenario.Subscription, m.scenario.ResourceGroup, m.scenario.Cluster)
}

func (m *model) poolID(name string) string { return m.clusterID() + "/agentPools/" + name }

func (m *model) nodeGroup() string {
	return fmt.Sprintf("MC_%s_%s_%s", m.scenario.ResourceGroup, m.scenario.Cluster, m.scenario.Location)
}

func (m *model) scaleSetID(name string) string {
	return m.groupID(m.nodeGroup()) + "/providers/" + scaleSetType + "/" + name
}

func (m *model) machineID(set string, index int) string {
	return fmt.Sprintf("%s/virtualMachines/%d", m.scaleSetID(set), index)
}

func (m *model) subnetID() string {
	return m.groupID(m.scenario.ResourceGroup) + "/providers/Microsoft.Network/virtualNetworks/vnet/subnets/nodes"
}

// fqdn is the name of the cluster's API server: that of the given cluster, or one that leads nowhere.
func (m *model) fqdn() string {
	if m.server != "" {
		return m.server
	}
	return fmt.Sprintf("%s-%s.hcp.%s.azmk8s.io", m.scenario.Cluster, m.names.digits("fqdn"), m.scenario.Location)
}
