package schema

import (
	"maps"
	"slices"
	"strings"
)

// actions are all that a step can do: those of pipeline.schema.v1, and at the end
// Salve's own.
var actions = withEveryStep(map[string]record{
	"ARM": {fields: slices.Concat(deployment, may(oneOf("incremental", "complete"), "deploymentMode"),
		may(flag{}, "outputOnly"),
		may(length{}, "timeout"))}, // the last is Salve's own
	"ARMStack": {fields: slices.Concat(deployment,
		must(oneOf("delete", "detach"), "actionOnUnmanage"), may(flag{}, "bypassStackOutOfSyncError"),
		may(length{}, "timeout"))}, // the last is Salve's own
	"Shell": {fields: slices.Concat(
		must(someText, "command"),
		must(value, "shellIdentity"),
		may(length{}, "timeout"),
		may(anyText, "aksCluster", "subnetName", "workingDir"),
		may(variables, "variables"),
		may(record{called: "dryRun", fields: slices.Concat(may(anyText, "command"), may(variables, "variables"))}, "dryRun"),
		may(list{of: artifact}, "adoArtifacts"),
		may(list{of: someText}, "outputs"), // Salve's own, as is the last
		may(someText, "observe"),
	)},
	"Helm": {fields: slices.Concat(
		must(anyText, "aksCluster", "releaseName", "releaseNamespace", "kustoDatabase", "kustoTable"),
		must(path{}, "chartDir", "valuesFile"),
		must(input, "identityFrom", "kustoEndpoint"),
		may(anyText, "subnetName"),
		may(list{of: path{}}, "namespaceFiles"),
		may(flag{}, "rollbackOnFailure"),
		may(length{}, "timeout"),
		may(names{of: input}, "inputVariables"),
	)},
	"ImageMirror": {fields: slices.Concat(
		may(value, "targetACR", "sourceRegistry", "repository", "digest", "imageFilePath", "imageTarFileName",
			"imageMetadataFileName", "pullSecretKeyVault", "pullSecretName", "shellIdentity"),
		may(oneOf("oci-layout"), "copyFrom"),
		may(flag{}, "publicSource"),
		may(anyText, "artifactName", "buildId", "adoProject"),
	), demands: either(
		strings.Fields("targetACR sourceRegistry repository digest pullSecretKeyVault pullSecretName shellIdentity"),
		strings.Fields("targetACR sourceRegistry repository digest publicSource shellIdentity"),
		strings.Fields("targetACR repository copyFrom imageTarFileName imageMetadataFileName shellIdentity adoProject "+
			"artifactName buildId"),
	)},
	"DelegateChildZone": {fields: slices.Concat(
		must(value, "parentZone", "childZone", "secretKeyVault", "secretName", "dstsHost"), may(value, "deploymentMode"))},
	"SetCertificateIssuer": {fields: must(value, "vaultBaseUrl", "issuer", "secretKeyVault", "secretName",
		"applicationId")},
	"CreateCertificate": {fields: slices.Concat(
		must(value, "vaultBaseUrl", "certificateName", "contentType", "san", "issuer", "secretKeyVault", "secretName",
			"applicationId", "commonName"),
		may(value, "manage"))},
	"ResourceProviderRegistration": {fields: must(value, "resourceProviderNamespaces")},
	"ProviderFeatureRegistration": {fields: slices.Concat(must(configRef{}, "providerConfigRef"),
		must(input, "identityFrom"))},
	"FeatureRegistration": {fields: slices.Concat(must(configRef{}, "providerConfigRef"),
		must(value, "secretKeyVault", "secretName"))},
	"Ev2Registration": {fields: must(input, "identityFrom")},
	"SecretSync": {fields: slices.Concat(
		must(path{}, "configurationFile"), must(someText, "encryptionKey", "keyVault"), must(input, "identityFrom"))},
	"Kusto": {fields: must(value, "secretKeyVault", "secretName", "applicationId", "connectionString", "command")},
	"KustoEntityGroups": {fields: slices.Concat(
		must(list{of: anyText, filled: true}, "entityGroups"), must(input, "identityFrom"),
		may(anyText, "environment"), may(length{}, "timeout"))},
	"GrafanaDashboards": {fields: slices.Concat(
		must(anyText, "grafanaName"), must(path{}, "observabilityConfig"), must(input, "identityFrom"),
		may(length{}, "timeout"))},
	"GrafanaDatasources": {fields: slices.Concat(
		must(anyText, "grafanaName"), must(input, "identityFrom"), may(oneOf("true", "false"), "skipSync"),
		may(length{}, "timeout"))},
	"GrafanaManage": {fields: slices.Concat(
		must(value, "grafanaName", "location"), must(input, "identityFrom"), may(length{}, "timeout"),
		may(value, "sku", "majorVersion", "zoneRedundancy", "publicNetworkAccess", "crossTenantSecurityGroup"),
		may(record{called: "adx", fields: slices.Concat(must(value, "enabled"),
			may(value, "environment", "geographies", "scenario", "targetResourceId"))}, "adx"))},
	"IstioUpgrade": {fields: slices.Concat(must(value, "aksCluster"), may(length{}, "timeout"),
		may(input, "identityFrom"))},
	"ProwJob": {fields: slices.Concat(
		must(anyText, "tokenKeyvault", "tokenSecret", "jobName", "gatePromotion"), must(input, "identityFrom"),
		may(anyText, "allowedSubscriptions", "commit", "repo", "baseRef"), may(value, "dryRun"))},
	"Pav2": {fields: slices.Concat(
		must(oneOf("All", "AddAccount", "ManageAppId"), "operation"),
		must(value, "secretKeyVault", "secretName"),
		may(value, "storageAccount", "smeEndpointSuffixParameter", "smeAppidParameter"),
	), demands: demandsBy("operation", map[string][]string{
		"All":         strings.Fields("storageAccount smeEndpointSuffixParameter smeAppidParameter"),
		"AddAccount":  strings.Fields("storageAccount smeEndpointSuffixParameter"),
		"ManageAppId": strings.Fields("smeAppidParameter"),
	})},
	"RPLogsAccount":      logsAccount,
	"ClusterLogsAccount": logsAccount,
	"GenevaHealth": {fields: slices.Concat(
		must(value, "secretKeyVault", "secretName", "monitoringAccountName"), must(artifact, "genevaConfigsArtifact"),
		may(anyText, "monitorConfigPath", "topologyConfigPath", "configPackagePath", "monitorV2ScopeBindingFile"),
		may(names{of: value}, "additionalScopeBindings"))},
	"PublishGenevaAction": {fields: slices.Concat(
		must(value, "secretKeyVault", "secretName", "gaExtensionName"), must(anyText, "gaPackagePath"),
		must(artifact, "genevaActionArtifact"), may(flag{}, "useBetaEndpoint"))},
	"RunGenevaAction": {fields: slices.Concat(
		must(value, "secretKeyVault", "secretName", "gaExtensionName", "gaOperationId"), may(value, "gaEndpoint"),
		may(anyText, "maxExecutionTime"), may(names{of: value}, "payloadProperties"))},
	"PublishGenevaAutomation": {fields: slices.Concat(
		must(value, "secretKeyVault", "kustoClientSecretName", "genevaAutomationSecretName", "icmServiceId"),
		must(anyText, "workflowPath"), must(artifact, "genevaAutomationArtifact"), may(value, "icmTeamId"))},

	"Runbook": {fields: slices.Concat(
		must(someText, "runbook"), may(names{of: argument{}}, "with"),
		may(oneOf("fail", "continue"), "onUndecided"), may(length{}, "timeout"))},
	"Soak": {fields: slices.Concat(must(stepRef, "since"), must(length{}, "duration"))},
})

