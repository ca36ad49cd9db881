package azuresim

import (
	"fmt"
	"slices"
)

// getUpgradeProfile: a cluster goes up one minor version at a time, its pools as far as the control plane is.
// https://learn.microsoft.com/rest/api/aks/managed-clusters/get-upgrade-profile
func getUpgradeProfile(w *World, _ *request) answer {
	m := w.model
	own, _ := m.controlPlaneVersion()
	pools := []any{}
	for _, p := range m.pools {
		pools = append(pools, map[string]any{
			"name": p.name, "osType": p.text("osType"), "kubernetesVersion": m.poolVersion(p.text("orchestratorVersion")),
			"upgrades": upgradesBody(m.upgradesFrom(m.versionOf(p), own)),
		})
	}
	next := kubernetesVersion{own.major, own.minor + 1, own.patch}
	return ok(map[string]any{
		"id": m.clusterID() + "/upgradeprofiles/default", "name": "default", "type": managedClusters + "/upgradeprofiles",
		"properties": map[string]any{
			"controlPlaneProfile": map[string]any{
				"name": "master", "osType": "Linux", "kubernetesVersion": m.scenario.KubernetesVersion,
				"upgrades": upgradesBody(m.upgradesFrom(own, next)),
			},
			"agentPoolProfiles": pools,
		},
	})
}

func upgradesBody(versions []string) []any {
	upgrades := []any{}
	for _, version := range versions {
		upgrades = append(upgrades, map[string]any{"kubernetesVersion": version})
	}
	return upgrades
}

func getPoolUpgradeProfile(w *World, asked *request) answer {
	m := w.model
	p := m.pool(asked.parameter("pool"))
	if p == nil {
		return w.poolNotFound(asked)
	}
	own, _ := m.controlPlaneVersion()
	return ok(map[string]any{
		"id": m.poolID(p.name) + "/upgradeprofiles/default", "name": "default", "type": poolType + "/upgradeProfiles",
		"properties": map[string]any{
			"kubernetesVersion": m.poolVersion(p.text("orchestratorVersion")), "osType": p.text("osType"),
			"upgrades": upgradesBody(m.upgradesFrom(m.versionOf(p), own)), "latestNodeImageVersion": nodeImage(p),
		},
	})
}

// listPoolVersions are the versions that a new pool can have.
func listPoolVersions(w *World, _ *request) answer {
	m := w.model
	own, _ := m.controlPlaneVersion()
	versions := []any{}
	for _, one := range m.offered() {
		if one.compare(own) <= 0 {
			version := map[string]any{"kubernetesVersion": one.String()}
			if one == own {
				version["default"] = true
			}
			versions = append(versions, version)
		}
	}
	return ok(map[string]any{
		"id": m.clusterID() + "/availableagentpoolversions", "name": "default",
		"type": managedClusters + "/availableAgentpoolVersions", "properties": map[string]any{"agentPoolVersions": versions},
	})
}

// listKubernetesVersions are the versions of the region, each with the patches above it and those of the next minor.
func listKubernetesVersions(w *World, _ *request) answer {
	m := w.model
	own, _ := m.controlPlaneVersion()
	values, minors := []any{}, []int{}
	for _, one := range m.offered() {
		if !slices.Contains(minors, one.minor) {
			minors = append(minors, one.minor)
		}
	}
	for _, minor := range minors {
		patches := map[string]any{}
		for _, one := range m.offered() {
			if one.minor == minor {
				next := kubernetesVersion{one.major, minor + 1, own.patch}
				patches[one.String()] = map[string]any{"upgrades": m.upgradesFrom(one, next)}
			}
		}
		version := map[string]any{
			"version": fmt.Sprintf("%d.%d", own.major, minor), "patchVersions": patches,
			"capabilities": map[string]any{"supportPlan": []string{"KubernetesOfficial"}},
		}
		if minor == own.minor {
			version["isDefault"] = true
		}
		values = append(values, version)
	}
	return ok(map[string]any{"values": values})
}
