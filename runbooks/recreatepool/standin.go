package recreatepool

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"time"

	"salve/azure"
	"salve/kube"
	"salve/runbook"
)

// Tags of a stand-in.
const (
	purposeTag = "purpose"
	purpose    = "salve-stand-in"
	sourceTag  = "salve-source"
	runTag     = "salve-run"
)

// reducedNote keeps that quota forced a stand-in of one node.
const reducedNote = "stand-in-reduced"

func isStandIn(pool azure.Pool) bool { return pool.Tags[purposeTag] == purpose }

// standInName derives the stand-in's name from the source pool's resource ID: the
// same source has the same stand-in, whoever asks. AKS allows 12 characters, and
// 6 for Windows (https://learn.microsoft.com/azure/aks/create-node-pools#limitations).
func standInName(poolID, osType string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(poolID)))
	text := "s" + new(big.Int).SetBytes(sum[:]).Text(36)
	if strings.EqualFold(osType, "Windows") {
		return text[:6]
	}
	return text[:12]
}

// standIn is the stand-in that a run makes.
type standIn struct {
	name string
	// size is how many nodes it has.
	size int
	// system: it is a system pool, as its source is.
	system bool
}

// standIn derives the run's stand-in from the snapshot, or before there is one from
// what ARM says of the source. Nothing of it is taken from the record as it is.
func (rd *reader) standIn() standIn {
	source, _ := rd.seen.Last().Pool(rd.Pool)
	osType, mode, size := source.OSType, source.Mode, source.Count
	if taken, found := rd.snapshotIfTaken(); found && rd.err == nil {
		model, err := taken.Definition.Model()
		rd.attempt(func() error { return err })
		if p := model.Properties; err == nil {
			osType, mode, size = string(valueOf(p.OSType)), string(valueOf(p.Mode)), int(valueOf(p.Count))
		}
	}
	if rd.StandInSize > 0 {
		size = rd.StandInSize
	}
	var reduced bool
	if rd.recall(reducedNote, &reduced); reduced {
		size = 1
	}
	return standIn{standInName(rd.poolID(), osType), max(size, 1), mode == "System"}
}

// whose compares tags with those that a run gives its stand-in of a pool.
func (in Inputs) whose(tags map[string]string, run string) bool {
	return tags[purposeTag] == purpose && run != "" && tags[runTag] == run && azure.SameID(tags[sourceTag], in.poolID())
}

// load is what tells whether a run's stand-in carries the load.
type load struct {
	Inputs
	cluster azure.Cluster
	standIn standIn
	run     string
	// nodes are those of the stand-in that are new since the snapshot.
	nodes []kube.Node
	now   time.Time
}

// standInReady is a precondition of all that relies on the stand-in, and is asked
// again while the source is drained.
func (r *recreation) standInReady() runbook.Guard {
	read := func(rd *reader) load {
		own := rd.standIn()
		nodes := newSince(rd.snapshot(), rd.nodes(own.name))
		return load{rd.Inputs, rd.cluster(), own, rd.run.ID(), nodes, rd.Clock.Now()}
	}
	return ask(r, "stand-in-ready", "do the stand-in's nodes serve now?", read, standInReady)
}

// standInReady holds when ARM lists the stand-in as this run's, and as many nodes as
// it must have are Ready and schedulable.
func standInReady(seen load) runbook.Finding {
	pool, found := seen.cluster.Pool(seen.standIn.name)
	ready, size := serving(seen.nodes), seen.standIn.size
	finding := runbook.Yes("all %d nodes of the stand-in are Ready and schedulable", ready)
	switch {
	case !found:
		finding = runbook.No("stand-in %q not found", seen.standIn.name).WithOutcome(runbook.Failed)
	case !seen.whose(pool.Tags, seen.run):
		finding = runbook.No("pool %q is not this run's stand-in: its tags say otherwise", pool.Name).
			WithOutcome(runbook.NeedsAttention)
	case pool.State == "Deleting":
		finding = runbook.No("somebody is deleting stand-in %q", pool.Name).WithOutcome(runbook.Failed)
	case ready < size:
		finding = runbook.No("only %d of the stand-in's %d nodes are Ready and schedulable", ready, size).
			WithOutcome(runbook.Failed)
	}
	return finding.WithEvidence(runbook.NewEvidence("nodes of pool "+seen.standIn.name, "", seen.now,
		map[string]int{"nodes": len(seen.nodes), "serving": ready}))
}

// standInOf reads the stand-in that a run made; nil when it is absent. A pool of its
// name with other tags is a stranger's, which is never touched.
func (rd *reader) standInOf(pool, run string) azure.Definition {
	definition := rd.definition(pool)
	rd.attempt(func() error {
		if definition == nil {
			return nil
		}
		model, err := definition.Model()
		if err != nil {
			return err
		}
		tags := map[string]string{}
		for name, text := range model.Properties.Tags {
			tags[name] = valueOf(text)
		}
		if rd.whose(tags, run) {
			return nil
		}
		return &contradiction{
			reason:   fmt.Sprintf("pool %q has the name of the stand-in but not its tags", pool),
			question: fmt.Sprintf("Whose is pool %q? Remove it, or give it back its tags.", pool),
		}
	})
	return definition
}
