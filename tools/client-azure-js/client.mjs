// Azure's SDK for JavaScript against an Azure that salve-sim serves. Each call is a row with what it has to come to:
// works as real, refused as real (with the code), or 501: the embedded Azure does not know this call.
//
//   node client.mjs ENDPOINT SUBSCRIPTION        (NODE_EXTRA_CA_CERTS names the served certificate)
import { ContainerServiceClient } from "@azure/arm-containerservice";
import { ComputeManagementClient } from "@azure/arm-compute";
import { NetworkManagementClient } from "@azure/arm-network";
import { ResourceManagementClient } from "@azure/arm-resources";
import { DeploymentsClient } from "@azure/arm-resourcesdeployments";
import { MonitorClient } from "@azure/arm-monitor";
import { ClientSecretCredential } from "@azure/identity";

const [endpoint, subscription] = process.argv.slice(2);
const group = "fleet", cluster = "aks-1", nodeGroup = "MC_fleet_aks-1_westeurope", location = "westeurope";
const scope = `/subscriptions/${subscription}/resourceGroups/${group}`;
const clusterID = `${scope}/providers/Microsoft.ContainerService/managedClusters/${cluster}`;
const vaultID = `${scope}/providers/Microsoft.KeyVault/vaults/kv`;

const credential = new ClientSecretCredential("7e4a4700-0000-4000-8000-000000000002",
  "c11e4700-0000-4000-8000-000000000003", "any", { authorityHost: endpoint, disableInstanceDiscovery: true });
const options = { endpoint, credentialScopes: [`${endpoint}/.default`], retryOptions: { maxRetries: 0 } };
const aks = new ContainerServiceClient(credential, subscription, options);
const compute = new ComputeManagementClient(credential, subscription, options);
const network = new NetworkManagementClient(credential, subscription, options);
const resources = new ResourceManagementClient(credential, subscription, options);
const deployments = new DeploymentsClient(credential, subscription, options);
const monitor = new MonitorClient(credential, subscription, options);

const all = async (pages) => { const items = []; for await (const item of pages) items.push(item); return items; };
const has = (what, check) => { if (!check) throw new Error(`the answer lacks ${what}`); };
const quick = { updateIntervalInMs: 200 };
const rows = [];
const works = (name, call) => rows.push({ name, call, want: "works" });
const refused = (name, code, call) => rows.push({ name, call, want: `refused ${code}` });
const unknown = (name, call) => rows.push({ name, call, want: "501" });

const pool = (more) => ({ count: 1, vmSize: "Standard_D4ds_v5", mode: "User", ...more });
let set = "", etag = "", since = new Date(Date.now() - 30 * 24 * 3600 * 1000).toISOString();

