package rescuepods

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/kube"
	"salve/runbooks/rescuepods/stranded"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Inputs are what the runbook is made from. They are journaled.
type Inputs struct {
	// Selector is the label selector of the pods.
	Selector string `json:"selector"`
	// Expected are the namespaces where such pods belong.
	Expected []string `json:"expectedNamespaces"`
	// Max is how many pods may be stranded; above it nothing is done.
	Max int `json:"max"`
	// MinAge is the age of the youngest pod elsewhere from which its source counts as stopped.
	MinAge metav1.Duration `json:"minAge"`
	// ProwJobs is the namespace of the ProwJobs; empty means that all are searched.
	ProwJobs string `json:"prowJobNamespace,omitempty"`
	// ReplacedWithin is how long the jobs' controller has to make new pods.
	ReplacedWithin metav1.Duration `json:"replacedWithin"`
	// Prow is about the Prow instance whose pods they are; the zero one for any other software.
	Prow Prow `json:"prow,omitzero"`
}

// Defaults are the inputs that a user need not give.
func Defaults() Inputs {
	fiveMinutes := metav1.Duration{Duration: 5 * time.Minute}
	return Inputs{Max: 500, MinAge: fiveMinutes, ReplacedWithin: fiveMinutes, Prow: prowDefaults()}
}

// Validate finds invalid inputs.
func (in Inputs) Validate() error {
	if _, err := kube.ParseSelector(in.Selector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	if err := stranded.CheckNamespaces(append([]string{in.ProwJobs}, in.Expected...)); err != nil {
		return err
	}
	for i, home := range in.Expected {
		if slices.Contains(in.Expected[:i], home) {
			return fmt.Errorf("--expected-namespace: duplicate namespace %s", home)
		}
	}
	switch {
	case len(in.Expected) == 0, slices.Contains(in.Expected, ""):
		return fmt.Errorf("--expected-namespace is missing: where do these pods belong?")
	case in.Max < 1 || in.Max > stranded.MostPods:
		return fmt.Errorf("--max %d: it must be from 1 to %d, which is as many as a run's journal can hold",
			in.Max, stranded.MostPods)
	case in.MinAge.Duration <= 0, in.ReplacedWithin.Duration <= 0:
		return fmt.Errorf("--min-age %s and --replaced-within %s must be above 0", in.MinAge.Duration,
			in.ReplacedWithin.Duration)
	}
	return in.Prow.validate()
}

func (in Inputs) expected() string { return strings.Join(in.Expected, ", ") }
