package repairprotection

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"salve/internal/pipeline/revision"
	"salve/internal/prow/github"
	"salve/runbooks/repairprotection/branches"
)

// mostBranches bounds a run: its plan has to fit into one line of a journal.
const mostBranches = 1500

// Inputs are what the runbook is made from. They are journaled.
type Inputs struct {
	// GitHub is the base URL of the API.
	GitHub string `json:"github,omitempty"`
	// Config is the path of config.yaml, JobConfig that of the jobs' folder, Supplemental those of folders with shards.
	Config       string   `json:"config"`
	JobConfig    string   `json:"jobConfig,omitempty"`
	Supplemental []string `json:"supplemental,omitempty"`
	// BaseConfig and BaseJobConfig are those of an earlier configuration, which tells what Prow once required.
	BaseConfig    string `json:"baseConfig,omitempty"`
	BaseJobConfig string `json:"baseJobConfig,omitempty"`
	// Revision is that of the configuration: a git commit, a whole number or an RFC 3339 time. Digest is that of the
	// files that were read.
	Revision string `json:"revision,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// BaseDigest is that of the files of the earlier configuration.
	BaseDigest string `json:"baseDigest,omitempty"`
	// Manifests is the folder with what is deployed to Prow's cluster.
	Manifests string `json:"manifests,omitempty"`
	// Others are namespaces with other Prow instances, whose branchprotectors don't count.
	Others []string `json:"otherProwNamespaces,omitempty"`
	// Repos narrow the run to repositories; none: all that branchprotector would visit.
	Repos []string `json:"repos,omitempty"`
	// AllowUnprotect has a reason for each branch that may lose its protection, by ORG/REPO=BRANCH.
	AllowUnprotect map[string]string `json:"allowUnprotect,omitempty"`
	// RemoveLeftovers takes contexts away that Prow once required on branches which it leaves alone now.
	RemoveLeftovers bool `json:"removeLeftovers,omitempty"`
	// External are contexts that others than Prow report.
	External []string `json:"externalContexts,omitempty"`
	// AppsRestrictions is --enable-apps-restrictions of the branchprotector in use.
	AppsRestrictions bool `json:"appsRestrictions,omitempty"`
	// Sample is how many pull requests that wait in vain are named, and asked about at the end.
	Sample int `json:"sample"`
	// RecordNamespace holds the ConfigMap that says which configuration was applied last.
	RecordNamespace string `json:"recordNamespace"`
	// Budget bounds the whole run.
	Budget metav1.Duration `json:"budget"`

	// What follows was found before the run began. It names what the run acts on, and proves nothing about it.

	// Branches are those that the run changes.
	Branches []Planned `json:"branches,omitempty"`
	// Pulls are pull requests that wait for contexts which go.
	Pulls []branches.Pull `json:"pulls,omitempty"`
	// Looked is how many branches the configuration speaks about.
	Looked int `json:"looked,omitempty"`
	// Leftovers are branches with leftovers, Uncomputable those without a policy that can be computed, Unseen
	// repositories in which leftovers could not be looked for.
	Leftovers    []string `json:"leftovers,omitempty"`
	Uncomputable []string `json:"uncomputable,omitempty"`
	Unseen       []string `json:"unseen,omitempty"`
}

// Planned is a branch of the plan.
type Planned struct {
	// Branch is ORG/REPO=BRANCH.
	Branch string `json:"branch"`
	// Live and Want stand for what was there and what it was to be.
	Live string `json:"live"`
	Want string `json:"want"`
}

// Defaults are the inputs that a user need not give.
func Defaults() Inputs {
	return Inputs{
		Sample: 10, RecordNamespace: "salve-system", Budget: metav1.Duration{Duration: 6 * time.Hour},
	}
}

// Validate finds invalid inputs.
func (in Inputs) Validate() error {
	switch {
	case in.Config == "":
		return fmt.Errorf("required flag --config not set (for example --config config.yaml)")
	case in.BaseJobConfig != "" && in.BaseConfig == "":
		return fmt.Errorf("--base-job-config goes with --base-config, which is missing")
	case in.Revision != "" && revision.Check(in.Revision) != nil:
		return fmt.Errorf("--revision: %w", revision.Check(in.Revision))
	case in.Sample < 0 || in.Sample > 100:
		return fmt.Errorf("--sample %d: it must be from 0 to 100", in.Sample)
	case len(validation.IsDNS1123Label(in.RecordNamespace)) > 0:
		return fmt.Errorf("--record-namespace %q is not the name of a namespace", in.RecordNamespace)
	case in.Budget.Duration < time.Minute:
		return fmt.Errorf("--budget %s: it must be a minute at least", in.Budget.Duration)
	case len(in.Branches) > mostBranches:
		return fmt.Errorf("%d branches: a run may change %d. hint: --repo ORG/NAME", len(in.Branches), mostBranches)
	}
	for _, name := range in.Others {
		if len(validation.IsDNS1123Label(name)) > 0 {
			return fmt.Errorf("--other-prow-namespace %q is not the name of a namespace", name)
		}
	}
	if _, err := in.scope(); err != nil {
		return err
	}
	for _, branch := range slices.Sorted(maps.Keys(in.AllowUnprotect)) {
		if _, err := branches.Parse(branch); err != nil {
			return fmt.Errorf("--allow-unprotect: %w", err)
		}
		if strings.TrimSpace(in.AllowUnprotect[branch]) == "" {
			return fmt.Errorf("--allow-unprotect %s: a reason is required", branch)
		}
	}
	if slices.Contains(in.External, "") {
		return fmt.Errorf("--external-context: an empty name")
	}
	return nil
}

// scope are the repositories that the run is narrowed to.
func (in Inputs) scope() ([]github.Repo, error) {
	var scope []github.Repo
	for _, name := range in.Repos {
		repo, err := github.ParseRepo(name)
		if err != nil {
			return nil, fmt.Errorf("--repo: %w", err)
		}
		scope = append(scope, repo)
	}
	return scope, nil
}

// inScope tells whether the run may touch a repository.
func (in Inputs) inScope(repository string) bool {
	return len(in.Repos) == 0 || slices.ContainsFunc(in.Repos, func(name string) bool {
		return strings.EqualFold(name, repository)
	})
}

// absolute names the same files wherever the run is gone on with.
func (in Inputs) absolute() (Inputs, error) {
	in.Supplemental = slices.Clone(in.Supplemental)
	paths := []*string{&in.Config, &in.JobConfig, &in.Manifests, &in.BaseConfig, &in.BaseJobConfig}
	for i := range in.Supplemental {
		paths = append(paths, &in.Supplemental[i])
	}
	for _, path := range paths {
		if *path == "" {
			continue
		}
		whole, err := filepath.Abs(*path)
		if err != nil {
			return in, fmt.Errorf("path %q: %w", *path, err)
		}
		*path = whole
	}
	return in, nil
}
