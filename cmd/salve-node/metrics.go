//go:build linux

package main

import (
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/fetch"
	"salve/internal/hotfix/metrics"
	"salve/internal/hotfix/slot"
)

// How many of the last events have a boot among them: with what was done by hand since, and at its very end.
const (
	recentEvents = keptEvents
	bootEvents   = 10
)

// metricsOf gives the metrics of the last boot. launched is its event where it can't be among those that are kept.
func (n *node) metricsOf(launched *event.Event) ([]byte, error) {
	most := recentEvents
	if launched != nil {
		most = bootEvents
	}
	events, _, err := n.events().Last(most)
	if launched != nil {
		last := len(events) - 1
		if last < 0 || !events[last].Time.Equal(launched.Time) || events[last].Command != launched.Command {
			events = append(events, *launched)
		}
		err = nil // the boot is known
	}
	if err != nil {
		return nil, err
	}
	known := metrics.Node{Trial: n.lastTrial(), Trials: n.settings.trials, Words: metricWords()}
	known.Boot, known.Launched = event.LastBoot(events)
	return metrics.Text(known), nil
}

// exportMetrics writes them at the end of a boot, where that is asked for.
func (n *node) exportMetrics(launched event.Event) {
	if n.settings.prometheus == "" {
		return
	}
	n.safely("launch", func() {
		text, err := n.metricsOf(&launched)
		if err == nil {
			err = metrics.Write(n.settings.prometheus, text)
		}
		if err != nil {
			n.warn("the metrics are not written: " + err.Error())
		}
	})
}

// metricWords are the outcomes and reasons that metrics tell apart.
func metricWords() metrics.Words {
	known := metrics.Words{Outcomes: []string{outcomeRan, outcomeFellBack, outcomeStopped, outcomeFailed}}
	for _, reason := range append(choosable(), reasonUnprepared, reasonNotCounted) {
		known.Reasons = append(known.Reasons, string(reason))
	}
	known.Fetched = []string{outcomeNothingToDo, outcomeStaged, outcomeAlreadyStaged, outcomePostponed, outcomeMarkedBad,
		outcomeUnfit, string(slot.Older), outcomeReadOnly, outcomeDiskFull, outcomePanic}
	for _, outcome := range fetch.Outcomes() {
		known.Fetched = append(known.Fetched, string(outcome))
	}
	return known
}