// --- @azure/arm-containerservice
works("managedClusters.list", async () => has("the cluster", (await all(aks.managedClusters.list()))[0].name === cluster));
works("managedClusters.listByResourceGroup", async () => has("the cluster", (await all(aks.managedClusters.listByResourceGroup(group))).length === 1));
works("managedClusters.get", async () => {
  const got = await aks.managedClusters.get(group, cluster);
  has("its pools", got.agentPoolProfiles.length === 2 && got.provisioningState === "Succeeded" && got.eTag);
});
refused("managedClusters.get of another", "ResourceNotFound", () => aks.managedClusters.get(group, "none"));
refused("managedClusters.get in no group", "ResourceGroupNotFound", () => aks.managedClusters.get("none", cluster));
works("managedClusters.getUpgradeProfile", async () => has("upgrades", (await aks.managedClusters.getUpgradeProfile(group, cluster)).controlPlaneProfile.upgrades.length > 0));
works("managedClusters.listKubernetesVersions", async () => has("versions", (await aks.managedClusters.listKubernetesVersions(location)).values.length > 0));
works("managedClusters.listClusterUserCredentials", async () => has("a kubeconfig", Buffer.from((await aks.managedClusters.listClusterUserCredentials(group, cluster)).kubeconfigs[0].value).toString().includes("server")));
works("managedClusters.listClusterMonitoringUserCredentials", async () => has("a kubeconfig", (await aks.managedClusters.listClusterMonitoringUserCredentials(group, cluster)).kubeconfigs.length === 1));
refused("managedClusters.listClusterAdminCredentials", "BadRequest", () => aks.managedClusters.listClusterAdminCredentials(group, cluster));
works("managedClusters.getAccessProfile", async () => has("a kubeconfig", (await aks.managedClusters.getAccessProfile(group, cluster, "clusterUser")).kubeConfig.length > 0));
works("managedClusters.beginUpdateTagsAndWait", async () => has("the tag", (await aks.managedClusters.beginUpdateTagsAndWait(group, cluster, { tags: { tier: "gold" } }, quick)).tags.tier === "gold"));
works("managedClusters.beginCreateOrUpdateAndWait", async () => has("the tag", (await aks.managedClusters.beginCreateOrUpdateAndWait(group, cluster, { location, tags: { tier: "silver" }, dnsPrefix: cluster }, quick)).tags.tier === "silver"));
refused("managedClusters.beginCreateOrUpdate with a new pool", "BadRequest", () => aks.managedClusters.beginCreateOrUpdateAndWait(group, cluster, { location, agentPoolProfiles: [{ name: "extra", ...pool() }] }, quick));
refused("managedClusters.beginCreateOrUpdate elsewhere", "InvalidResourceLocation", () => aks.managedClusters.beginCreateOrUpdateAndWait(group, cluster, { location: "eastus" }, quick));
works("managedClusters.beginAbortLatestOperationAndWait", () => aks.managedClusters.beginAbortLatestOperationAndWait(group, cluster, quick));
works("agentPools.list", async () => has("both pools", (await all(aks.agentPools.list(group, cluster))).length === 2));
works("agentPools.get", async () => { etag = (await aks.agentPools.get(group, cluster, "workers")).eTag; has("an ETag", etag); });
refused("agentPools.get of another", "NotFound", () => aks.agentPools.get(group, cluster, "none"));
works("agentPools.getAvailableAgentPoolVersions", async () => has("versions", (await aks.agentPools.getAvailableAgentPoolVersions(group, cluster)).agentPoolVersions.length > 0));
works("agentPools.getUpgradeProfile", async () => has("a version", (await aks.agentPools.getUpgradeProfile(group, cluster, "system")).kubernetesVersion));
works("agentPools.beginCreateOrUpdateAndWait", async () => has("success", (await aks.agentPools.beginCreateOrUpdateAndWait(group, cluster, "extra", pool(), quick)).provisioningState === "Succeeded"));
works("agentPools.beginCreateOrUpdateAndWait (scale)", async () => has("two nodes", (await aks.agentPools.beginCreateOrUpdateAndWait(group, cluster, "extra", pool({ count: 2 }), quick)).count === 2));
refused("agentPools.beginCreateOrUpdate of 5000 nodes", "InvalidParameter", () => aks.agentPools.beginCreateOrUpdateAndWait(group, cluster, "large", pool({ count: 5000 }), quick));
refused("agentPools.beginCreateOrUpdate of version 1.99.0", "NodePoolMcVersionIncompatible", () => aks.agentPools.beginCreateOrUpdateAndWait(group, cluster, "late", pool({ orchestratorVersion: "1.99.0" }), quick));
refused("agentPools.beginCreateOrUpdate of another size", "PropertyChangeNotAllowed", () => aks.agentPools.beginCreateOrUpdateAndWait(group, cluster, "extra", pool({ vmSize: "Standard_D8ds_v5" }), quick));
refused("agentPools.beginCreateOrUpdate with an old ETag", "EtagMismatch", () => aks.agentPools.beginCreateOrUpdateAndWait(group, cluster, "extra", pool(), { ...quick, ifMatch: "old" }));
works("agentPools.beginAbortLatestOperationAndWait", async () => {
  const begun = await aks.agentPools.beginCreateOrUpdate(group, cluster, "extra", pool({ count: 3 }), quick);
  has("an operation", begun);
  await aks.agentPools.beginAbortLatestOperationAndWait(group, cluster, "extra", quick);
  has("its end", (await aks.agentPools.get(group, cluster, "extra")).provisioningState === "Canceled");
});
works("machines.list", async () => has("machines", (await all(aks.machines.list(group, cluster, "system"))).length === 3));
works("machines.get", async () => { const [one] = await all(aks.machines.list(group, cluster, "system")); has("an address", (await aks.machines.get(group, cluster, "system", one.name)).properties.network.ipAddresses.length > 0); });
works("agentPools.beginDeleteAndWait", () => aks.agentPools.beginDeleteAndWait(group, cluster, "extra", quick));
refused("agentPools.beginDelete of the last system pool", "MustDefineAtLeastOneSystemPool", () => aks.agentPools.beginDeleteAndWait(group, cluster, "system", quick));
refused("agentPools.beginDelete against a budget", "PodDrainFailure", () => aks.agentPools.beginDeleteAndWait(group, cluster, "workers", quick));
works("agentPools.beginDelete, ignorePodDisruptionBudget", () => aks.agentPools.beginDeleteAndWait(group, cluster, "workers", { ...quick, ignorePodDisruptionBudget: true }));
unknown("agentPools.beginUpgradeNodeImageVersion", () => aks.agentPools.beginUpgradeNodeImageVersionAndWait(group, cluster, "system", quick));
unknown("managedClusters.beginStop", () => aks.managedClusters.beginStopAndWait(group, cluster, quick));
unknown("managedClusters.beginRunCommand", () => aks.managedClusters.beginRunCommandAndWait(group, cluster, { command: "id" }, quick));
unknown("managedClusters.beginDelete", () => aks.managedClusters.beginDeleteAndWait(group, cluster, quick));
unknown("maintenanceConfigurations.get", () => aks.maintenanceConfigurations.get(group, cluster, "default"));
unknown("snapshots.list", () => all(aks.snapshots.list()));
unknown("operations.list", () => all(aks.operations.list()));

