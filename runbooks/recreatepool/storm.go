package recreatepool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/azure"
	"salve/runbook"
)

const (
	scaleSetWrite = "Microsoft.Compute/virtualMachineScaleSets/write"
	// corrupted is the code with which the network provider answers for a scale
	// set whose stored state is damaged.
	corrupted = "NetworkingInternalOperationError"
	// windowNote keeps where the window of the storm begins: a storm that was
	// aborted must not lose its evidence by growing old.
	windowNote = "storm-window-began"
)

// storm counts distinct failed writes of some scale sets since a time.
type storm struct {
	since     time.Time
	sets      []azure.ScaleSet
	threshold int
	failed    map[string]bool
}

func newStorm(since time.Time, sets []azure.ScaleSet, threshold int) *storm {
	return &storm{since: since.UTC(), sets: sets, threshold: threshold, failed: map[string]bool{}}
}

// readStorm counts failed writes in the Activity Log until they are enough.
func (r *recreation) readStorm(ctx context.Context, group string, seen *storm) error {
	return r.readActivity(ctx, group, seen.since, func(event azure.Activity) bool {
		seen.count(event)
		return !seen.reached()
	})
}

// windowStart is where the window begins, as the run noted when it first asked.
func (rd *reader) windowStart() time.Time {
	var start time.Time
	now := rd.Clock.Now()
	switch found := rd.recall(windowNote, &start); {
	case !found:
		start = now.Add(-time.Duration(rd.Window)).UTC()
		rd.note(windowNote, start)
	case start.After(now) || now.Sub(start) > maxActivityAge:
		rd.attempt(func() error {
			return &contradiction{
				reason: fmt.Sprintf("the record says that the storm's window began at %s, which can't be",
					start.Format(time.RFC3339)),
				question: "Who wrote that into the record? Abandon this run and start another one.",
			}
		})
	}
	return start
}

// count takes an event into account if it is one of the storm. An event without
// an identity can't be told from its repetition and doesn't count.
func (s *storm) count(event azure.Activity) {
	ours := func(set azure.ScaleSet) bool { return azure.SameID(set.ID, event.ResourceID) }
	switch {
	case event.ID == "" || event.At.Before(s.since):
	case !strings.EqualFold(event.Operation, scaleSetWrite) || event.Status != "Failed":
	case !slices.ContainsFunc(s.sets, ours) || errorCode(event.StatusMessage) != corrupted:
	default:
		s.failed[event.ID] = true
	}
}

func (s *storm) reached() bool { return len(s.failed) >= s.threshold }

// writeStorm holds when enough writes of the scale set failed.
func writeStorm(seen wedge) runbook.Finding {
	if seen.stormErr != nil {
		return named("write-storm", runbook.Unknown(seen.stormErr))
	}
	s := seen.storm
	saw := runbook.NewEvidence("Activity Log of "+seen.group, "", seen.at, map[string]any{
		"code": corrupted, "operation": scaleSetWrite, "scaleSets": scaleSetNames(seen.sets),
		"threshold": s.threshold, "reached": s.reached(),
	})
	finding := runbook.No("%d of %d failed writes with %s since %s", len(s.failed), s.threshold, corrupted,
		s.since.Format(time.RFC3339))
	if s.reached() {
		finding = runbook.Yes("at least %d writes of the scale set failed with %s since %s", s.threshold, corrupted,
			s.since.Format(time.RFC3339))
	}
	return named("write-storm", finding.WithEvidence(saw))
}

// errorCode reads error.code out of a status message; empty when it has none.
func errorCode(message *string) string {
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
