package azuresim

import (
	"fmt"
	"slices"
	"time"
)

// createPool starts the creation of a pool with a new, healthy scale set.
func (m *model) createPool(name string, sent map[string]any, by string) (*pool, *operation) {
	p := &pool{name: name, state: stateCreating, definition: m.newDefinition(sent), scaleSet: m.newScaleSet(name)}
	p.recreated = m.original(p)
	m.pools = append(m.pools, p)
	m.touch(p)
	op := m.begin(kindCreate, by, p)
	op.finished = func(result string) { m.setPoolState(p, result) }

	duration := m.scenario.Durations.StandIn.span()
	if p.recreated {
		duration = m.scenario.Durations.Recreate.span()
	}
	if c := m.capacityFault(p); c != nil {
		after := c.After.span()
		if after == 0 {
			after = duration / 2
		}
		m.step(op, after, func() { m.end(op, stateFailed, noCapacity(c.Code, p)) })
		return p, op
	}
	m.log.scaleSetWritten(m, p.scaleSet)
	m.boot(p, p.count(), duration)
	m.step(op, duration, func() { m.end(op, stateSucceeded, nil) })
	return p, op
}

func (m *model) capacityFault(p *pool) *Capacity {
	for _, fault := range m.faults.active {
		if fault.Capacity != nil && m.matches(fault.Capacity.Pool, p) {
			return fault.Capacity
		}
	}
	return nil
}

func noCapacity(code string, p *pool) *failure {
	return &failure{
		Code: code,
		Message: fmt.Sprintf("Allocation failed. We do not have sufficient capacity for the requested VM size %s in this "+
			"region. Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance",
			p.text("vmSize")),
	}
}

// quotaFault is the limit that forbids a new pool of that definition, nil when there is none.
func (m *model) quotaFault(name string, sent map[string]any) *Quota {
	candidate := &pool{name: name, definition: m.newDefinition(sent)}
	candidate.recreated = m.original(candidate)
	for _, fault := range m.faults.active {
		if q := fault.Quota; q != nil && m.matches(q.Pool, candidate) && candidate.count() > q.Over {
			return q
		}
	}
	return nil
}

// updatePool starts a change of a pool's definition. Nothing can be written to a corrupted scale set: it ends Failed.
func (m *model) updatePool(p *pool, sent map[string]any, by string, duration time.Duration) *operation {
	before := p.state
	p.definition = m.newDefinition(sent)
	op := m.begin(kindUpdate, by, p)
	m.setPoolState(p, stateUpdating)
	op.finished = func(result string) {
		if by == byConcurrentWriter && result == stateFailed && !m.changing(before) {
			result = before
		}
		m.setPoolState(p, result)
	}
	missing := p.count() - len(p.scaleSet.machines)
	if p.scaleSet.corrupted {
		for range missing {
			p.scaleSet.addMachine().broken = true
		}
		m.startFailedWrites(p)
		m.step(op, duration, func() { m.end(op, stateFailed, writeFailed(p.scaleSet)) })
		return op
	}
	m.log.scaleSetWritten(m, p.scaleSet)
	m.boot(p, missing, duration)
	m.step(op, duration, func() {
		m.shrink(p)
		m.end(op, stateSucceeded, nil)
	})
	return op
}

// shrink removes the newest machines that the definition no longer asks for.
func (m *model) shrink(p *pool) {
	for len(p.scaleSet.machines) > p.count() {
		last := len(p.scaleSet.machines) - 1
		gone := p.scaleSet.machines[last]
		p.scaleSet.machines = p.scaleSet.machines[:last]
		if gone.present {
			m.kube.RemoveNode(gone.node)
		}
	}
}

// deletePool starts the removal of a pool: its nodes are cordoned at once, drained soon, and gone at the end. A drain
// that does not come to its end fails the removal, unless budgets are to be ignored.
func (m *model) deletePool(p *pool, by string, ignoreBudgets bool) *operation {
	duration := m.scenario.Durations.RemoveStandIn.span()
	if m.original(p) {
		duration = m.scenario.Durations.Delete.span()
	}
	op := m.begin(kindDelete, by, p)
	m.setPoolState(p, stateDeleting)
	m.eachNode(p, m.kube.Cordon)
	over := m.time.now.Add(duration)
	remove := func() {
		m.step(op, max(over.Sub(m.time.now), 0), func() { m.end(op, stateSucceeded, nil) })
	}
	m.step(op, duration/5, func() {
		if !ignoreBudgets {
			m.drainPool(op, p, remove)
			return
		}
		m.kube.Empty(m.nodesOf(p))
		remove()
	})
	op.finished = func(result string) {
		if result != stateSucceeded {
			m.setPoolState(p, result)
			return
		}
		m.eachNode(p, m.kube.RemoveNode)
		m.log.scaleSetDeleted(m, p.scaleSet)
		p.scaleSet.machines = nil
		m.pools = slices.DeleteFunc(m.pools, func(other *pool) bool { return other == p })
		m.touch(nil)
	}
	return op
}

func (m *model) eachNode(p *pool, do func(node string)) {
	for _, node := range m.nodesOf(p) {
		do(node)
	}
}

// nodesOf are a pool's machines that are nodes.
func (m *model) nodesOf(p *pool) (nodes []string) {
	for _, machine := range p.scaleSet.machines {
		if machine.present {
			nodes = append(nodes, machine.node)
		}
	}
	return nodes
}

// crowd is from how many machines on those of a pool do not come one by one.
const crowd = 50

// boot starts machines that register as nodes at 60-80 % of the duration and become Ready soon after.
func (m *model) boot(p *pool, count int, duration time.Duration) {
	never := m.neverJoining(p)
	for i := range max(count, 0) {
		machine := p.scaleSet.addMachine()
		if i >= count-never {
			continue
		}
		joins := m.names.between(duration*6/10, duration*8/10, "joins", machine.node)
		ready := joins + m.names.between(duration/50, duration/10, "ready", machine.node)
		if count > crowd { // in batches: the controllers look once after each
			joins, ready = joins.Round(duration/crowd), ready.Round(duration/crowd)
		}
		m.time.after(joins, func() { m.join(p, machine) })
		m.time.after(ready, func() {
			if machine.present && p.scaleSet.has(machine) {
				m.kube.SetReady(machine.node)
			}
		})
	}
}

// neverJoining is how many machines a fault keeps out of a created pool.
func (m *model) neverJoining(p *pool) int {
	for _, fault := range m.faults.active {
		if f := fault.NodeNeverJoins; f != nil && m.matches(f.Pool, p) {
			return f.Nodes
		}
	}
	return 0
}

// join makes a machine a Node, unless it is gone by now.
func (m *model) join(p *pool, machine *machine) {
	if !p.scaleSet.has(machine) || p.state == stateDeleting {
		return
	}
	machine.present, machine.broken = true, false
	m.kube.AddNode(m.newNode(p, machine))
}

// recover heals a pool: its scale set can be written again and the machines that are missing come.
func (m *model) recover(p *pool) {
	p.scaleSet.corrupted = false
	m.stopFailedWrites(p.scaleSet)
	for _, machine := range p.scaleSet.machines {
		if !machine.present {
			m.join(p, machine)
			m.kube.SetReady(machine.node)
		}
	}
	m.log.scaleSetWritten(m, p.scaleSet)
	m.setPoolState(p, stateSucceeded)
	if m.cluster.state == stateFailed && !m.anyPoolFailed() {
		m.setClusterState(stateSucceeded)
	}
}