// --- @azure/arm-compute
works("virtualMachineScaleSets.listAll", async () => { set = (await all(compute.virtualMachineScaleSets.listAll()))[0].name; has("a set", set); });
works("virtualMachineScaleSets.list", async () => has("a set", (await all(compute.virtualMachineScaleSets.list(nodeGroup))).length > 0));
works("virtualMachineScaleSets.get", async () => has("its size", (await compute.virtualMachineScaleSets.get(nodeGroup, set)).sku.capacity === 3));
works("virtualMachineScaleSets.getInstanceView", async () => has("a summary", (await compute.virtualMachineScaleSets.getInstanceView(nodeGroup, set)).virtualMachine.statusesSummary.length > 0));
works("virtualMachineScaleSetVMs.list", async () => has("instances", (await all(compute.virtualMachineScaleSetVMs.list(nodeGroup, set))).length === 3));
works("virtualMachineScaleSetVMs.get", async () => has("its state", (await compute.virtualMachineScaleSetVMs.get(nodeGroup, set, "0")).provisioningState === "Succeeded"));
works("virtualMachineScaleSetVMs.getInstanceView", async () => has("statuses", (await compute.virtualMachineScaleSetVMs.getInstanceView(nodeGroup, set, "0")).statuses.length > 0));
refused("virtualMachineScaleSets.get of another", "ResourceNotFound", () => compute.virtualMachineScaleSets.get(nodeGroup, "none"));
refused("virtualMachineScaleSetVMs.get of another", "NotFound", () => compute.virtualMachineScaleSetVMs.get(nodeGroup, set, "99"));
unknown("virtualMachineScaleSets.beginRestart", () => compute.virtualMachineScaleSets.beginRestartAndWait(nodeGroup, set, quick));
unknown("virtualMachineScaleSets.listSkus", () => all(compute.virtualMachineScaleSets.listSkus(nodeGroup, set)));
unknown("virtualMachineSizes.list", () => all(compute.virtualMachineSizes.list(location)));

// --- @azure/arm-network
works("networkInterfaces.listVirtualMachineScaleSetNetworkInterfaces", async () => has("interfaces", (await all(network.networkInterfaces.listVirtualMachineScaleSetNetworkInterfaces(nodeGroup, set))).length === 3));
works("networkInterfaces.listVirtualMachineScaleSetVMNetworkInterfaces", async () => has("an interface", (await all(network.networkInterfaces.listVirtualMachineScaleSetVMNetworkInterfaces(nodeGroup, set, "0"))).length === 1));
works("networkInterfaces.getVirtualMachineScaleSetNetworkInterface", async () => has("an address", (await network.networkInterfaces.getVirtualMachineScaleSetNetworkInterface(nodeGroup, set, "0", set)).ipConfigurations.length === 1));
works("virtualNetworks.beginCreateOrUpdateAndWait", async () => has("its space", (await network.virtualNetworks.beginCreateOrUpdateAndWait(group, "net", { location, addressSpace: { addressPrefixes: ["10.0.0.0/8"] } }, quick)).addressSpace.addressPrefixes.length === 1));
works("virtualNetworks.get", () => network.virtualNetworks.get(group, "net"));
works("virtualNetworks.list", async () => has("the net", (await all(network.virtualNetworks.list(group))).length === 1));
works("virtualNetworks.updateTags", async () => has("the tag", (await network.virtualNetworks.updateTags(group, "net", { tags: { a: "b" } })).tags.a === "b"));
works("subnets.beginCreateOrUpdateAndWait", () => network.subnets.beginCreateOrUpdateAndWait(group, "net", "nodes", { addressPrefix: "10.1.0.0/16" }, quick));
refused("subnets.get in no net", "ResourceNotFound", () => network.subnets.get(group, "none", "nodes"));
works("virtualNetworks.beginDeleteAndWait", () => network.virtualNetworks.beginDeleteAndWait(group, "net", quick));
refused("virtualNetworks.get of what was deleted", "ResourceNotFound", () => network.virtualNetworks.get(group, "net"));
unknown("usages.list", () => all(network.usages.list(location)));

