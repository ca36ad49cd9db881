package azuresim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// strictSince is the api-version from which on AKS refuses fields that it does not know; before, it drops them.
// https://github.com/Azure/AKS/issues/4060
const strictSince = "2024-01-01"

// poolFields are the properties of an agent pool of the newest api-version, as AKS decodes them: in Go, so that its
// errors are those of encoding/json. What is of no consequence in here may be any JSON.
// https://github.com/Azure/azure-rest-api-specs/tree/main/specification/containerservice/resource-manager
type poolFields struct {
	ETag                       *string           `json:"eTag"`
	Count                      *int32            `json:"count"`
	VMSize                     *string           `json:"vmSize"`
	OSDiskSizeGB               *int32            `json:"osDiskSizeGB"`
	OSDiskType                 *string           `json:"osDiskType"`
	KubeletDiskType            *string           `json:"kubeletDiskType"`
	WorkloadRuntime            *string           `json:"workloadRuntime"`
	MessageOfTheDay            *string           `json:"messageOfTheDay"`
	VnetSubnetID               *string           `json:"vnetSubnetID"`
	PodSubnetID                *string           `json:"podSubnetID"`
	PodIPAllocationMode        *string           `json:"podIPAllocationMode"`
	MaxPods                    *int32            `json:"maxPods"`
	OSType                     *string           `json:"osType"`
	OSSKU                      *string           `json:"osSKU"`
	MaxCount                   *int32            `json:"maxCount"`
	MinCount                   *int32            `json:"minCount"`
	EnableAutoScaling          *bool             `json:"enableAutoScaling"`
	ScaleDownMode              *string           `json:"scaleDownMode"`
	Type                       *string           `json:"type"`
	Mode                       *string           `json:"mode"`
	OrchestratorVersion        *string           `json:"orchestratorVersion"`
	CurrentOrchestratorVersion *string           `json:"currentOrchestratorVersion"`
	NodeImageVersion           *string           `json:"nodeImageVersion"`
	UpgradeSettings            *upgradeFields    `json:"upgradeSettings"`
	ProvisioningState          *string           `json:"provisioningState"`
	PowerState                 *powerFields      `json:"powerState"`
	AvailabilityZones          []string          `json:"availabilityZones"`
	EnableNodePublicIP         *bool             `json:"enableNodePublicIP"`
	NodePublicIPPrefixID       *string           `json:"nodePublicIPPrefixID"`
	ScaleSetPriority           *string           `json:"scaleSetPriority"`
	ScaleSetEvictionPolicy     *string           `json:"scaleSetEvictionPolicy"`
	SpotMaxPrice               *float64          `json:"spotMaxPrice"`
	Tags                       map[string]string `json:"tags"`
	NodeLabels                 map[string]string `json:"nodeLabels"`
	NodeTaints                 []string          `json:"nodeTaints"`
	ProximityPlacementGroupID  *string           `json:"proximityPlacementGroupID"`
	KubeletConfig              *kubeletFields    `json:"kubeletConfig"`
	LinuxOSConfig              *linuxFields      `json:"linuxOSConfig"`
	EnableEncryptionAtHost     *bool             `json:"enableEncryptionAtHost"`
	EnableUltraSSD             *bool             `json:"enableUltraSSD"`
	EnableFIPS                 *bool             `json:"enableFIPS"`
	GPUInstanceProfile         *string           `json:"gpuInstanceProfile"`
	CreationData               *creationFields   `json:"creationData"`
	CapacityReservationGroupID *string           `json:"capacityReservationGroupID"`
	HostGroupID                *string           `json:"hostGroupID"`
	NetworkProfile             *networkFields    `json:"networkProfile"`
	WindowsProfile             *windowsFields    `json:"windowsProfile"`
	// AKS did not know sshAccess in it though it was published: https://github.com/Azure/azure-rest-api-specs/issues/40740
	SecurityProfile           *securityFields `json:"securityProfile"`
	GPUProfile                json.RawMessage `json:"gpuProfile"`
	GatewayProfile            json.RawMessage `json:"gatewayProfile"`
	ArtifactStreamingProfile  json.RawMessage `json:"artifactStreamingProfile"`
	VirtualMachinesProfile    json.RawMessage `json:"virtualMachinesProfile"`
	VirtualMachineNodesStatus json.RawMessage `json:"virtualMachineNodesStatus"`
	Status                    json.RawMessage `json:"status"`
	LocalDNSProfile           json.RawMessage `json:"localDNSProfile"`
}

