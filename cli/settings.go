package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/runbooks/recreatepool"
)

// setting is one input of the runbook: a flag, an environment variable where
// pipelines set one, and how its text is understood.
type setting struct {
	flag, variable, kind, about string
	set                         func(in *recreatepool.Inputs, text string) error
	show                        func(in recreatepool.Inputs) string
	// fromVariable understands the variable's text where it differs from the flag's.
	fromVariable func(in *recreatepool.Inputs, text string) error
}

// settings are the inputs in the order in which help shows them.
func settings() []setting {
	type inputs = recreatepool.Inputs
	number := func(field func(*inputs) *int) func(*inputs, string) error {
		return func(in *inputs, text string) error {
			n, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%q is not a whole number", text)
			}
			*field(in) = n
			return nil
		}
	}
	span := func(field func(*inputs) *metav1.Duration) func(*inputs, string) error {
		return func(in *inputs, text string) error {
			d, err := time.ParseDuration(text)
			if err != nil {
				return fmt.Errorf("%q is not a duration such as 15m or 1h30m", text)
			}
			*field(in) = metav1.Duration{Duration: d}
			return nil
		}
	}
	text := func(field func(*inputs) *string) func(*inputs, string) error {
		return func(in *inputs, value string) error {
			*field(in) = value
			return nil
		}
	}
	return []setting{
		{flag: "subscription", variable: "SUBSCRIPTION_ID", kind: "id", about: "the cluster's subscription",
			set:  text(func(in *inputs) *string { return &in.Subscription }),
			show: func(in inputs) string { return in.Subscription }},
		{flag: "resource-group", variable: "RESOURCE_GROUP", kind: "name", about: "the cluster's resource group",
			set:  text(func(in *inputs) *string { return &in.ResourceGroup }),
			show: func(in inputs) string { return in.ResourceGroup }},
		{flag: "cluster", variable: "CLUSTER_NAME", kind: "name", about: "the AKS cluster",
			set: text(func(in *inputs) *string { return &in.Cluster }), show: func(in inputs) string { return in.Cluster }},
		{flag: "pool", kind: "name", about: "the agent pool to recreate",
			set: text(func(in *inputs) *string { return &in.Pool }), show: func(in inputs) string { return in.Pool }},
		{flag: "failure-threshold", variable: "NRP_FAIL_THRESHOLD", kind: "count",
			about: "failed writes of the scale set that count as evidence",
			set:   number(func(in *inputs) *int { return &in.Threshold }),
			show:  func(in inputs) string { return strconv.Itoa(in.Threshold) }},
		{flag: "window", variable: "NRP_FAIL_WINDOW_MIN", kind: "duration",
			about: "how far back failed writes count; the variable is in minutes",
			set:   span(func(in *inputs) *metav1.Duration { return &in.Window }), fromVariable: windowInMinutes,
			show: func(in inputs) string { return in.Window.Duration.String() }},
		{flag: "settle-age", kind: "duration", about: "how old an operation of the cluster must be to be aborted",
			set:  span(func(in *inputs) *metav1.Duration { return &in.SettleAge }),
			show: func(in inputs) string { return in.SettleAge.Duration.String() }},
		{flag: "budget", kind: "duration", about: "the time that a run may take in all",
			set:  span(func(in *inputs) *metav1.Duration { return &in.Budget }),
			show: func(in inputs) string { return in.Budget.Duration.String() }},
		{flag: "drain-deadline", kind: "duration", about: "the time that a drain may take",
			set:  span(func(in *inputs) *metav1.Duration { return &in.DrainDeadline }),
			show: func(in inputs) string { return in.DrainDeadline.Duration.String() }},
		{flag: "on-blocked-drain", kind: "wait|ask|force",
			about: "what happens when PodDisruptionBudgets keep pods on the nodes: wait for them, ask, or delete the pods all " +
				"the same, which takes --override budgets-respected=REASON",
			set:  func(in *inputs, value string) error { in.SetOnBlockedDrain(value); return nil },
			show: func(in inputs) string { return in.BlockedDrain() }},
		{flag: "stand-in-size", kind: "count", about: "nodes of the stand-in; 0 is as many as the pool has",
			set:  number(func(in *inputs) *int { return &in.StandInSize }),
			show: func(in inputs) string { return strconv.Itoa(in.StandInSize) }},
	}
}

// maxMinutes keeps minutes from overflowing a duration; what is too long a window
// is the runbook's to say.
const maxMinutes = 10_000_000

func windowInMinutes(in *recreatepool.Inputs, text string) error {
	minutes, err := strconv.Atoi(text)
	if err != nil || minutes > maxMinutes {
		return fmt.Errorf("%q is not a sensible whole number of minutes", text)
	}
	in.Window.Duration = time.Duration(minutes) * time.Minute
	return nil
}

// understand takes a value alone, so that what is wrong with it is said of it.
func (s setting) understand(text string, set func(*recreatepool.Inputs, string) error) error {
	alone := recreatepool.Defaults()
	alone.Subscription, alone.ResourceGroup, alone.Cluster = "00000000-0000-0000-0000-000000000000", "any", "any"
	if err := set(&alone, text); err != nil {
		return err
	}
	return alone.Validate()
}

// value makes a setting a flag's value.
type value struct {
	setting
	in *recreatepool.Inputs
}

func (v value) String() string {
	if v.in == nil {
		return ""
	}
	return v.show(*v.in)
}

func (v value) Type() string { return v.kind }

func (v value) Set(text string) error {
	if err := v.understand(text, v.set); err != nil {
		return err
	}
	return v.set(v.in, text)
}

// addSettings makes a flag of each input.
func addSettings(flags *pflag.FlagSet, in *recreatepool.Inputs) {
	for _, s := range settings() {
		about := s.about
		if s.variable != "" {
			about += " (" + s.variable + ")"
		}
		flags.Var(value{s, in}, s.flag, about)
	}
}

// fromEnvironment takes the setting from its variable unless a flag gave it. A
// variable that can't be understood is wrong even where a flag wins over it.
func (s setting) fromEnvironment(flags *pflag.FlagSet, in *recreatepool.Inputs, lookup func(string) string) error {
	text := ""
	if s.variable != "" {
		text = lookup(s.variable)
	}
	if text == "" {
		return nil
	}
	set := s.set
	if s.fromVariable != nil {
		set = s.fromVariable
	}
	err := s.understand(text, set)
	if err == nil && !flags.Changed(s.flag) {
		err = set(in, text)
	}
	if err != nil {
		return usage("%s=%q: %v", s.variable, text, err)
	}
	return nil
}

// readEnvironment takes the inputs that no flag gave from the environment.
func readEnvironment(flags *pflag.FlagSet, in *recreatepool.Inputs, lookup func(string) string) error {
	for _, s := range settings() {
		if err := s.fromEnvironment(flags, in, lookup); err != nil {
			return err
		}
	}
	return nil
}

// missingCluster are the flags that name a cluster and were not given.
func missingCluster(in recreatepool.Inputs) (missing []Flag) {
	examples := map[string]string{
		"subscription": "5a1e0000-0000-4000-8000-000000000001", "resource-group": "fleet", "cluster": "aks-1",
	}
	for _, needed := range clusterSettings() {
		if needed.show(in) == "" {
			missing = append(missing, Flag{Name: needed.flag, Variable: needed.variable, Example: examples[needed.flag]})
		}
	}
	return missing
}
