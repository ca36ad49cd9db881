package azuresim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// newModel builds the world as the scenario describes it, at the event queue's time.
func newModel(scenario Scenario, names *seeded, clock *eventQueue, kube Kubernetes) (*model, error) {
	m := &model{
		scenario: scenario, names: names, time: clock, kube: kube, started: clock.now,
		log: &activityLog{lag: scenario.Log.Lag.span(), names: names}, faults: &faultSet{},
		results: map[string]result{}, typesSeen: map[string]bool{}, clusterGroupTags: map[string]map[string]any{},
	}
	m.registrations = newRegistrations(scenario)
	if err := m.addResources(); err != nil {
		return nil, fmt.Errorf("setting up resources: %w", err)
	}
	if scenario.ClusterAbsent {
		return m, nil
	}
	m.cluster = &cluster{state: scenario.ClusterState, tags: map[string]string{"owner": "platform"}}
	m.touch(nil)
	for _, setup := range scenario.Pools {
		if err := m.addPool(setup); err != nil {
			return nil, fmt.Errorf("setting up pool %s: %w", setup.Name, err)
		}
	}
	kube.Start(m.newWorkloads())
	m.addHistory()
	m.addOperation()
	return m, nil
}

// addPool makes a pool as it was before anybody looked.
func (m *model) addPool(setup Pool) error {
	definition, err := setup.definition(m.subnetID())
	if err != nil {
		return err
	}
	p := &pool{
		name: setup.Name, state: setup.State, definition: m.newDefinition(definition), scaleSet: m.newScaleSet(setup.Name),
	}
	p.scaleSet.corrupted = setup.Corrupted
	p.scaleSet.interfaces = setup.Interfaces
	p.scaleSet.created = m.started.Add(-30 * 24 * time.Hour)
	m.pools = append(m.pools, p)
	m.touch(p)
	for i := range *setup.Count {
		machine := p.scaleSet.addMachine()
		if i >= *setup.Ready {
			machine.broken = true
			continue
		}
		m.join(p, machine)
		m.kube.SetReady(machine.node)
	}
	for _, index := range setup.Cordoned {
		m.kube.Cordon(p.scaleSet.machines[index].node)
	}
	return nil
}

// definition is the pool's properties as raw JSON.
func (p Pool) definition(subnet string) (map[string]any, error) {
	properties := map[string]any{
		"mode": p.Mode, "count": *p.Count, "vmSize": p.VMSize, "osType": p.OS, "availabilityZones": p.Zones,
		"vnetSubnetID": subnet, "nodeLabels": p.Labels, "nodeTaints": p.Taints, "tags": p.Tags,
		"enableAutoScaling": p.Autoscale != nil,
	}
	if p.OS == "Windows" {
		properties["osSKU"] = "Windows2022"
	}
	if p.Autoscale != nil {
		properties["minCount"], properties["maxCount"] = p.Autoscale.Min, p.Autoscale.Max
	}
	for field, empty := range map[string]bool{
		"nodeLabels": p.Labels == nil, "nodeTaints": p.Taints == nil, "tags": p.Tags == nil,
	} {
		if empty {
			delete(properties, field)
		}
	}
	maps.Copy(properties, p.Properties)
	text, err := json.Marshal(properties)
	if err != nil {
		return nil, fmt.Errorf("encoding its properties: %w", err)
	}
	return decodeObject(text)
}

// decodeObject keeps numbers as they were written.
func decodeObject(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	return object, nil
}

// addHistory enters what the Activity Log holds at the start.
func (m *model) addHistory() {
	made := &operation{Operation: Operation{
		ID: m.names.uuid("operation"), Kind: kindReconcile, Resource: m.clusterID(), By: byClient,
	}, correlation: m.names.uuid("correlation")}
	for i, status := range []string{statusStarted, statusAccepted, statusSucceeded} {
		m.log.add(m.log.ofOperation(m, made, status, m.started.Add(-13*24*time.Hour+time.Duration(i)*time.Minute)))
	}
	for i, setup := range m.scenario.Pools {
		set := m.pools[i].scaleSet
		if !m.scenario.Log.Quiet {
			m.log.noise(m, set)
		}
		if setup.FailedWrites == nil {
			continue
		}
		for n := range setup.FailedWrites.Events {
			age := setup.FailedWrites.Last.span() + time.Duration(setup.FailedWrites.Events-1-n)*setup.FailedWrites.Every.span()
			m.log.writeFailed(m, set, m.started.Add(-age))
		}
	}
}