type (
	upgradeFields struct {
		MaxSurge                  *string `json:"maxSurge"`
		MaxUnavailable            *string `json:"maxUnavailable"`
		DrainTimeoutInMinutes     *int32  `json:"drainTimeoutInMinutes"`
		NodeSoakDurationInMinutes *int32  `json:"nodeSoakDurationInMinutes"`
		UndrainableNodeBehavior   *string `json:"undrainableNodeBehavior"`
	}
	powerFields struct {
		Code *string `json:"code"`
	}
	kubeletFields struct {
		CPUManagerPolicy      *string  `json:"cpuManagerPolicy"`
		CPUCfsQuota           *bool    `json:"cpuCfsQuota"`
		CPUCfsQuotaPeriod     *string  `json:"cpuCfsQuotaPeriod"`
		ImageGcHighThreshold  *int32   `json:"imageGcHighThreshold"`
		ImageGcLowThreshold   *int32   `json:"imageGcLowThreshold"`
		TopologyManagerPolicy *string  `json:"topologyManagerPolicy"`
		AllowedUnsafeSysctls  []string `json:"allowedUnsafeSysctls"`
		FailSwapOn            *bool    `json:"failSwapOn"`
		ContainerLogMaxSizeMB *int32   `json:"containerLogMaxSizeMB"`
		ContainerLogMaxFiles  *int32   `json:"containerLogMaxFiles"`
		PodMaxPids            *int32   `json:"podMaxPids"`
	}
	linuxFields struct {
		Sysctls                    json.RawMessage `json:"sysctls"`
		TransparentHugePageEnabled *string         `json:"transparentHugePageEnabled"`
		TransparentHugePageDefrag  *string         `json:"transparentHugePageDefrag"`
		SwapFileSizeMB             *int32          `json:"swapFileSizeMB"`
	}
	creationFields struct {
		SourceResourceID *string `json:"sourceResourceId"`
	}
	networkFields struct {
		NodePublicIPTags          json.RawMessage `json:"nodePublicIPTags"`
		AllowedHostPorts          json.RawMessage `json:"allowedHostPorts"`
		ApplicationSecurityGroups []string        `json:"applicationSecurityGroups"`
	}
	windowsFields struct {
		DisableOutboundNat *bool `json:"disableOutboundNat"`
	}
	securityFields struct {
		EnableVTPM       *bool   `json:"enableVTPM"`
		EnableSecureBoot *bool   `json:"enableSecureBoot"`
		SSHAccess        *string `json:"sshAccess"`
	}
	poolEnvelope struct {
		ID         *string     `json:"id"`
		Name       *string     `json:"name"`
		Type       *string     `json:"type"`
		Properties *poolFields `json:"properties"`
	}
	clusterEnvelope struct {
		ID               *string                    `json:"id"`
		Name             *string                    `json:"name"`
		Type             *string                    `json:"type"`
		ETag             *string                    `json:"eTag"`
		Location         *string                    `json:"location"`
		Kind             *string                    `json:"kind"`
		Tags             map[string]string          `json:"tags"`
		SKU              json.RawMessage            `json:"sku"`
		Identity         json.RawMessage            `json:"identity"`
		ExtendedLocation json.RawMessage            `json:"extendedLocation"`
		SystemData       json.RawMessage            `json:"systemData"`
		Properties       map[string]json.RawMessage `json:"properties"`
	}
	profileFields struct {
		Name *string `json:"name"`
		poolFields
	}
)