// --- @azure/arm-resources, @azure/arm-resourcesdeployments
works("resourceGroups.list", async () => has("both groups", (await all(resources.resourceGroups.list())).length === 2));
works("resourceGroups.get", () => resources.resourceGroups.get(group));
works("resourceGroups.checkExistence", async () => has("yes", (await resources.resourceGroups.checkExistence(group)).body === true));
works("resourceGroups.checkExistence of none", async () => has("no", (await resources.resourceGroups.checkExistence("none")).body === false));
works("resourceGroups.createOrUpdate", () => resources.resourceGroups.createOrUpdate("more", { location }));
works("resourceGroups.update", async () => has("the tag", (await resources.resourceGroups.update(group, { tags: { team: "sre" } })).tags.team === "sre"));
refused("resourceGroups.createOrUpdate elsewhere", "InvalidResourceGroupLocation", () => resources.resourceGroups.createOrUpdate("more", { location: "eastus" }));
unknown("resourceGroups.beginDelete", () => resources.resourceGroups.beginDeleteAndWait("more", quick));
unknown("resourceGroups.beginExportTemplate", () => resources.resourceGroups.beginExportTemplateAndWait(group, { resources: ["*"] }, quick));
works("resources.list", async () => has("the cluster", (await all(resources.resources.list())).some((one) => one.name === cluster)));
works("resources.list, by type", async () => has("the cluster alone", (await all(resources.resources.list({ filter: "resourceType eq 'Microsoft.ContainerService/managedClusters'" }))).length === 1));
works("resources.listByResourceGroup", async () => has("the sets", (await all(resources.resources.listByResourceGroup(nodeGroup))).length > 0));
refused("resources.list, by nonsense", "InvalidFilterInQueryString", () => all(resources.resources.list({ filter: "colour gt 'red'" })));
works("resources.beginCreateOrUpdateByIdAndWait", () => resources.resources.beginCreateOrUpdateByIdAndWait(vaultID, "2024-11-01", { location, properties: { sku: { name: "standard" } } }, quick));
works("resources.getById", async () => has("its sku", (await resources.resources.getById(vaultID, "2024-11-01")).properties.sku.name === "standard"));
works("resources.beginUpdateByIdAndWait", async () => has("the tag", (await resources.resources.beginUpdateByIdAndWait(vaultID, "2024-11-01", { tags: { a: "b" } }, quick)).tags.a === "b"));
works("resources.checkExistenceById", async () => has("yes", (await resources.resources.checkExistenceById(vaultID, "2024-11-01")).body === true));
works("resources.getById of the cluster", () => resources.resources.getById(clusterID, "2025-10-01"));
works("resources.beginDeleteByIdAndWait", () => resources.resources.beginDeleteByIdAndWait(vaultID, "2024-11-01", quick));
refused("resources.getById of what was deleted", "ResourceNotFound", () => resources.resources.getById(vaultID, "2024-11-01"));
unknown("resources.getById of a type nobody knows", () => resources.resources.getById(`${scope}/providers/Contoso.Things/things/one`, "2024-11-01"));
works("tagsOperations.getAtScope", async () => has("tags", (await resources.tagsOperations.getAtScope(clusterID)).properties.tags));
works("tagsOperations.beginUpdateAtScopeAndWait", async () => has("the tag", (await resources.tagsOperations.beginUpdateAtScopeAndWait(clusterID, { operation: "Merge", properties: { tags: { seen: "yes" } } }, quick)).properties.tags.seen === "yes"));
works("tagsOperations.beginCreateOrUpdateAtScopeAndWait", async () => has("one tag", Object.keys((await resources.tagsOperations.beginCreateOrUpdateAtScopeAndWait(scope, { properties: { tags: { only: "this" } } }, quick)).properties.tags).length === 1));
works("tagsOperations.beginDeleteAtScopeAndWait", () => resources.tagsOperations.beginDeleteAtScopeAndWait(scope, quick));
unknown("tagsOperations.list", () => all(resources.tagsOperations.list()));
works("providers.list", async () => has("AKS", (await all(resources.providers.list())).some((one) => one.namespace === "Microsoft.ContainerService")));
works("providers.get", () => resources.providers.get("Microsoft.Compute"));
works("providers.register", async () => has("its state", (await resources.providers.register("Microsoft.Compute")).registrationState === "Registered"));
const template = { $schema: "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", contentVersion: "1.0.0.0", resources: [{ type: "Microsoft.KeyVault/vaults", apiVersion: "2024-11-01", name: "deployed", location, properties: {} }], outputs: { name: { type: "string", value: "deployed" } } };
const deployment = { properties: { mode: "Incremental", template, parameters: {} } };
works("deployments.validate", () => deployments.deployments.validate(group, "one", deployment, quick));
works("deployments.createOrUpdate", async () => has("its output", (await deployments.deployments.createOrUpdate(group, "one", deployment, quick)).properties.outputs.name.value === "deployed"));
works("deployments.get", async () => has("success", (await deployments.deployments.get(group, "one")).properties.provisioningState === "Succeeded"));
works("deployments.listByResourceGroup", async () => has("it", (await all(deployments.deployments.listByResourceGroup(group))).length === 1));
works("deploymentOperations.list", async () => has("operations", (await all(deployments.deploymentOperations.list(group, "one"))).length > 0));
works("deployments.whatIf", () => deployments.deployments.whatIf(group, "one", { properties: deployment.properties }, quick));
refused("deployments.get of another", "DeploymentNotFound", () => deployments.deployments.get(group, "none"));
refused("deployments.cancel of what is over", "DeploymentCannotBeCancelled", () => deployments.deployments.cancel(group, "one"));
works("deployments.delete", () => deployments.deployments.delete(group, "one", quick));

