//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"text/tabwriter"
	"time"

	"salve/internal/hotfix/event"
	"salve/internal/hotfix/metrics"
	"salve/internal/hotfix/slot"
)

// report is the JSON document of status.
type report struct {
	SchemaVersion int           `json:"schemaVersion"`
	Events        []event.Event `json:"events"`
	Unreadable    int           `json:"unreadable"`
	Trial         *slot.Trial   `json:"trial,omitempty"` // of the last hotfix that was started
}

// runStatus shows the last events, the newest at the end.
func (n *node) runStatus() int {
	if n.settings.output != "table" && n.settings.output != "json" {
		n.warn(fmt.Sprintf("--output %.20q: it is table or json", n.settings.output))
		return exitUsage
	}
	if n.settings.last < 1 {
		n.warn(fmt.Sprintf("--last %d: it is 1 or more", n.settings.last))
		return exitUsage
	}
	if over, code := n.statusMetrics(); over {
		return code
	}
	events, unreadable, err := n.events().Last(n.settings.last)
	if err != nil {
		n.warn("status: " + err.Error())
		return exitFailed
	}
	trial := n.lastTrial()
	if n.settings.output == "json" {
		n.answer(report{SchemaVersion: event.SchemaVersion, Events: append([]event.Event{}, events...),
			Unreadable: unreadable, Trial: trial})
		return exitDone
	}
	if trial != nil {
		fmt.Fprintf(n.stdout, "Hotfix %s: %s.\n\n", plain(trial.Target), describe(*trial, n.settings.trials))
	}
	if unreadable > 0 {
		n.warn(fmt.Sprintf("%d events can't be read and are left out", unreadable))
	}
	if len(events) == 0 {
		fmt.Fprintf(n.stdout, "No events in %s.\n", n.events().Path)
		return exitDone
	}
	table := tabwriter.NewWriter(n.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TIME\tCOMMAND\tLEVEL\tOUTCOME\tREASON\tTARGET\tTOOK\tPROBLEM")
	for _, e := range events {
		took := time.Duration(e.Milliseconds["all"] * float64(time.Millisecond)).Round(time.Millisecond)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.100s\n", e.Time.UTC().Format(time.RFC3339), plain(e.Command),
			plain(string(e.Level)), plain(e.Outcome), cmp.Or(plain(e.Reason), "-"), cmp.Or(plain(e.Target), "-"), took,
			cmp.Or(plain(e.Problem), "-"))
	}
	if err := table.Flush(); err != nil {
		return exitFailed
	}
	return exitDone
}

// statusMetrics writes the metrics, where that is asked for. Printed, they are all that is.
func (n *node) statusMetrics() (over bool, code int) {
	if n.settings.prometheus == "" {
		return false, exitDone
	}
	text, err := n.metricsOf(nil)
	switch {
	case err == nil && n.settings.prometheus == "-":
		_, err = n.stdout.Write(text)
		over = true
	case err == nil:
		err = metrics.Write(n.settings.prometheus, text)
	}
	if err != nil {
		n.warn("status: the metrics are not written: " + err.Error())
		return true, exitFailed
	}
	return over, exitDone
}

// lastTrial is that of the last hotfix that was started here, if there was any.
func (n *node) lastTrial() *slot.Trial {
	trial, err := n.slot().ReadTrial()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		n.warn("status: " + err.Error())
		return nil
	}
	return &trial
}

func describe(trial slot.Trial, limit int) string {
	switch {
	case trial.Confirmed:
		return "confirmed"
	case trial.Running():
		return fmt.Sprintf("on trial, for the %d. of %d times", trial.Trials, max(limit, 1))
	}
	return fmt.Sprintf("not confirmed, %d of %d trials used", trial.Trials, max(limit, 1))
}
