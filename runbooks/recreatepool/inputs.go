package recreatepool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"salve/azure"
)

// Inputs are what the runbook is made from. They are journaled.
type Inputs struct {
	Subscription  string `json:"subscription"`
	ResourceGroup string `json:"resourceGroup"`
	Cluster       string `json:"cluster"`
	Pool          string `json:"pool"`
	// Threshold is how many failed writes of the scale set make a storm.
	Threshold int `json:"failureThreshold"`
	// Window is how far back failed writes count.
	Window Duration `json:"window"`
	// SettleAge is how old an operation of the cluster must be to be aborted.
	SettleAge Duration `json:"settleAge"`
	// Budget bounds the whole run.
	Budget Duration `json:"budget"`
	// DrainDeadline bounds each drain.
	DrainDeadline Duration `json:"drainDeadline"`
	// StandInSize is the stand-in's node count; 0 means as many as the source has.
	StandInSize int `json:"standInSize"`
}

// Defaults are the inputs that a user need not give.
func Defaults() Inputs {
	return Inputs{
		Pool: "system", Threshold: 10, Window: Duration(15 * time.Minute), SettleAge: Duration(30 * time.Minute),
		Budget: Duration(time.Hour), DrainDeadline: Duration(5 * time.Minute),
	}
}

// Duration is written in JSON as Go writes durations, such as "15m0s".
type Duration time.Duration

// MarshalJSON writes the duration as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads the duration from text.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	parsed, err := time.ParseDuration(text)
	*d = Duration(parsed)
	return err
}

// The rules of names: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
var (
	subscriptionRule  = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	resourceGroupRule = regexp.MustCompile(`^[-\w.()]{0,89}[-\w()]$`)
	clusterRule       = regexp.MustCompile(`^[a-zA-Z0-9]([-\w]{0,61}[a-zA-Z0-9])?$`)
	poolRule          = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)
)

// maxActivityAge is how long the Activity Log keeps events.
const maxActivityAge = 90 * 24 * time.Hour

// Validate finds inputs that can't be meant.
func (in Inputs) Validate() error {
	for _, name := range []struct {
		what, value string
		rule        *regexp.Regexp
	}{
		{"subscription", in.Subscription, subscriptionRule},
		{"resource group", in.ResourceGroup, resourceGroupRule},
		{"cluster", in.Cluster, clusterRule},
		{"pool", in.Pool, poolRule},
	} {
		switch {
		case name.value == "":
			return fmt.Errorf("%s is missing", name.what)
		case !name.rule.MatchString(name.value):
			return fmt.Errorf("%s %q is not a valid name", name.what, name.value)
		}
	}
	switch {
	case in.Threshold < 1:
		return fmt.Errorf("failure threshold %d: at least 1 failed write is needed as evidence", in.Threshold)
	case in.Window <= 0 || time.Duration(in.Window) > maxActivityAge:
		return fmt.Errorf("window %s: it must be above 0 and at most %s, which is as long as the Activity Log lasts",
			time.Duration(in.Window), maxActivityAge)
	case in.SettleAge < 0 || time.Duration(in.SettleAge) > operationSearch:
		return fmt.Errorf("settle age %s: it must be from 0 to %s", time.Duration(in.SettleAge), operationSearch)
	case in.Budget <= 0, in.DrainDeadline <= 0:
		return fmt.Errorf("time budget %s and drain deadline %s must be above 0", time.Duration(in.Budget),
			time.Duration(in.DrainDeadline))
	case in.StandInSize < 0 || in.StandInSize > 1000:
		return fmt.Errorf("stand-in size %d: it must be from 0 to 1000 nodes", in.StandInSize)
	}
	return nil
}

func (in Inputs) clusterID() string {
	return azure.ClusterID(in.Subscription, in.ResourceGroup, in.Cluster)
}

func (in Inputs) poolID() string { return azure.PoolID(in.clusterID(), in.Pool) }

func (in Inputs) poolName(pool string) azure.PoolName {
	return azure.PoolName{ResourceGroup: in.ResourceGroup, Cluster: in.Cluster, Pool: pool}
}