// --- @azure/arm-monitor
works("activityLogs.list", async () => has("events", (await all(monitor.activityLogs.list(`eventTimestamp ge '${since}'`))).length > 0));
works("activityLogs.list, select", async () => {
  const [one] = await all(monitor.activityLogs.list(`eventTimestamp ge '${since}'`, { select: "eventDataId,level" }));
  has("what was selected alone", one.eventDataId && !one.resourceId);
});
refused("activityLogs.list without a filter", "BadRequest", () => all(monitor.activityLogs.list("")));
unknown("eventCategories.list", () => all(monitor.eventCategories.list()));
unknown("metrics.list", () => monitor.metrics.list(clusterID));

const outcome = async (call) => {
  try {
    await call();
    return ["works", ""];
  } catch (error) {
    const status = error.statusCode ?? error.status;
    const code = error.code ?? error.details?.error?.code ?? "";
    const message = String(error.message).split("\n")[0].slice(0, 300);
    if (status === 501) return ["501", message];
    const known = status >= 400 && status < 500 || /^[A-Z]\w+$/.test(code);
    return [known ? `refused ${code}` : `failed ${code}`, message];
  }
};

let wrong = 0;
for (const { name, call, want } of rows) {
  const [got, said] = await outcome(call);
  const shown = got === "works" ? "works as real" : got === "501" ? "501" : `${got.replace("refused", "refused as real:")}`;
  console.log(`${got === want ? "ok  " : "WRONG"} ${name.padEnd(68)} ${shown}${got === want ? "" : ` (want ${want}): ${said}`}`);
  wrong += got === want ? 0 : 1;
}
const count = (kind) => rows.filter((row) => row.want.startsWith(kind)).length;
console.log(`\n${rows.length} calls: ${count("works")} work as real, ${count("refused")} are refused as real, ` +
  `${count("501")} are answered 501. ${wrong} of them otherwise.`);
process.exit(wrong === 0 ? 0 : 1);