// addOperation lets a cluster that is being updated at the start have an operation that does it. Without one in the
// scenario the operation is there all the same, but no event tells how old it is.
func (m *model) addOperation() {
	if !m.changing(m.cluster.state) {
		return
	}
	op := &operation{
		Operation: Operation{
			ID: m.names.uuid("operation"), Kind: kindReconcile, Resource: m.clusterID(), Started: m.started,
			Result: inProgress, By: byClient,
		},
		correlation: m.names.uuid("correlation"),
	}
	op.finished = m.clusterOperationEnded
	m.operations = append(m.operations, op)
	m.running = op
	for _, p := range m.pools {
		if p.state == stateUpdating || p.state == stateUpgrading {
			m.startFailedWrites(p)
		}
	}
	known := m.scenario.Operation
	if known == nil {
		return
	}
	op.Started = m.started.Add(-known.Age.span())
	for _, status := range []string{statusStarted, statusAccepted} {
		m.log.add(m.log.ofOperation(m, op, status, op.Started))
	}
	if known.Ends > 0 {
		m.step(op, known.Ends.span(), func() {
			for _, p := range m.pools {
				if m.changing(p.state) && p.scaleSet.corrupted {
					m.end(op, stateFailed, writeFailed(p.scaleSet))
					return
				}
			}
			m.end(op, stateSucceeded, nil)
		})
	}
}

// clusterOperationEnded gives the cluster and every pool that was being changed the operation's result.
func (m *model) clusterOperationEnded(result string) {
	m.setClusterState(result)
	for _, p := range m.pools {
		if m.changing(p.state) {
			m.setPoolState(p, result)
		}
	}
}

// addFault adds a fault from now on, and lets it act if it is one that acts by itself.
func (m *model) addFault(fault Fault) {
	added := m.faults.add(fault, m.time.now)
	if m.cluster == nil {
		return
	}
	after := func(d Duration, do func()) { added.entries = append(added.entries, m.time.after(d.span(), do)) }
	switch {
	case fault.Background != nil:
		b := fault.Background
		after(b.At, func() { m.whenFree(func() { m.reconcile(byAKS, b.For.span()) }) })
	case fault.ConcurrentWriter != nil && fault.ConcurrentWriter.After == nil:
		after(fault.ConcurrentWriter.At, func() { m.writeConcurrently(fault.ConcurrentWriter) })
	case fault.Recovers != nil:
		r := fault.Recovers
		after(r.At, func() {
			if p := m.pool(r.Pool); p != nil && !m.changing(p.state) {
				m.recover(p)
			}
		})
	case fault.PDBBlocks != nil:
		app := fault.PDBBlocks.App
		m.block(app)
		added.undo = func() { m.unblock(app) }
		if until := fault.PDBBlocks.Until; until > 0 {
			after(until, func() { m.unblock(app) })
		}
	}
}

// writeConcurrently is somebody else's update, now or as soon as nothing else runs.
func (m *model) writeConcurrently(by *ConcurrentWriter) {
	m.whenFree(func() {
		if by.Pool == "" {
			m.reconcile(byConcurrentWriter, by.For.span())
			return
		}
		p := m.pool(by.Pool)
		if p == nil {
			return
		}
		changed := maps.Clone(p.definition)
		tags := map[string]any{}
		for key, value := range p.tags() {
			tags[key] = value
		}
		for key, value := range by.Tags {
			tags[key] = value
		}
		changed["tags"] = tags
		m.updatePool(p, changed, byConcurrentWriter, by.For.span())
	})
}
