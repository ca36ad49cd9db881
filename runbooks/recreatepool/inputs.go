package recreatepool

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/azure"
)

// Inputs are what the runbook is made from. They are journaled.
type Inputs struct {
	Subscription  string `json:"subscription"`
	ResourceGroup string `json:"resourceGroup"`
	Cluster       string `json:"cluster"`
	Pool          string `json:"pool"`
	// Threshold is how many failed writes of the scale set are evidence.
	Threshold int `json:"failureThreshold"`
	// Window is how far back failed writes count.
	Window metav1.Duration `json:"window"`
	// SettleAge is how old an operation of the cluster must be to be aborted.
	SettleAge metav1.Duration `json:"settleAge"`
	// Budget bounds the whole run.
	Budget metav1.Duration `json:"budget"`
	// DrainDeadline bounds each drain.
	DrainDeadline metav1.Duration `json:"drainDeadline"`
	// OnBlockedDrain says what becomes of pods that PodDisruptionBudgets keep on nodes that are to go: wait or force.
	// Empty is to ask, as in records that are older than the choice.
	OnBlockedDrain string `json:"onBlockedDrain,omitempty"`
	// StandInSize is the stand-in's node count; 0 means as many as the source has.
	StandInSize int `json:"standInSize"`
}

// Defaults are the inputs that a user need not give.
func Defaults() Inputs {
	minutes := func(n time.Duration) metav1.Duration { return metav1.Duration{Duration: n * time.Minute} }
	return Inputs{
		Pool: "system", Threshold: 10, Window: minutes(15), SettleAge: minutes(30), Budget: minutes(60),
		DrainDeadline: minutes(5),
	}
}

// The rules of names:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
var (
	resourceGroupRule = regexp.MustCompile(`^[-\w.()]{0,89}[-\w()]$`)
	clusterRule       = regexp.MustCompile(`^[a-zA-Z0-9]([-\w]{0,61}[a-zA-Z0-9])?$`)
	poolRule          = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)
)

// maxActivityAge is how long the Activity Log keeps events.
const maxActivityAge = 90 * 24 * time.Hour

// Validate finds invalid inputs.
func (in Inputs) Validate() error {
	for _, name := range []struct {
		what, value string
		valid       func(string) bool
	}{
		{"subscription", in.Subscription, azure.IsSubscriptionID},
		{"resource group", in.ResourceGroup, resourceGroupRule.MatchString},
		{"cluster", in.Cluster, clusterRule.MatchString},
		{"pool", in.Pool, poolRule.MatchString},
	} {
		if !name.valid(name.value) {
			return fmt.Errorf("%s %q is not a valid name", name.what, name.value)
		}
	}
	switch {
	case in.Threshold < 1:
		return fmt.Errorf("failure threshold %d: at least 1 failed write is needed as evidence", in.Threshold)
	case in.Window.Duration <= 0 || in.Window.Duration > maxActivityAge:
		return fmt.Errorf("window %s: it must be above 0 and at most %s, which is as long as the Activity Log lasts",
			in.Window.Duration, maxActivityAge)
	case in.SettleAge.Duration < 0 || in.SettleAge.Duration > operationSearch:
		return fmt.Errorf("settle age %s: it must be from 0 to %s", in.SettleAge.Duration, operationSearch)
	case in.Budget.Duration <= 0, in.DrainDeadline.Duration <= 0:
		return fmt.Errorf("time budget %s and drain deadline %s must be above 0", in.Budget.Duration,
			in.DrainDeadline.Duration)
	case !slices.Contains(blockedDrains(), in.BlockedDrain()):
		return fmt.Errorf("on blocked drain %q: it must be one of %s", in.OnBlockedDrain, strings.Join(blockedDrains(), ", "))
	case in.StandInSize < 0 || in.StandInSize > maxPoolNodes:
		return fmt.Errorf("stand-in size %d: it must be from 0 to %d nodes", in.StandInSize, maxPoolNodes)
	}
	return nil
}

// BlockedDrain is what happens when a drain is blocked: wait, ask or force.
func (in Inputs) BlockedDrain() string { return cmp.Or(in.OnBlockedDrain, AskOnBlockedDrain) }

// SetOnBlockedDrain chooses what happens then.
func (in *Inputs) SetOnBlockedDrain(choice string) {
	if choice == AskOnBlockedDrain {
		choice = "" // as it is written
	}
	in.OnBlockedDrain = choice
}

func (in Inputs) clusterID() string {
	return azure.ClusterID(in.Subscription, in.ResourceGroup, in.Cluster)
}

func (in Inputs) poolID() string { return azure.PoolID(in.clusterID(), in.Pool) }

func (in Inputs) poolName(pool string) azure.PoolName {
	return azure.PoolName{ResourceGroup: in.ResourceGroup, Cluster: in.Cluster, Pool: pool}
}
