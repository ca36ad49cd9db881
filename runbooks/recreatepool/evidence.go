package recreatepool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/runbook"
)

const (
	scaleSetWrite = "Microsoft.Compute/virtualMachineScaleSets/write"
	clusterWrite  = "Microsoft.ContainerService/managedClusters/write"
	poolWrite     = "Microsoft.ContainerService/managedClusters/agentPools/write"
	// corrupted is the code with which the network provider answers for a scale
	// set whose stored state is damaged.
	corrupted = "NetworkingInternalOperationError"
	// rolePatience is how long a refusal is waited out: a new role assignment
	// takes minutes to spread.
	rolePatience = 5 * time.Minute
	// skew is how far the service's clock may be ahead of ours.
	skew = 5 * time.Minute
	// windowNote keeps where the window of the storm began: a storm that was
	// aborted must not lose its evidence by growing old.
	windowNote = "storm-window-began"
)

var rolesSpreading = backoff.Exponential{First: 5 * time.Second, Longest: time.Minute, Factor: 2}

// writeStorm asks the Activity Log for failed writes of the pool's scale sets.
func (r *recreation) writeStorm(ctx context.Context, run runbook.Run, nodeResourceGroup string, sets []azure.ScaleSet) runbook.Finding {
	finding := func(f runbook.Finding) runbook.Finding { f.Guard = "write-storm"; return f }
	began, err := r.windowBegan(ctx, run)
	if err != nil {
		return finding(runbook.Unknown(err))
	}
	storm := newStorm(began, sets)
	err = r.readActivity(ctx, nodeResourceGroup, began, func(event azure.Activity) bool {
		storm.count(event)
		return len(storm.seen) < r.Threshold
	})
	if err != nil {
		return finding(runbook.Unknown(err))
	}
	enough := len(storm.seen) >= r.Threshold
	saw := runbook.NewEvidence("Activity Log of "+nodeResourceGroup, "", r.Clock.Now(), map[string]any{
		"code": corrupted, "operation": scaleSetWrite, "scaleSets": scaleSetNames(sets), "threshold": r.Threshold, "reached": enough,
	})
	since := began.UTC().Format(time.RFC3339)
	if enough {
		return finding(runbook.Yes("at least %d writes of the scale set failed with %s since %s", r.Threshold, corrupted, since).WithEvidence(saw))
	}
	return finding(runbook.No("%d of %d failed writes with %s since %s", len(storm.seen), r.Threshold, corrupted, since).WithEvidence(saw))
}

func (r *recreation) windowBegan(ctx context.Context, run runbook.Run) (time.Time, error) {
	var began time.Time
	found, err := run.Recall(windowNote, &began)
	if found || err != nil {
		return began, err
	}
	began = r.Clock.Now().Add(-time.Duration(r.Window)).UTC()
	return began, run.Note(ctx, windowNote, began)
}

// storm counts distinct failed writes of some scale sets since a time.
type storm struct {
	began time.Time
	sets  []azure.ScaleSet
	seen  map[string]bool
}

func newStorm(began time.Time, sets []azure.ScaleSet) *storm {
	return &storm{began: began, sets: sets, seen: map[string]bool{}}
}

// count takes an event into account if it is one of the storm. An event without
// an identity can't be told from its repetition and doesn't count.
func (s *storm) count(event azure.Activity) {
	ours := func(set azure.ScaleSet) bool { return azure.SameID(set.ID, event.ResourceID) }
	switch {
	case event.ID == "" || event.At.Before(s.began):
	case !strings.EqualFold(event.Operation, scaleSetWrite) || event.Status != "Failed":
	case !slices.ContainsFunc(s.sets, ours) || codeOf(event.StatusMessage) != corrupted:
	default:
		s.seen[event.ID] = true
	}
}

// codeOf reads error.code out of a status message; empty when it has none.
func codeOf(message *string) string {
	if message == nil {
		return ""
	}
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(*message), &body) != nil {
		return ""
	}
	return body.Error.Code
}

// readActivity reads the log of a resource group or a resource since a time, and waits while
// the role that allows it spreads: once for all questions, so that an answer that
// a person overrode doesn't cost five minutes at each step.
func (r *recreation) readActivity(ctx context.Context, of string, since time.Time, visit func(azure.Activity) bool) error {
	for n := 1; ; n++ {
		query := azure.ActivityQuery{From: since, To: r.Clock.Now().Add(skew), Of: of}
		err := r.Azure.ReadActivity(ctx, query, visit)
		if err == nil || apierr.ClassOf(err) != apierr.Denied || !azure.RefusedAccess(err) {
			r.refusedSince = time.Time{}
			return err
		}
		if r.refusedSince.IsZero() {
			r.refusedSince = r.Clock.Now()
		}
		refused, pause := r.Clock.Since(r.refusedSince), rolesSpreading.Pause(n, apierr.RetryAfter(err))
		if refused+pause > rolePatience || clock.Sleep(ctx, r.Clock, pause) != nil {
			return fmt.Errorf("still refused after %s: %w", refused.Round(time.Second), err)
		}
	}
}

// emptyIPConfig looks for a network interface of the pool's machines whose list
// of IP configurations is there and empty.
func (r *recreation) emptyIPConfig(ctx context.Context, nodeResourceGroup string, sets []azure.ScaleSet) runbook.Finding {
	finding := func(f runbook.Finding) runbook.Finding { f.Guard = "empty-ip-config"; return f }
	var seen interfaces
	for _, set := range sets {
		err := r.Azure.Interfaces(ctx, nodeResourceGroup, set.Name, func(nic azure.Interface) bool {
			seen.look(nic)
			return seen.empty == ""
		})
		if err != nil {
			return finding(runbook.Unknown(err))
		}
	}
	return finding(seen.finding(r.Clock.Now()))
}

// interfaces sums up what was seen of network interfaces.
type interfaces struct {
	realized, unclear int
	empty             string
}

// look takes one interface into account. Null is not empty: a list that the
// provider didn't give says nothing.
func (s *interfaces) look(nic azure.Interface) {
	if nic.Machine == "" {
		return
	}
	s.realized++
	switch {
	case nic.Configurations == nil:
		s.unclear++
	case *nic.Configurations == 0:
		s.empty = nic.ID
	}
}

func (s *interfaces) finding(now time.Time) runbook.Finding {
	saw := runbook.NewEvidence("network interfaces of the scale set", s.empty, now, map[string]any{"withoutIPConfiguration": s.empty != "", "unclear": s.unclear > 0})
	switch {
	case s.empty != "":
		return runbook.Yes("a machine's network interface has no IP configuration: %s", s.empty).WithEvidence(saw)
	case s.realized == 0:
		return runbook.Unknownf("the scale set has no network interface that a machine uses").WithEvidence(saw)
	case s.unclear > 0:
		return runbook.Unknownf("%d of %d network interfaces don't say their IP configurations", s.unclear, s.realized).WithEvidence(saw)
	}
	return runbook.No("all %d network interfaces have IP configurations", s.realized).WithEvidence(saw)
}
