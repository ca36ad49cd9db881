package registerproviders

import (
	"fmt"
	"strings"

	"salve/azure"
	"salve/runbook"
)

// registrable asks whether ARM knows all of it, and nobody ends a registration meanwhile.
func (r *registration) registrable() runbook.Guard {
	return runbook.Ask("registrable", "does ARM have all that is to be registered, and does nobody end a registration?",
		r.read, r.Inputs.registrable)
}

func (in Inputs) registrable(seen states) runbook.Finding {
	for _, one := range seen.Items {
		switch {
		case one.State == "":
			return in.about(seen, runbook.No("ARM has no %s for subscription %s", one, in.Subscription).
				WithOutcome(runbook.Failed))
		case one.is("Unregistering"):
			return in.about(seen, runbook.No("the registration of %s is being ended", one).WithOutcome(runbook.Deferred))
		}
	}
	return in.about(seen, runbook.Yes("ARM has all %d of them", len(seen.Items)))
}

// registered asks whether all that is waited for is registered, and the rest at least begun.
func (r *registration) registered() runbook.Guard {
	return runbook.Ask("registered", "is all registered that the step waits for?", r.read, r.Inputs.registered)
}

func (in Inputs) registered(seen states) runbook.Finding {
	for _, one := range append(seen.providers(), seen.features()...) {
		if !one.done() {
			return in.about(seen, runbook.No("%s is %s", one, orNone(one.State)).WithOutcome(runbook.NeedsAttention))
		}
	}
	waiting := seen.of(func(one item) bool { return !one.is(azure.Registered) })
	if len(waiting) > 0 {
		return in.about(seen, runbook.Yes("all is registered but what the step does not wait for: %s", list(waiting)))
	}
	return in.about(seen, runbook.Yes("all is registered"))
}

func (in Inputs) about(seen states, finding runbook.Finding) runbook.Finding {
	said := map[string]any{}
	for _, one := range seen.Items {
		said[one.String()] = one.State
	}
	return finding.WithEvidence(runbook.NewEvidence("ARM registrations of subscription "+in.Subscription, in.Registration,
		seen.Seen, said))
}

func orNone(state string) string {
	if state == "" {
		return "not there"
	}
	return state
}

// list names items with their states, and no more of them than anybody reads.
func list(items []item) string {
	const shown = 5
	var all []string
	for _, one := range items[:min(shown, len(items))] {
		all = append(all, fmt.Sprintf("%s (%s)", one, orNone(one.State)))
	}
	if more := len(items) - shown; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