// clusterFields are the properties of a managed cluster of the newest api-version.
func clusterFields() []string {
	return []string{
		"kubernetesVersion", "currentKubernetesVersion", "dnsPrefix", "fqdn", "fqdnSubdomain", "privateFQDN",
		"azurePortalFQDN", "agentPoolProfiles", "linuxProfile", "windowsProfile", "servicePrincipalProfile", "addonProfiles",
		"podIdentityProfile", "oidcIssuerProfile", "nodeResourceGroup", "nodeResourceGroupProfile", "enableRBAC",
		"supportPlan", "networkProfile", "aadProfile", "autoUpgradeProfile", "upgradeSettings", "autoScalerProfile",
		"apiServerAccessProfile", "diskEncryptionSetID", "identityProfile", "privateLinkResources", "disableLocalAccounts",
		"httpProxyConfig", "securityProfile", "storageProfile", "ingressProfile", "publicNetworkAccess",
		"workloadAutoScalerProfile", "azureMonitorProfile", "serviceMeshProfile", "resourceUID", "metricsProfile",
		"nodeProvisioningProfile", "bootstrapProfile", "aiToolchainOperatorProfile", "hostedSystemProfile", "status",
		"provisioningState", "powerState", "maxAgentPools", "enablePodSecurityPolicy",
	}
}

// unmarshalError is AKS's refusal of a body. https://github.com/Azure/azure-rest-api-specs/issues/40740
func unmarshalError(err error) *refusal {
	return refuse(http.StatusBadRequest, "UnmarshalError",
		"UnmarshalEntity encountered error: %v Check that the field is in "+
			"the right location, is spelled correctly, and is supported in the API version. Visit aka.ms/aks/apiversions for "+
			"more "+
			"API version information..", err)
}

// decodeStrictly reads a body as AKS does at an api-version.
func decodeStrictly(body map[string]any, version string, into any) *refusal {
	text, err := json.Marshal(body)
	if err != nil {
		return unmarshalError(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if version >= strictSince {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(into); err != nil {
		return unmarshalError(err)
	}
	return nil
}

// readPool gives the properties that AKS takes from the body of a pool.
func (m *model) readPool(body map[string]any, version string) (map[string]any, *refusal) {
	known := maps.Clone(body)
	sent, _ := body["properties"].(map[string]any)
	if sent != nil {
		known["properties"] = m.ofToday(sent)
	}
	if why := decodeStrictly(known, version, &poolEnvelope{}); why != nil {
		return nil, why
	}
	return m.named(sent, version), nil
}

// readProfiles is readPool for the pools in the body of a cluster.
func (m *model) readProfiles(body map[string]any, version string) ([]map[string]any, *refusal) {
	if why := decodeStrictly(body, version, &clusterEnvelope{}); why != nil {
		return nil, why
	}
	properties, _ := body["properties"].(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		known := func(name string) bool { return strings.EqualFold(name, field) }
		if version >= strictSince && !slices.ContainsFunc(clusterFields(), known) {
			return nil, unmarshalError(fmt.Errorf("json: unknown field %q", field))
		}
	}
	var profiles []map[string]any
	for _, profile := range objectsIn(properties["agentPoolProfiles"]) {
		if why := decodeStrictly(m.ofToday(profile), version, &profileFields{}); why != nil {
			return nil, why
		}
		profiles = append(profiles, m.named(profile, version))
	}
	return profiles, nil
}

// ofToday leaves out the fields that the scenario's own pools have: whatever they are, its AKS knows them.
func (m *model) ofToday(properties map[string]any) map[string]any {
	today := maps.Clone(properties)
	for _, setup := range m.scenario.Pools {
		for field := range setup.Properties {
			delete(today, field)
		}
	}
	return today
}

// named gives the fields the names that AKS has for them: its decoder takes them in any case. At an api-version that
// drops unknown fields, these are left out.
func (m *model) named(properties map[string]any, version string) map[string]any {
	if properties == nil {
		return nil
	}
	fields := reflect.TypeFor[poolFields]()
	names := []string{"name"}
	for i := range fields.NumField() {
		names = append(names, fields.Field(i).Tag.Get("json"))
	}
	for _, setup := range m.scenario.Pools {
		names = slices.AppendSeq(names, maps.Keys(setup.Properties))
	}
	taken := map[string]any{}
	for _, field := range slices.Sorted(maps.Keys(properties)) {
		i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, field) })
		switch {
		case i >= 0:
			taken[names[i]] = properties[field]
		case version >= strictSince:
			taken[field] = properties[field]
		}
	}
	return taken
}
