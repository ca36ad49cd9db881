package recreatepool

import (
	"time"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

// wedge is what tells whether a pool's scale set is corrupted. One of the two proofs
// is enough: the network interfaces are not read when the storm was seen.
type wedge struct {
	pool, group string
	sets        []azure.ScaleSet
	at          time.Time

	storm         *storm
	stormErr      error
	interfaces    *interfaces
	interfacesErr error
	// nodes of the pool; nil when they could not be read. They gate nothing: a
	// wedged upgrade can still have all its nodes.
	nodes []kube.Node
}

func (r *recreation) wedgeEvidence() runbook.Guard {
	question := "is the pool's scale set corrupted: do its writes fail, or has a machine no IP configuration?"
	return ask(r, "wedge-evidence", question, (*reader).wedge, wedgeEvidence)
}

func (rd *reader) wedge() wedge {
	seen := wedge{pool: rd.Pool, group: rd.cluster().NodeResourceGroup, sets: rd.scaleSets()}
	if rd.err != nil || len(seen.sets) == 0 {
		return seen
	}
	seen.storm = newStorm(rd.windowStart(), seen.sets, rd.Threshold)
	if rd.err != nil {
		return seen
	}
	seen.stormErr = rd.readStorm(rd.ctx, seen.group, seen.storm)
	if seen.stormErr != nil || !seen.storm.reached() {
		seen.interfaces = &interfaces{}
		seen.interfacesErr = rd.readInterfaces(rd.ctx, seen.group, seen.sets, seen.interfaces)
	}
	// Without nodes the diagnosis says so; the guard's answer does not rest on them.
	diagnosis := *rd
	seen.nodes = diagnosis.nodes(rd.Pool)
	seen.at = rd.Clock.Now()
	return seen
}

// wedgeEvidence holds when one of the proofs does.
func wedgeEvidence(seen wedge) runbook.Finding {
	if len(seen.sets) == 0 {
		return runbook.Unknownf("no scale set in %q has the pool's tag", seen.group)
	}
	proofs := []runbook.Finding{writeStorm(seen)}
	if seen.interfaces != nil {
		proofs = append(proofs, emptyIPConfig(seen))
	}
	diagnosis := map[string]any{"seen": false}
	if seen.nodes != nil {
		ready := 0
		for _, node := range seen.nodes {
			if node.Ready {
				ready++
			}
		}
		diagnosis = map[string]any{"nodes": len(seen.nodes), "ready": ready}
	}
	return runbook.Any(proofs...).WithEvidence(runbook.NewEvidence("diagnosis: nodes of pool "+seen.pool, "", seen.at,
		diagnosis))
}

func scaleSetNames(sets []azure.ScaleSet) []string {
	names := []string{}
	for _, set := range sets {
		names = append(names, set.Name)
	}
	return names
}

func named(guard string, finding runbook.Finding) runbook.Finding {
	finding.Guard = guard
	return finding
}