var actionNames = slices.Sorted(maps.Keys(actions))

// Actions names all that a step can do, sorted.
func Actions() []string { return slices.Clone(actionNames) }

// deployment is what ARM and ARMStack have in common.
var deployment = slices.Concat(
	must(path{}, "template", "parameters"),
	must(oneOf("ResourceGroup", "Subscription"), "deploymentLevel"),
	may(variables, "variables"),
)

var logsAccount = record{fields: slices.Concat(
	must(oneOf("FluentBit", "ClassicRPLog", "ClassicClusterLog", "AccountSetup"), "rolloutKind"),
	must(value, "secretKeyVault", "secretName", "environment"),
	may(value, "typeName", "accountName", "metricsAccount", "adminAlias", "adminGroup", "subscriptionId", "namespace",
		"certsan", "certdescription", "configVersion", "monikerDefaultRegion", "database", "mdsdConfigFile"),
	may(names{of: record{called: "an event source", fields: slices.Concat(must(anyText, "name"),
		may(anyText, "account"))}}, "eventSources"),
), demands: demandsBy("rolloutKind", map[string][]string{
	"FluentBit":         strings.Fields("accountName namespace certsan certdescription configVersion eventSources"),
	"ClassicRPLog":      strings.Fields("certsan certdescription"),
	"ClassicClusterLog": strings.Fields("certsan certdescription"),
	"AccountSetup": strings.Fields("accountName metricsAccount adminAlias adminGroup subscriptionId namespace " +
		"monikerDefaultRegion database"),
})}

// withEveryStep gives each action its name and what all steps have.
func withEveryStep(known map[string]record) map[string]record {
	for action, shape := range known {
		shape.called = "a step with the action " + action
		shape.fields = slices.Concat(everyStep, shape.fields)
		known[action] = shape
	}
	return known
}
