package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"salve/runbook"
)

// request is what the user asked of a runbook.
type request struct {
	journalFlags
	given        []string
	overrides    map[string]string
	skipGuards   bool
	dryRun       bool
	waitForLease time.Duration
	retention    retention
	telemetry    telemetryFlags
	// openRun names the run that the lease of a target says is open; set by who opens the journal.
	openRun func(ctx context.Context, target string) (string, error)
}

// addFlags are those of run, plan and check, whatever the runbook.
func (r *request) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&r.given, "override", nil,
		"guard=reason: continue although this guard does not hold (repeatable; SKIP_GUARDS=true for all)")
	r.locationFlags.addFlags(flags, "in the cluster itself")
}

// read takes flags and environment together.
func (r *request) read(a *app, flags *pflag.FlagSet) error {
	if err := r.readOverrides(a.lookup); err != nil {
		return err
	}
	if r.waitForLease < 0 {
		return usage("invalid --wait-for-lease %s: it must be 0 or more", r.waitForLease)
	}
	if err := r.retention.read(a, flags); err != nil {
		return err
	}
	dryRun, err := parseBool(a.lookup, "DRY_RUN")
	if err != nil {
		return err
	}
	if !flags.Changed("dry-run") {
		r.dryRun = dryRun
	}
	return r.locationFlags.check()
}

func (r *request) readOverrides(lookup func(string) string) error {
	r.overrides = map[string]string{}
	for _, given := range r.given {
		guard, reason, found := strings.Cut(given, "=")
		if !found || guard == "" || strings.TrimSpace(reason) == "" {
			return usage("invalid --override %q: it must be guard=reason, with a reason", given)
		}
		r.overrides[guard] = reason
	}
	var err error
	r.skipGuards, err = parseBool(lookup, "SKIP_GUARDS")
	return err
}

// overridesFor are the overrides for a runbook: those that were given and, when
// all guards are to be skipped, one for each guard that can be.
func (r *request) overridesFor(book runbook.Runbook) map[string]string {
	overrides := map[string]string{}
	for _, guard := range book.Guards {
		if r.skipGuards && !guard.NotOverridable {
			overrides[guard.Name] = "SKIP_GUARDS=true"
		}
	}
	for guard, reason := range r.overrides {
		overrides[guard] = reason
	}
	return overrides
}

// parseBool reads a variable that is true or false; unset is false.
func parseBool(lookup func(string) string, variable string) (bool, error) {
	text := lookup(variable)
	if text == "" {
		return false, nil
	}
	said, err := strconv.ParseBool(text)
	if err != nil {
		return false, usage("invalid %s=%q: it must be true or false", variable, text)
	}
	return said, nil
}
