package recreatepool

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"

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

// sizeNote keeps the stand-in's node count when quota forced another one.
const sizeNote = "stand-in-size"

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

// standIn is the stand-in's name, by what the cluster or the snapshot says of the
// source's operating system.
func (r *recreation) standIn(run runbook.Run) (string, error) {
	taken, found, err := recallSnapshot(run)
	if err != nil {
		return "", err
	}
	if found {
		model, err := taken.Definition.Model()
		if err != nil {
			return "", err
		}
		if model.Properties.OSType != nil {
			return standInName(r.poolID(), string(*model.Properties.OSType)), nil
		}
	}
	source, _ := r.sighted.Pool(r.Pool)
	return standInName(r.poolID(), source.OSType), nil
}

// standInSize is how many nodes the stand-in gets.
func (r *recreation) standInSize(run runbook.Run) (int, error) {
	var size int
	if found, err := run.Recall(sizeNote, &size); found || err != nil {
		return size, err
	}
	if r.StandInSize > 0 {
		return r.StandInSize, nil
	}
	taken, found, err := recallSnapshot(run)
	if err != nil {
		return 0, err
	}
	source, _ := r.sighted.Pool(r.Pool)
	size = source.Count
	if found {
		model, err := taken.Definition.Model()
		if err != nil {
			return 0, err
		}
		if model.Properties.Count != nil {
			size = int(*model.Properties.Count)
		}
	}
	return max(size, 1), nil
}

func (r *recreation) addStandIn() runbook.Step {
	return runbook.Step{
		Name: "add-stand-in",
		Changes: "create a stand-in pool like " + r.Pool + " and wait for its nodes; " +
			"if it is a system pool that quota refuses at that size, once more with one node",
		Guards:        allGuards,
		Preconditions: []runbook.Guard{r.leftoversKnown()},
		Budget:        20 * time.Minute,
		Inputs:        r.standInInputs,
		Observe:       r.observeStandIn,
		Apply:         r.putStandIn,
		Await:         r.awaitStandIn,
		RetryWith: func(ctx context.Context, run runbook.Run, refused error) (bool, error) {
			size, err := r.standInSize(run)
			taken, _, snapshotErr := recallSnapshot(run)
			if err != nil || snapshotErr != nil || size <= 1 || !azure.RefusedByQuota(refused) || !systemPool(taken.Definition) {
				return false, err
			}
			if err := run.Warn(ctx, "quota refuses a stand-in of %d nodes; trying one node", size); err != nil {
				return false, err
			}
			return true, run.Note(ctx, sizeNote, 1)
		},
		Rollback: r.removeStandIn("remove-stand-in", "remove the stand-in pool"),
	}
}

func (r *recreation) standInInputs(run runbook.Run) (any, error) {
	name, err := r.standIn(run)
	if err != nil {
		return nil, err
	}
	size, err := r.standInSize(run)
	return map[string]any{"pool": name, "count": size}, err
}

func systemPool(definition azure.Definition) bool {
	model, err := definition.Model()
	return err == nil && model.Properties.Mode != nil && string(*model.Properties.Mode) == "System"
}

// observeStandIn tells how far the stand-in of this run is. One that carries
// another run's tags is never touched.
func (r *recreation) observeStandIn(ctx context.Context, run runbook.Run) runbook.Observation {
	name, err := r.standIn(run)
	if err != nil {
		return runbook.NotObserved(err)
	}
	definition, err := r.definition(ctx, name)
	switch {
	case err != nil:
		return runbook.NotObserved(err)
	case definition == nil:
		return runbook.NotStarted("there is no pool %s", name)
	case tagOf(definition, runTag) != run.ID():
		return runbook.Undecidable(fmt.Sprintf("Whose is pool %q? It has the name of this run's stand-in but not its tags.", name), "pool %q is not of this run", name)
	}
	pending, err := resultPending(run)
	if err != nil {
		return runbook.NotObserved(err)
	}
	switch state := definition.State(); state {
	case "Failed", "Canceled":
		if pending {
			return runbook.InFlight("%s", "the stand-in is "+state+"; its operation knows why")
		}
		return runbook.NotStarted("the stand-in is %s", state)
	case "Deleting":
		return runbook.Undecidable(fmt.Sprintf("Who is deleting pool %q, this run's stand-in?", name), "somebody is deleting the stand-in")
	default:
		return runbook.InFlight("the stand-in is %s", state)
	}
}

func tagOf(definition azure.Definition, tag string) string {
	model, err := definition.Model()
	if err != nil || model.Properties.Tags[tag] == nil {
		return ""
	}
	return *model.Properties.Tags[tag]
}

