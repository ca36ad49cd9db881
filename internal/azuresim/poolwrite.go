package azuresim

import (
	"fmt"
	"net/http"
)

// mostNodes is how many nodes a pool may have.
// https://learn.microsoft.com/azure/aks/quotas-skus-regions
const mostNodes = 1000

// writePool starts what a pool's PUT asks for, or says why not.
func (m *model) writePool(name string, body map[string]any, version string) (*pool, *operation, *refusal) {
	properties, why := m.readPool(body, version)
	if why != nil {
		return nil, nil, why
	}
	p := m.pool(name)
	if why := m.checkChange(name, properties, p); why != nil {
		return nil, nil, why
	}
	if why := m.busy(); why != nil {
		return nil, nil, &refusal{http.StatusConflict, *why}
	}
	if p != nil {
		if properties["orchestratorVersion"] == nil {
			properties["orchestratorVersion"] = p.definition["orchestratorVersion"]
		}
		return p, m.updatePool(p, properties, byClient, m.scenario.Durations.Update.span()), nil
	}
	if quota := m.quotaFault(name, properties); quota != nil {
		return nil, nil, refuse(http.StatusBadRequest, "ErrCode_InsufficientVCPUQuota",
			"Insufficient vcpu quota requested %d, remaining %d for family %s for region %s.",
			4*intIn(properties, "count"), 4*quota.Over, "standardDDSv5Family", m.scenario.Location)
	}
	p, op := m.createPool(name, properties, byClient)
	return p, op, nil
}

// checkChange is what AKS refuses at once in what a pool is to become; p is the pool as it is, nil for a new one.
func (m *model) checkChange(name string, properties map[string]any, p *pool) *refusal {
	if why := m.checkPool(name, properties, p); why != nil {
		return why
	}
	if p != nil && properties["vmSize"] != nil && p.text("vmSize") != properties["vmSize"] {
		return refuse(http.StatusBadRequest, "PropertyChangeNotAllowed",
			"Changing property 'properties.vmSize' is not allowed.")
	}
	return nil
}

func invalidParameter(parameter, format string, arguments ...any) *refusal {
	return refuse(http.StatusBadRequest, "InvalidParameter",
		"The value of parameter %s is invalid. Error details: %s. Please see https://aka.ms/aks-naming-rules "+
			"for more details.", parameter, fmt.Sprintf(format, arguments...))
}

// checkPool is what AKS refuses at once in a pool's properties.
func (m *model) checkPool(name string, properties map[string]any, current *pool) *refusal {
	os, _ := properties["osType"].(string)
	mode, _ := properties["mode"].(string)
	version, _ := properties["orchestratorVersion"].(string)
	switch {
	case !validPoolName(name, os):
		return invalidParameter("agentPoolProfile.name", "invalid agent pool name '%s'", name)
	case properties == nil:
		return invalidParameter("properties", "required parameter is missing (null)")
	case properties["vmSize"] == nil || properties["vmSize"] == "":
		return invalidParameter("agentPoolProfile.vmSize", "required parameter is missing (null)")
	case mode != "" && mode != modeSystem && mode != modeUser:
		return invalidParameter("agentPoolProfile.mode", "mode '%s' is neither System nor User", mode)
	}
	if why := checkCounts(properties, mode); why != nil {
		return why
	}
	if why := checkSizes(name, properties); why != nil {
		return why
	}
	if current == nil {
		if why := m.checkMachine(name, properties); why != nil {
			return why
		}
	}
	return m.checkVersion(name, version, current)
}

// checkCounts is what AKS refuses in how many nodes a pool is to have.
// https://github.com/kubernetes-sigs/cluster-api-provider-azure/issues/5947
func checkCounts(properties map[string]any, mode string) *refusal {
	scaling, _ := properties["enableAutoScaling"].(bool)
	count, counted := intOf(properties["count"])
	least, bounded := intOf(properties["minCount"])
	most, limited := intOf(properties["maxCount"])
	fewest := 0
	if mode == modeSystem {
		fewest = 1
	}
	switch {
	case !counted && !(scaling && bounded):
		return invalidParameter("agentPoolProfile.count", "required parameter is missing (null)")
	case !scaling && (bounded || limited):
		return invalidParameter("agentPoolProfile.minCount", "minCount and maxCount need enableAutoScaling")
	case scaling && (!bounded || !limited || least > most):
		return invalidParameter("agentPoolProfile.minCount", "enableAutoScaling needs minCount <= maxCount")
	case scaling && (least < fewest || most > mostNodes):
		return invalidParameter("agentPoolProfile.minCount", "minCount %d and maxCount %d are not between %d and %d", least,
			most, fewest, mostNodes)
	case counted && (count < fewest || count > mostNodes):
		return invalidParameter("agentPoolProfile.count", "agentPoolProfile.count was %d. It must be greater or equal to "+
			"minCount:%d and less than or equal to maxCount:%d. If allowedMinCount was expected to be 0 but is 1: 1) The "+
			"nodepool "+
			"is a VMAS pool. 2) api Version is less than 2020-03-01. 3) The node is a system pool.", count, fewest, mostNodes)
	case scaling && counted && (count < least || count > most):
		return invalidParameter("agentPoolProfile.count", "count %d is not between minCount %d and maxCount %d", count, least,
			most)
	}
	return nil
}
