package recreatepool

import (
	"context"
	"slices"
	"strings"
	"time"

	"salve/azure"
	"salve/runbook"
)

const (
	scaleSetWrite = "Microsoft.Compute/virtualMachineScaleSets/write"
	// corrupted is the code with which the network provider answers for a scale set whose stored
	// state is damaged.
	corrupted = "NetworkingInternalOperationError"
	// windowNote keeps where the window of failed writes begins: once the cluster's operation was
	// aborted no more come, and the evidence must not grow too old.
	windowNote = "failed-writes-since"
)

// wedge is what tells whether a pool's scale set is corrupted. One of two proofs is enough: the
// network interfaces are not read when enough writes failed.
type wedge struct {
	reading
	Sets []azure.ScaleSet `json:"sets"`
	// Failed are distinct writes that failed since a time, by the events' IDs.
	Since      time.Time        `json:"since"`
	Failed     map[string]bool  `json:"failed"`
	LogFailure *runbook.Failure `json:"logFailure"`
	// Interfaces of machines were read, of which Unclear don't say their IP configurations; Empty
	// is the ID of one that has none.
	Interfaces        int              `json:"interfaces"`
	Unclear           int              `json:"unclear"`
	Empty             string           `json:"empty"`
	InterfacesFailure *runbook.Failure `json:"interfacesFailure"`
	InterfacesSkipped bool             `json:"interfacesSkipped"`
	// Diagnosis is about the pool's nodes; empty when they could not be read. It gates nothing: a
	// wedged upgrade can still have all its nodes.
	Diagnosis []runbook.Evidence `json:"diagnosis"`
}

func (r *recreation) readWedge(ctx context.Context, run runbook.Run) (wedge, error) {
	seen, err := r.read(ctx, run)
	if err != nil {
		return wedge{}, err
	}
	w, group := wedge{reading: seen, Failed: map[string]bool{}}, seen.AKS.NodeResourceGroup
	if w.Sets, err = r.Azure.ScaleSets(ctx, group, r.Pool); err != nil || len(w.Sets) == 0 {
		return w, err
	}
	if w.Since, err = r.window(ctx, run, seen); err != nil {
		return w, err
	}
	w.LogFailure = runbook.FailureOf(r.readActivity(ctx, group, w.Since, w.countWrite))
	if w.InterfacesSkipped = w.enough(); !w.InterfacesSkipped {
		w.InterfacesFailure = runbook.FailureOf(r.readInterfaces(ctx, &w))
	}
	w.Now = r.Clock.Now()
	if nodes, err := r.withNodes(ctx, seen, nodeSelector(r.Pool), nil); err == nil {
		w.Diagnosis = []runbook.Evidence{nodes.nodesEvidence(r.Pool)}
	}
	return w, nil
}

// readInterfaces reads the network interfaces of the pool's machines until one is empty.
func (r *recreation) readInterfaces(ctx context.Context, w *wedge) error {
	for _, set := range w.Sets {
		if err := r.Azure.Interfaces(ctx, w.AKS.NodeResourceGroup, set.Name, w.countInterface); err != nil {
			return err
		}
	}
	return nil
}

// window gives where the window of failed writes begins, as the run noted when it first asked.
func (r *recreation) window(ctx context.Context, run runbook.Run, seen reading) (time.Time, error) {
	start := seen.windowStart
	switch {
	case start.IsZero():
		start = seen.Now.Add(-r.Window.Duration).UTC()
		return start, run.Note(ctx, windowNote, start)
	case start.After(seen.Now) || seen.Now.Sub(start) > maxActivityAge:
		return start, seen.wrong("failed writes count from %s on, which can't be", start.Format(time.RFC3339))
	}
	return start, nil
}

// countWrite takes an event into account if it is a failed write of the scale set, until there are
// enough. An event without an identity can't be told from its repetition and doesn't count.
func (w *wedge) countWrite(event azure.Activity) (more bool) {
	ours := func(set azure.ScaleSet) bool { return azure.SameID(set.ID, event.ResourceID) }
	switch {
	case event.ID == "" || event.At.Before(w.Since):
	case !strings.EqualFold(event.Operation, scaleSetWrite) || event.Status != "Failed":
	case !slices.ContainsFunc(w.Sets, ours) || event.ErrorCode != corrupted:
	default:
		w.Failed[event.ID] = true
	}
	return !w.enough()
}

func (w *wedge) enough() bool { return len(w.Failed) >= w.Threshold }

// countInterface takes an interface of a machine into account, until one is empty. Null is not
// empty: a list that the provider didn't give says nothing.
func (w *wedge) countInterface(nic azure.Interface) (more bool) {
	switch {
	case nic.Machine == "":
		return true
	case nic.Configurations == nil:
		w.Unclear++
	case *nic.Configurations == 0:
		w.Empty = nic.ID
	}
	w.Interfaces++
	return w.Empty == ""
}

// wedgeEvidence holds when one of the proofs does.
func wedgeEvidence(w wedge) runbook.Finding {
	if len(w.Sets) == 0 {
		return runbook.Unknownf("no scale set in %q has the pool's tag", w.AKS.NodeResourceGroup)
	}
	writes, interfaces := failedWrites(w), emptyIPConfig(w)
	writes.Guard, interfaces.Guard = "write-storm", "empty-ip-config"
	proofs := []runbook.Finding{writes, interfaces}
	if w.enough() {
		proofs = proofs[:1]
	}
	return runbook.Any(proofs...).WithEvidence(w.Diagnosis...)
}

func failedWrites(w wedge) runbook.Finding {
	since := w.Since.Format(time.RFC3339)
	finding := runbook.No("%d of %d failed writes with %s since %s", len(w.Failed), w.Threshold, corrupted, since)
	switch {
	case w.LogFailure != nil:
		return runbook.Unknown(w.LogFailure)
	case w.enough():
		finding = runbook.Yes("at least %d writes of the scale set failed with %s since %s", w.Threshold, corrupted, since)
	}
	return finding.WithEvidence(runbook.NewEvidence("Activity Log of "+w.AKS.NodeResourceGroup, "", w.Now,
		map[string]any{
			"code": corrupted, "operation": scaleSetWrite, "scaleSets": scaleSetNames(w.Sets),
			"threshold": w.Threshold, "reached": w.enough(),
		}))
}

func emptyIPConfig(w wedge) runbook.Finding {
	finding := runbook.No("all %d network interfaces have IP configurations", w.Interfaces)
	switch {
	case w.InterfacesSkipped:
		return runbook.Unread("the network interfaces: enough writes had failed")
	case w.InterfacesFailure != nil:
		return runbook.Unknown(w.InterfacesFailure)
	case w.Empty != "":
		finding = runbook.Yes("a machine's network interface has no IP configuration: %s", w.Empty)
	case w.Interfaces == 0:
		finding = runbook.Unknownf("the scale set has no network interface that a machine uses")
	case w.Unclear > 0:
		finding = runbook.Unknownf("%d of %d network interfaces don't say their IP configurations", w.Unclear, w.Interfaces)
	}
	return finding.WithEvidence(runbook.NewEvidence("network interfaces of the scale set", w.Empty, w.Now,
		map[string]any{"withoutIPConfiguration": w.Empty != "", "unclear": w.Unclear > 0}))
}

func scaleSetNames(sets []azure.ScaleSet) []string {
	names := []string{}
	for _, set := range sets {
		names = append(names, set.Name)
	}
	return names
}
