package recreatepool

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"salve/azure"
	"salve/internal/clock"
	"salve/kube"
)

const (
	// lookAfter is how long it may take to find out which nodes are missing, when they were waited for in vain.
	lookAfter = 20 * time.Second
	// mostNamed bounds the nodes that are named.
	mostNamed = 5
)

// missingNodes names the nodes of a pool that were waited for in vain, with what is known of each: why a node does not
// serve, and which machines have no node. It begins with a separator, and is empty where nothing is known.
func (r *recreation) missingNodes(ctx context.Context, pool string, nodes []kube.Node) string {
	ctx, cancel := clock.WithTimeout(context.WithoutCancel(ctx), r.Clock, lookAfter)
	defer cancel()
	var named []string
	known := map[string]bool{}
	for _, node := range nodes {
		known[strings.ToLower(node.Name)] = true
		if why := node.Trouble(); why != "" {
			named = append(named, fmt.Sprintf("node %s %s", node.Name, why))
		}
	}
	machines, err := r.machines(ctx, pool)
	switch {
	case err != nil && len(named) == 0:
		return fmt.Sprintf("; which machines have no node can't be seen: %v", err)
	case err == nil && len(machines) == 0:
		named = append(named, "its scale set has no machine")
	}
	for _, machine := range machines {
		if !known[machine.node] {
			named = append(named, fmt.Sprintf("node %s has not registered (%s)", machine.node, machine))
		}
	}
	if more := len(named) - mostNamed; more > 0 {
		named = append(named[:mostNamed], fmt.Sprintf("%d more", more))
	}
	if len(named) == 0 {
		return ""
	}
	return ": " + strings.Join(named, "; ")
}

// machine is an instance of a pool's scale set, and the name that its node has or will have.
type machine struct {
	set, instance, node string
	// addressless machines have a network interface without IP configuration.
	addressless bool
}

func (m machine) String() string {
	text := fmt.Sprintf("machine %s of scale set %s", m.instance, m.set)
	if m.addressless {
		text += ", whose network interface has no IP configuration"
	}
	return text
}

// machines are those that the pool's network interfaces belong to, as the rights of Salve let it see them.
func (r *recreation) machines(ctx context.Context, pool string) ([]machine, error) {
	cluster, err := r.Azure.Cluster(ctx, r.ResourceGroup, r.Cluster)
	if err != nil {
		return nil, err
	}
	sets, err := r.Azure.ScaleSets(ctx, cluster.NodeResourceGroup, pool)
	if err != nil {
		return nil, err
	}
	var machines []machine
	for _, set := range sets {
		err := r.Azure.Interfaces(ctx, cluster.NodeResourceGroup, set.Name, func(nic azure.Interface) bool {
			instance := nic.Machine[strings.LastIndex(nic.Machine, "/")+1:]
			if node, ok := nodeOf(set.Name, instance); ok {
				addressless := nic.Configurations != nil && *nic.Configurations == 0
				machines = append(machines, machine{set.Name, instance, node, addressless})
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return machines, nil
}

// nodeOf is the name of an instance's node: that of its scale set with the instance's number in base 36, six digits
// wide
// (https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-instance-ids).
func nodeOf(set, instance string) (string, bool) {
	number, err := strconv.ParseUint(instance, 10, 31)
	if err != nil {
		return "", false
	}
	digits := strconv.FormatUint(number, 36)
	return strings.ToLower(set) + strings.Repeat("0", max(0, 6-len(digits))) + digits, true
}
