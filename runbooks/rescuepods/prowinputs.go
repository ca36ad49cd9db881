package rescuepods

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"salve/internal/prow/cluster"
	"salve/runbooks/rescuepods/instance"
)

// Prow is what the runbook asks about a Prow instance. Without Config nothing of it is used.
type Prow struct {
	// Config is the path of config.yaml as git has it.
	Config string `json:"config"`
	// Namespace is that of plank's and sinker's Deployments; empty means that of the ProwJobs.
	Namespace string `json:"namespace,omitempty"`
	// ConfigMap is where plank's configuration is in the cluster, as NAMESPACE/NAME/KEY; empty means where plank's
	// Deployment mounts it from.
	ConfigMap string `json:"configMap,omitempty"`
	// Proven is how many jobs that were made after the youngest stray must have their pods where they belong.
	Proven int `json:"proven"`
	// PlankVersion is that of the plank that erred; empty where any may have.
	PlankVersion string `json:"plankVersion,omitempty"`
	// Since and Until bound the incident, as RFC 3339; empty ones are derived from the strays.
	Since string `json:"since,omitempty"`
	Until string `json:"until,omitempty"`
	// MaxShare is how many of a hundred of the instance's pods a run may delete.
	MaxShare int `json:"maxShare"`
	// ApprovedList stands for the list of strays that somebody approved, as within-share names it; empty where nobody
	// was asked.
	ApprovedList string `json:"approvedList,omitempty"`
	// ApprovedBy is who approved it, and Planner who made the run that goes by that approval.
	ApprovedBy string `json:"approvedBy,omitempty"`
	Planner    string `json:"planner,omitempty"`
}

func prowDefaults() Prow { return Prow{Proven: 3, MaxShare: 50} }

// completed are the inputs with what the configuration of a Prow says, validated. Without one nothing of Prow is left.
func (in Inputs) completed(git *instance.Configuration) (Inputs, error) {
	switch {
	case in.Prow.Config == "" && in.Prow != (Prow{}) && in.Prow != prowDefaults():
		return in, fmt.Errorf("required flag --prow-config not set: the other flags of a Prow go with it")
	case in.Prow.Config == "":
		in.Prow = Prow{}
		return in, in.Validate()
	case git == nil:
		return in, fmt.Errorf("--prow-config %s was not read", in.Prow.Config)
	}
	in.Prow.Config = git.File
	in.Prow.Namespace = cmp.Or(in.Prow.Namespace, git.ProwJobs)
	in.Selector = cmp.Or(in.Selector, cluster.Selector)
	in.ProwJobs = cmp.Or(in.ProwJobs, git.ProwJobs)
	if len(in.Expected) == 0 {
		in.Expected = []string{git.Pods}
	}
	switch {
	case in.ProwJobs != git.ProwJobs:
		return in, fmt.Errorf("conflict: --prowjob-namespace is %s, and %s says %s", in.ProwJobs, git.File, git.ProwJobs)
	case !slices.Contains(in.Expected, git.Pods):
		return in, fmt.Errorf("conflict: --expected-namespace is %s, and %s says that pods belong in %s", in.expected(),
			git.File, git.Pods)
	}
	return in, in.Validate()
}

func (p Prow) validate() error {
	if p == (Prow{}) || p == prowDefaults() {
		return nil
	}
	switch {
	case p.Proven < 1 || p.Proven > 1000:
		return fmt.Errorf("--proven-jobs %d: it must be from 1 to 1000", p.Proven)
	case p.MaxShare < 1 || p.MaxShare > 100:
		return fmt.Errorf("--max-share %d: it must be from 1 to 100, in percent", p.MaxShare)
	case p.Namespace != "" && len(validation.IsDNS1123Label(p.Namespace)) > 0:
		return fmt.Errorf("--prow-namespace %q is not the name of a namespace", p.Namespace)
	case p.ApprovedBy != "" && p.ApprovedList == "":
		return fmt.Errorf("--approved-by %s goes with --approved-list, which is missing: what was approved?", p.ApprovedBy)
	case p.ApprovedBy != "" && !person.MatchString(p.ApprovedBy):
		return fmt.Errorf("--approved-by %q is not the name of an account", p.ApprovedBy)
	case len(validation.IsValidLabelValue(p.PlankVersion)) > 0:
		return fmt.Errorf("--plank-version %q is not the value of a label", p.PlankVersion)
	}
	if p.ConfigMap != "" {
		key, err := instance.ParseKey(p.ConfigMap)
		if err == nil && (len(validation.IsDNS1123Label(key.Namespace)) > 0 ||
			len(validation.IsDNS1123Subdomain(key.Name)) > 0 || len(validation.IsConfigMapKey(key.Key)) > 0) {
			err = fmt.Errorf("%q names no key of a ConfigMap", p.ConfigMap)
		}
		if err != nil {
			return fmt.Errorf("--prow-config-map: %w", err)
		}
	}
	_, _, err := p.incident()
	return err
}

// incident is the time in which strays were made; zero where nobody said.
func (p Prow) incident() (since, until time.Time, err error) {
	for _, bound := range []struct {
		flag, text string
		into       *time.Time
	}{{"--incident-since", p.Since, &since}, {"--incident-until", p.Until, &until}} {
		if bound.text == "" {
			continue
		}
		if *bound.into, err = time.Parse(time.RFC3339, bound.text); err != nil {
			return since, until, fmt.Errorf("%s %q: it must be a time such as 2019-02-05T08:47:00Z", bound.flag, bound.text)
		}
	}
	if !since.IsZero() && !until.IsZero() && until.Before(since) {
		return since, until, fmt.Errorf("--incident-until %s is before --incident-since %s", p.Until, p.Since)
	}
	return since, until, nil
}

// rules are what decisions are made by.
func (in Inputs) rules(belong instance.Namespaces) (instance.Rules, error) {
	since, until, err := in.Prow.incident()
	return instance.Rules{
		Namespaces: belong, Expected: in.Expected, PlankVersion: in.Prow.PlankVersion,
		Since: since, Until: until, Proven: in.Prow.Proven,
	}, err
}
