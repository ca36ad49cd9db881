package azuresim

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// writeCluster starts what a write of the cluster asks for, or says why not. There is one cluster in a world: where the
// scenario has none yet, it is the one that can be made.
func (m *model) writeCluster(group, name string, body map[string]any, version string) (*operation, *refusal) {
	if !strings.EqualFold(name, m.scenario.Cluster) || !strings.EqualFold(group, m.scenario.ResourceGroup) {
		return nil, refuse(http.StatusNotImplemented, "NotSupported",
			"the embedded Azure has one managed cluster only, '%s' of resource group '%s'.",
			m.scenario.Cluster, m.scenario.ResourceGroup)
	}
	properties, _ := body["properties"].(map[string]any)
	profiles, why := m.readProfiles(body, version)
	if why != nil {
		return nil, why
	}
	var tags map[string]string
	if sent, has := body["tags"].(map[string]any); has {
		tags = stringsIn(sent)
	}
	if m.cluster == nil {
		if why := m.checkProfiles(profiles); why != nil {
			return nil, why
		}
		return m.createCluster(tags, properties, profiles), nil
	}
	for _, profile := range profiles {
		name, _ := profile["name"].(string)
		p := m.pool(name)
		if p == nil {
			return nil, refuse(http.StatusBadRequest, "BadRequest", "A new agent pool was introduced. Adding agent pools to an "+
				"existing cluster is not allowed through managed cluster operations. Please use the agent pool API: '%s'.", name)
		}
		if why := m.checkChange(name, changedBy(p, profile), p); why != nil {
			return nil, why
		}
	}
	if why := m.busy(); why != nil {
		return nil, &refusal{http.StatusConflict, *why}
	}
	return m.updateCluster(tags, properties, profiles), nil
}

// changedBy is what a pool's definition becomes by what the body of its cluster says of it: what is not said stays.
func changedBy(p *pool, profile map[string]any) map[string]any {
	changed := maps.Clone(p.definition)
	maps.Copy(changed, profile)
	delete(changed, "name")
	return changed
}

func objectsIn(value any) []map[string]any {
	list, _ := value.([]any)
	var objects []map[string]any
	for _, item := range list {
		object, _ := item.(map[string]any)
		objects = append(objects, object)
	}
	return objects
}

// checkProfiles is what AKS refuses at once in the pools of a new cluster.
func (m *model) checkProfiles(profiles []map[string]any) *refusal {
	for _, profile := range profiles {
		name, _ := profile["name"].(string)
		if why := m.checkPool(name, profile, nil); why != nil {
			return why
		}
	}
	if !slices.ContainsFunc(profiles, func(profile map[string]any) bool { return profile["mode"] == modeSystem }) {
		return refuse(http.StatusBadRequest, "MustDefineAtLeastOneSystemPool", "Must define at least one system pool.")
	}
	return nil
}

// createCluster starts the making of the cluster and its pools. What the scenario runs begins when it is there.
func (m *model) createCluster(tags map[string]string, properties map[string]any, profiles []map[string]any) *operation {
	if tags == nil {
		tags = map[string]string{}
	}
	m.cluster = &cluster{state: stateCreating, tags: tags, sent: properties}
	op := m.begin(kindCreate, byClient, nil)
	op.finished = m.clusterOperationEnded
	duration := m.scenario.Durations.Cluster.span()
	for _, profile := range profiles {
		name, _ := profile["name"].(string) // it was checked
		p := &pool{name: name, state: stateCreating, definition: m.newDefinition(profile), scaleSet: m.newScaleSet(name)}
		delete(p.definition, "name")
		m.pools = append(m.pools, p)
		m.touch(p)
		m.log.scaleSetWritten(m, p.scaleSet)
		m.boot(p, p.count(), duration)
	}
	m.step(op, duration, func() {
		m.kube.Start(m.newWorkloads())
		m.end(op, stateSucceeded, nil)
	})
	return op
}

// updateCluster starts a write of the cluster itself, which ends with every pool as it should be. Where a pool's scale
// set is corrupted it gets stuck behind the writes of that: it ends Failed, and so do cluster and pool. Tags that are
// nil stay; of the properties, those are kept that the model has no value of its own for.
func (m *model) updateCluster(tags map[string]string, properties map[string]any, profiles []map[string]any) *operation {
	op := m.begin(kindReconcile, byClient, nil)
	if tags != nil {
		m.cluster.tags = tags
	}
	m.cluster.sent = properties
	m.setClusterState(stateUpdating)
	op.finished = m.clusterOperationEnded
	duration := m.scenario.Durations.Cluster.span()
	for _, profile := range profiles {
		name, _ := profile["name"].(string)
		p := m.pool(name) // it was checked
		p.definition = m.newDefinition(changedBy(p, profile))
		if !p.scaleSet.corrupted {
			m.boot(p, p.count()-len(p.scaleSet.machines), duration)
			m.step(op, duration, func() { m.shrink(p) })
		}
	}
	result, why := stateSucceeded, (*failure)(nil)
	for _, p := range m.pools {
		if p.scaleSet.corrupted {
			m.setPoolState(p, stateUpdating)
			m.startFailedWrites(p)
			result, why = stateFailed, writeFailed(p.scaleSet)
		}
	}
	m.step(op, duration, func() { m.end(op, result, why) })
	return op
}
