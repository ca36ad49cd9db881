package recreatepool

import (
	"context"

	"salve/azure"
	"salve/runbook"
)

// interfaces sums up what was seen of the network interfaces of a pool's machines.
type interfaces struct {
	realized, unclear int
	// empty is the ID of one whose list of IP configurations is there and empty.
	empty string
}

// readInterfaces reads network interfaces until one is empty.
func (r *recreation) readInterfaces(ctx context.Context, group string, sets []azure.ScaleSet, seen *interfaces) error {
	for _, set := range sets {
		if err := r.Azure.Interfaces(ctx, group, set.Name, func(nic azure.Interface) bool {
			seen.count(nic)
			return seen.empty == ""
		}); err != nil {
			return err
		}
	}
	return nil
}

// count takes one interface into account. Null is not empty: a list that the
// provider didn't give says nothing.
func (s *interfaces) count(nic azure.Interface) {
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

// emptyIPConfig holds when a machine's network interface has no IP configuration.
func emptyIPConfig(seen wedge) runbook.Finding {
	if seen.interfacesErr != nil {
		return named("empty-ip-config", runbook.Unknown(seen.interfacesErr))
	}
	s, finding := seen.interfaces, runbook.Finding{}
	switch {
	case s.empty != "":
		finding = runbook.Yes("a machine's network interface has no IP configuration: %s", s.empty)
	case s.realized == 0:
		finding = runbook.Unknownf("the scale set has no network interface that a machine uses")
	case s.unclear > 0:
		finding = runbook.Unknownf("%d of %d network interfaces don't say their IP configurations", s.unclear, s.realized)
	default:
		finding = runbook.No("all %d network interfaces have IP configurations", s.realized)
	}
	saw := runbook.NewEvidence("network interfaces of the scale set", s.empty, seen.at,
		map[string]any{"withoutIPConfiguration": s.empty != "", "unclear": s.unclear > 0})
	return named("empty-ip-config", finding.WithEvidence(saw))
}