// standInBody is the sanitized snapshot with the autoscaler cleared, the size of
// the stand-in, and tags that say what it is.
func (r *recreation) standInBody(ctx context.Context, run runbook.Run) (azure.Definition, error) {
	taken, err := mustRecall(run)
	if err != nil {
		return nil, err
	}
	size, err := r.standInSize(run)
	if err != nil {
		return nil, err
	}
	cluster, err := r.cluster(ctx, run)
	if err != nil {
		return nil, err
	}
	body, err := taken.Definition.Sanitized(cluster.Version)
	if err != nil {
		return nil, err
	}
	return body.With(func(properties map[string]any) {
		for _, autoscaler := range []string{"enableAutoScaling", "minCount", "maxCount"} {
			delete(properties, autoscaler)
		}
		properties["count"] = json.Number(fmt.Sprint(size))
		tags, _ := properties["tags"].(map[string]any)
		if tags == nil {
			tags = map[string]any{}
			properties["tags"] = tags
		}
		tags[purposeTag], tags[sourceTag], tags[runTag] = purpose, r.poolID(), run.ID()
	})
}

func (r *recreation) putStandIn(ctx context.Context, run runbook.Run) error {
	name, err := r.standIn(run)
	if err != nil {
		return err
	}
	body, err := r.standInBody(ctx, run)
	if err != nil {
		return err
	}
	return r.put(ctx, run, name, body)
}

// put creates a pool, or writes over the one of that name that failed to be
// created.
func (r *recreation) put(ctx context.Context, run runbook.Run, pool string, body azure.Definition) error {
	there, err := r.definition(ctx, pool)
	if err != nil {
		return err
	}
	var operation *azure.Operation
	if there == nil {
		operation, err = r.Azure.CreatePool(ctx, r.poolName(pool), body)
	} else {
		operation, err = r.Azure.UpdatePool(ctx, r.poolName(pool), body, there.ETag())
	}
	if err != nil {
		return err
	}
	return noteOperation(ctx, run, operation)
}

// awaitStandIn waits until ARM says that the pool is there and all its nodes
// serve.
func (r *recreation) awaitStandIn(ctx context.Context, run runbook.Run) error {
	name, err := r.standIn(run)
	if err != nil {
		return err
	}
	if err := r.awaitCreated(ctx, run, name); err != nil {
		return err
	}
	size, err := r.standInSize(run)
	if err != nil {
		return err
	}
	return r.awaitNodes(ctx, run, name, func(nodes []kube.Node) bool {
		return len(nodes) >= size && serving(nodes) == len(nodes)
	}, size)
}

// awaitNodes watches a pool's nodes.
func (r *recreation) awaitNodes(ctx context.Context, run runbook.Run, pool string, enough func([]kube.Node) bool, wanted int) error {
	cluster, err := r.Kubernetes(ctx)
	if err != nil {
		return err
	}
	ready := 0
	err = cluster.AwaitNodes(ctx, nodeSelector(pool), func(nodes []kube.Node) bool {
		ready = serving(nodes)
		run.Report(runbook.Progress{Text: fmt.Sprintf("pool %s: %d of %d nodes Ready", pool, ready, wanted)})
		return enough(nodes)
	})
	seen := fmt.Sprintf("pool %q has %d of %d nodes Ready and schedulable", pool, ready, wanted)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return apierr.New(apierr.Transient, "%s", seen)
	case err != nil:
		return fmt.Errorf("%s: %w", seen, err)
	}
	return nil
}

// standInReady is a condition of what relies on the stand-in: its nodes serve now.
func (r *recreation) standInReady() runbook.Guard {
	return runbook.Guard{Name: "stand-in-ready", Question: "do the stand-in's nodes serve now?",
		Evaluate: func(ctx context.Context, run runbook.Run) runbook.Finding {
			name, err := r.standIn(run)
			if err != nil {
				return runbook.Unknown(err)
			}
			size, err := r.standInSize(run)
			if err != nil {
				return runbook.Unknown(err)
			}
			nodes, err := r.nodes(ctx, name)
			if err != nil {
				return runbook.Unknown(err)
			}
			ready := serving(nodes)
			saw := runbook.NewEvidence("nodes of pool "+name, "", r.Clock.Now(), map[string]int{"nodes": len(nodes), "serving": ready})
			if ready < size {
				return runbook.No("only %d of the stand-in's %d nodes are Ready and schedulable", ready, size).WithEvidence(saw).WithOutcome(runbook.Failed)
			}
			return runbook.Yes("all %d nodes of the stand-in are Ready and schedulable", ready).WithEvidence(saw)
		}}
}
