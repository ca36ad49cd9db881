package azuresim

import (
	"slices"
	"strings"
)

// keptTypes are types of other providers of which the embedded Azure keeps resources as they were sent, and of which it
// therefore can say that one is absent. Types that a world has resources of are known besides. Any other might be there
// or not: nobody knows.
func keptTypes() map[string][]string {
	return map[string][]string{
		"Microsoft.Authorization": {"roleAssignments", "roleDefinitions", "locks", "policyAssignments", "policyDefinitions"},
		"Microsoft.Cdn":           {"profiles", "profiles/endpoints"},
		"Microsoft.Compute": {
			"availabilitySets", "disks", "images", "proximityPlacementGroups", "snapshots", "virtualMachines",
			"virtualMachines/extensions", "diskEncryptionSets", "galleries", "galleries/images", "galleries/images/versions",
		},
		"Microsoft.ContainerRegistry": {"registries", "registries/replications", "registries/scopeMaps", "registries/tokens"},
		"Microsoft.Dashboard":         {"grafana"},
		"Microsoft.DBforPostgreSQL":   {"flexibleServers", "flexibleServers/databases", "flexibleServers/configurations"},
		"Microsoft.DocumentDB": {
			"databaseAccounts", "databaseAccounts/sqlDatabases", "databaseAccounts/sqlDatabases/containers",
		},
		"Microsoft.EventGrid": {"namespaces", "topics", "systemTopics", "eventSubscriptions"},
		"Microsoft.EventHub":  {"namespaces", "namespaces/eventhubs", "namespaces/authorizationRules"},
		"Microsoft.Insights": {
			"actionGroups", "components", "dataCollectionEndpoints", "dataCollectionRules", "diagnosticSettings", "metricAlerts",
			"scheduledQueryRules", "activityLogAlerts",
		},
		"Microsoft.KeyVault": {"vaults", "vaults/secrets", "vaults/keys", "vaults/accessPolicies",
			"managedHSMs"},
		"Microsoft.KubernetesConfiguration": {"extensions", "fluxConfigurations"},
		"Microsoft.Kusto":                   {"clusters", "clusters/databases"},
		"Microsoft.ManagedIdentity": {"userAssignedIdentities",
			"userAssignedIdentities/federatedIdentityCredentials"},
		"Microsoft.Maps":    {"accounts"},
		"Microsoft.Monitor": {"accounts"},
		"Microsoft.Network": {
			"applicationGateways", "applicationSecurityGroups", "bastionHosts", "dnsZones", "firewallPolicies", "azureFirewalls",
			"dnsZones/A", "dnsZones/CNAME", "dnsZones/NS", "dnsZones/TXT", "frontDoors", "loadBalancers", "natGateways",
			"networkInterfaces", "networkSecurityGroups", "networkSecurityGroups/securityRules", "privateDnsZones",
			"privateDnsZones/A", "privateDnsZones/virtualNetworkLinks", "privateEndpoints",
			"privateEndpoints/privateDnsZoneGroups", "privateLinkServices", "publicIPAddresses", "publicIPPrefixes",
			"routeTables", "routeTables/routes", "trafficManagerProfiles", "virtualNetworks", "virtualNetworks/subnets",
			"virtualNetworks/virtualNetworkPeerings", "virtualNetworkGateways",
		},
		"Microsoft.OperationalInsights": {"workspaces", "workspaces/tables"},
		"Microsoft.Resources":           {"deploymentScripts", "templateSpecs", "templateSpecs/versions"},
		"Microsoft.ServiceBus":          {"namespaces", "namespaces/queues", "namespaces/topics"},
		"Microsoft.Sql":                 {"servers", "servers/databases", "servers/firewallRules"},
		"Microsoft.Storage": {
			"storageAccounts", "storageAccounts/blobServices", "storageAccounts/blobServices/containers",
			"storageAccounts/fileServices", "storageAccounts/queueServices", "storageAccounts/tableServices",
		},
		"Microsoft.Web": {"serverfarms", "sites", "sites/config"},
	}
}

// keeps says whether resources of a type are kept, so that what is not kept is absent.
func (m *model) keeps(kind string) bool {
	namespace, name, _ := strings.Cut(kind, "/")
	for known, types := range keptTypes() {
		if strings.EqualFold(known, namespace) &&
			slices.ContainsFunc(types, func(one string) bool { return strings.EqualFold(one, name) }) {
			return true
		}
	}
	return m.typesSeen[strings.ToLower(kind)]
}

func (r *holding) kind() string {
	kind, _ := r.body["type"].(string)
	return kind
}
