package registerproviders

import (
	"context"
	"slices"
	"time"

	"salve/azure"
	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/runbook"
)

// asking bounds how long one permit lasts: there may be dozens of requests, each of which is throttled.
const asking = 10 * time.Minute

// registerProviders asks for those that are not registered. There is no way back and none is needed: a registration
// gives a subscription what it may use, and nothing of it is made.
func (r *registration) registerProviders() runbook.Step {
	return r.step("register-providers", "the registrations of resource providers", states.providers,
		func(ctx context.Context, _ runbook.Run, lacking []item) error {
			for _, one := range lacking {
				if err := r.Azure.RegisterProvider(ctx, one.Provider); err != nil {
					return err
				}
			}
			return nil
		})
}

// The notes of a run.
const (
	// newFeatures are the features that it has registered: their providers don't know of them before they are told.
	newFeatures = "new-features"
	// toldProviders says that they were.
	toldProviders = "told-providers"
)

// registerFeatures asks for those that are not registered. Which those are is written down first: what registered them
// is not to be seen afterwards.
func (r *registration) registerFeatures() runbook.Step {
	return r.step("register-features", "the registrations of features", states.features,
		func(ctx context.Context, run runbook.Run, lacking []item) error {
			noted, err := r.noted(run)
			if err != nil {
				return err
			}
			if err := run.Note(ctx, newFeatures, append(noted, lacking...)); err != nil {
				return err
			}
			for _, one := range lacking {
				if err := r.Azure.RegisterFeature(ctx, one.Provider, one.Feature); err != nil {
					return err
				}
			}
			return nil
		})
}

func (r *registration) noted(run runbook.Run) ([]item, error) {
	var noted []item
	_, err := run.Recall(newFeatures, &noted)
	return noted, err
}

// step registers some of the items, and waits for those that are waited for.
func (r *registration) step(
	name, changes string, of func(states) []item, ask func(context.Context, runbook.Run, []item) error,
) runbook.Step {
	return runbook.Step{
		Name: name, Changes: changes, Guards: []string{"registrable"}, PermitLasts: asking, Irreversible: true,
		Inputs: func(runbook.Run) (any, error) { return map[string]any{"providers": r.order.Providers}, nil },
		Observe: func(ctx context.Context, _ runbook.Run) runbook.Observation {
			seen, err := r.now(ctx)
			if err != nil {
				return runbook.NotObserved(err)
			}
			return observed(of(seen))
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			seen, err := r.now(ctx)
			if err != nil {
				return err
			}
			return ask(ctx, run, lacking(of(seen)))
		},
		Await: func(ctx context.Context, run runbook.Run) error { return r.await(ctx, run, of) },
	}
}

func lacking(items []item) []item {
	return slices.DeleteFunc(slices.Clone(items), item.begun)
}

func waitedFor(items []item) []item {
	return slices.DeleteFunc(slices.Clone(items), item.done)
}

func observed(items []item) runbook.Observation {
	lack, wait := lacking(items), waitedFor(items)
	switch {
	case len(lack) > 0 && len(lack) < len(items):
		return runbook.NotStarted("not registered: %s", list(lack)).Partially()
	case len(lack) > 0:
		return runbook.NotStarted("not registered: %s", list(lack))
	case len(wait) > 0:
		return runbook.InFlight("being registered: %s", list(wait))
	}
	return runbook.Done("nothing lacks that the step waits for")
}

// patience is how long a step waits for registrations: one that somebody has to approve may never come.
const patience = 30 * time.Minute

// await asks until all is registered that is waited for.
func (r *registration) await(ctx context.Context, run runbook.Run, of func(states) []item) error {
	began := r.Clock.Now()
	return backoff.Poll(ctx, r.Clock, func(ctx context.Context) (bool, error) {
		seen, err := r.now(ctx)
		if err != nil {
			return false, err
		}
		if gone := lacking(of(seen)); len(gone) > 0 {
			return false, apierr.New(apierr.Conflict, "not registered any more: %s", list(gone))
		}
		waiting := waitedFor(of(seen))
		if len(waiting) == 0 {
			return true, nil
		}
		if r.Clock.Since(began) > patience {
			return false, apierr.New(apierr.Terminal, "timed out: not registered after %s: %s", patience, list(waiting))
		}
		run.Report(runbook.Progress{Text: "waiting for " + list(waiting)})
		return false, nil
	})
}

// propagate registers again the providers of features that are new: before that they don't know of them
// (https://learn.microsoft.com/azure/azure-resource-manager/management/preview-features). ARM does not show whether it
// was done; doing it twice changes nothing.
func (r *registration) propagate() runbook.Step {
	return runbook.Step{
		Name: "propagate-features", Changes: "what resource providers know of new features", Guards: []string{"registrable"},
		PermitLasts: asking, Irreversible: true,
		Observe: func(ctx context.Context, run runbook.Run) runbook.Observation {
			tell, err := r.untold(ctx, run)
			switch {
			case err != nil:
				return runbook.NotObserved(err)
			case len(tell) == 0:
				return runbook.Done("no provider has to be told of a new feature")
			}
			return runbook.NotStarted("to be told of their new features: %v", tell).Partially()
		},
		Apply: func(ctx context.Context, run runbook.Run) error {
			tell, err := r.untold(ctx, run)
			if err != nil {
				return err
			}
			for _, provider := range tell {
				if err := r.Azure.RegisterProvider(ctx, provider); err != nil {
					return err
				}
			}
			return run.Note(ctx, toldProviders, tell)
		},
		Await: func(ctx context.Context, run runbook.Run) error { return r.await(ctx, run, states.providers) },
	}
}

// untold are the providers of which this run has registered a feature, and that were not told of it.
func (r *registration) untold(ctx context.Context, run runbook.Run) ([]string, error) {
	noted, err := r.noted(run)
	if err != nil || len(noted) == 0 {
		return nil, err
	}
	var told []string
	if _, err := run.Recall(toldProviders, &told); err != nil {
		return nil, err
	}
	seen, err := r.now(ctx)
	if err != nil {
		return nil, err
	}
	var tell []string
	for _, one := range seen.features() {
		isNew := slices.ContainsFunc(noted, func(other item) bool {
			return other.Provider == one.Provider && other.Feature == one.Feature
		})
		if isNew && one.is(azure.Registered) && !slices.Contains(told, one.Provider) && !slices.Contains(tell, one.Provider) {
			tell = append(tell, one.Provider)
		}
	}
	return tell, nil
}
