package azuresim

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed scenarios/*.yaml
var builtIn embed.FS

// Scenario says what a world looks like at its start and what goes wrong in it. Parse and Load return it with every
// default filled in.
type Scenario struct {
	// Name identifies the scenario; the file's base name when the file does not say.
	Name string `yaml:"name"`
	// Shows is one line: what the scenario shows.
	Shows         string `yaml:"shows"`
	Subscription  string `yaml:"subscription"`
	ResourceGroup string `yaml:"resourceGroup"`
	Cluster       string `yaml:"cluster"`
	Location      string `yaml:"location"`
	Seed          int64  `yaml:"seed"`
	// Inputs are the runbook inputs that a rehearsal uses, such as pool: system or role: system.
	Inputs map[string]string `yaml:"inputs"`
	// Overrides are guards that a rehearsal goes on past, each with the reason.
	Overrides map[string]string `yaml:"overrides"`
	// Expect is the outcome that a run of the runbook should end in.
	Expect string `yaml:"expect"`

	KubernetesVersion string `yaml:"kubernetesVersion"`
	// ClusterState is the cluster's provisioningState at the start.
	ClusterState string `yaml:"clusterState"`
	// ClusterAbsent: the resource group is there, the cluster is not.
	ClusterAbsent bool `yaml:"clusterAbsent"`
	// Entra: user kubeconfigs carry a kubelogin exec plugin instead of a client certificate.
	Entra bool `yaml:"entra"`
	// Operation is what already runs on the cluster at the start.
	Operation *RunningOperation `yaml:"operation"`
	Pools     []Pool            `yaml:"pools"`
	Apps      []App             `yaml:"apps"`
	Durations Durations         `yaml:"durations"`
	Log       Log               `yaml:"activityLog"`
	// ResourceGroups are further resource groups, beside that of the cluster and that of its nodes.
	ResourceGroups []string `yaml:"resourceGroups"`
	// Resources are what else there is at the start, for templates that refer to it.
	Resources []Resource `yaml:"resources"`
	// Unregistered are namespaces of resource providers that the subscription is not registered for at the start.
	Unregistered []string `yaml:"unregistered"`
	// Features are those of providers that are otherwise than NotRegistered at the start, or not known besides.
	Features []Feature `yaml:"features"`
	// NotAllowedSizes are sizes of machines that the subscription may not have, whether or not a pool has them already.
	NotAllowedSizes []string `yaml:"notAllowedSizes"`
	// RetryAfter is what operation status answers ask pollers to wait.
	RetryAfter Duration `yaml:"retryAfter"`
	// PageSize is how many items a list of scale sets or network interfaces holds per page.
	PageSize int     `yaml:"pageSize"`
	Faults   []Fault `yaml:"faults"`
}

// RunningOperation is an update of the cluster that began before the scenario.
type RunningOperation struct {
	// Age is how long ago it began.
	Age Duration `yaml:"age"`
	// Ends is when it ends by itself, after the start; zero is never. It ends Succeeded, or Failed when a pool
	// of it is corrupted.
	Ends Duration `yaml:"ends"`
}

// Pool is an agent pool at the start.
type Pool struct {
	Name string `yaml:"name"`
	// Mode is System or User.
	Mode string `yaml:"mode"`
	// Count is how many machines the definition asks for; Ready how many of them are Ready nodes (default: all).
	Count *int `yaml:"count"`
	Ready *int `yaml:"ready"`
	// State is the provisioningState.
	State     string            `yaml:"state"`
	Autoscale *Autoscale        `yaml:"autoscale"`
	VMSize    string            `yaml:"vmSize"`
	OS        string            `yaml:"os"`
	Zones     []string          `yaml:"zones"`
	Labels    map[string]string `yaml:"labels"`
	Taints    []string          `yaml:"taints"`
	Tags      map[string]string `yaml:"tags"`
	// Corrupted: every write to the pool's scale set fails.
	Corrupted bool `yaml:"corrupted"`
	// Interfaces says what ipConfigurations a machine has that never came: empty (an empty array), absent or null.
	Interfaces string `yaml:"interfaces"`
	// Cordoned are the indexes of nodes that somebody cordoned before the start.
	Cordoned []int `yaml:"cordoned"`
	// FailedWrites are those of the scale set before the start. They go on while the pool is being updated.
	FailedWrites *FailedWrites `yaml:"failedWrites"`
	// Properties are further properties of the definition, kept as they are.
	Properties map[string]any `yaml:"properties"`
}

// Autoscale is a pool's autoscaler range.
type Autoscale struct {
	Min int `yaml:"min"`
	Max int `yaml:"max"`
}

// FailedWrites is a series of failed writes that ended, or reached the start, Last ago.
type FailedWrites struct {
	Events int      `yaml:"events"`
	Every  Duration `yaml:"every"`
	Last   Duration `yaml:"last"`
}

// App is a workload: a ReplicaSet, and with MinAvailable above zero a PodDisruptionBudget.
type App struct {
	Namespace    string   `yaml:"namespace"`
	Name         string   `yaml:"name"`
	Replicas     int32    `yaml:"replicas"`
	MinAvailable int32    `yaml:"minAvailable"`
	Grace        Duration `yaml:"grace"`
	// SystemNodes: its pods run on nodes of system pools only.
	SystemNodes bool `yaml:"systemNodes"`
}

// Resource is something that the embedded Azure keeps without knowing what it does.
type Resource struct {
	// Group is a resource group of the scenario; empty is the cluster's.
	Group string `yaml:"group"`
	// Type and Name are as in a template: Microsoft.Network/virtualNetworks/subnets and vnet/nodes.
	Type string `yaml:"type"`
	Name string `yaml:"name"`
	// Location is the scenario's when it is empty.
	Location   string            `yaml:"location"`
	Tags       map[string]string `yaml:"tags"`
	Properties map[string]any    `yaml:"properties"`
}

// Feature is a preview feature of a resource provider.
type Feature struct {
	// Provider is a namespace, such as Microsoft.Compute.
	Provider string `yaml:"provider"`
	Name     string `yaml:"name"`
	// State is NotRegistered when it is empty.
	State string `yaml:"state"`
	// Approval: somebody has to approve its registration, which nobody does: it stays Pending.
	Approval bool `yaml:"approval"`
}

// Durations are how long the operations take. Their default sum is what a whole recovery was seen to take; the split is
// an assumption.
type Durations struct {
	StandIn       Duration `yaml:"standIn"`       // creating a pool that was not there at the start
	Delete        Duration `yaml:"delete"`        // deleting a pool that was there at the start
	Recreate      Duration `yaml:"recreate"`      // creating a pool of a name that was there at the start
	RemoveStandIn Duration `yaml:"removeStandIn"` // deleting a pool that was not there, or a stand-in by its tags
	Drain         Duration `yaml:"drain"`         // at most, of the nodes of a pool that is deleted
	Update        Duration `yaml:"update"`        // any other write of a pool
	Abort         Duration `yaml:"abort"`
	Settle        Duration `yaml:"settle"`   // the tag merge that moves a Canceled or Failed cluster to Succeeded
	Retry         Duration `yaml:"retry"`    // between two writes of a corrupted scale set that AKS tries by itself
	Cluster       Duration `yaml:"cluster"`  // a write of the cluster itself, as a deployment does
	Resource      Duration `yaml:"resource"` // a deployment's write of anything that is neither a cluster nor a pool
	Register      Duration `yaml:"register"` // the registration of a resource provider or a feature, or its end
}

// Log is how the Activity Log behaves.
type Log struct {
	// Lag is how long an event is not yet readable.
	Lag      Duration `yaml:"lag"`
	PageSize int      `yaml:"pageSize"`
	// Quiet leaves out the unrelated events.
	Quiet bool `yaml:"quiet"`
}

// Duration is a time.Duration written as in Go: 90s, 2m30s, 72h.
type Duration time.Duration

func (d Duration) span() time.Duration { return time.Duration(d) }

// Names lists the built-in scenarios in order.
func Names() []string {
	entries, err := builtIn.ReadDir("scenarios")
	if err != nil {
		return nil // the folder is part of the binary
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Load returns the built-in scenario of that name, or else the one in the file of that path.
func Load(nameOrPath string) (Scenario, error) {
	if slices.Contains(Names(), nameOrPath) {
		file := path.Join("scenarios", nameOrPath+".yaml")
		data, err := builtIn.ReadFile(file)
		if err != nil {
			return Scenario{}, fmt.Errorf("reading built-in scenario %s: %w", nameOrPath, err)
		}
		return Parse(file, data)
	}
	data, err := os.ReadFile(nameOrPath)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Scenario{}, fmt.Errorf("no scenario %q: it is neither a file nor one of %s",
			nameOrPath, strings.Join(Names(), ", "))
	case err != nil:
		return Scenario{}, fmt.Errorf("reading scenario: %w", err)
	}
	return Parse(nameOrPath, data)
}

func nameOf(source string) string {
	return strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
}

// withDefaults is what a scenario file starts from: a healthy cluster.
func withDefaults() Scenario {
	return Scenario{
		Subscription:      "5a1e0000-0000-4000-8000-000000000001",
		ResourceGroup:     "fleet",
		Cluster:           "aks-1",
		Location:          "westeurope",
		Seed:              1,
		KubernetesVersion: "1.33.4",
		ClusterState:      stateSucceeded,
		Entra:             true,
		Pools: []Pool{
			{Name: "system", Mode: modeSystem, Count: number(3), Autoscale: &Autoscale{Min: 3, Max: 6}},
			{Name: "workers", Mode: modeUser, Count: number(2)},
		},
		Apps: []App{
			{Namespace: "kube-system", Name: "coredns", Replicas: 2, MinAvailable: 1, SystemNodes: true},
			{Namespace: "kube-system", Name: "metrics-server", Replicas: 2, MinAvailable: 1, SystemNodes: true},
			{Namespace: "kube-system", Name: "konnectivity-agent", Replicas: 2, MinAvailable: 1, SystemNodes: true},
			{Namespace: "shop", Name: "frontend", Replicas: 5, MinAvailable: 3},
		},
		Durations: Durations{
			StandIn:       Duration(150 * time.Second),
			Delete:        Duration(2 * time.Minute),
			Recreate:      Duration(150 * time.Second),
			RemoveStandIn: Duration(2 * time.Minute),
			Drain:         Duration(10 * time.Minute),
			Update:        Duration(2 * time.Minute),
			Abort:         Duration(20 * time.Second),
			Settle:        Duration(20 * time.Second),
			Retry:         Duration(45 * time.Second),
			Cluster:       Duration(3 * time.Minute),
			Resource:      Duration(5 * time.Second),
			Register:      Duration(time.Minute),
		},
		Log:        Log{Lag: Duration(90 * time.Second), PageSize: 200},
		RetryAfter: Duration(3 * time.Second),
		PageSize:   200,
	}
}

func number(n int) *int { return &n }
