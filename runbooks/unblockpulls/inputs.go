package unblockpulls

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/prow/blocked"
	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

const (
	// mostCap bounds --cap: what a run plans has to fit into one line of a journal.
	mostCap = 1000
	// mostPace bounds --pace: GitHub asks for a second between two changes.
	mostPace = 60
)

// Inputs are what the runbook is made from. They are journaled.
type Inputs struct {
	// GitHub is the base URL of the API.
	GitHub string `json:"github,omitempty"`
	// Config is the path of config.yaml, JobConfig that of the jobs' folder, Supplemental those of folders with shards.
	Config       string   `json:"config"`
	JobConfig    string   `json:"jobConfig,omitempty"`
	Supplemental []string `json:"supplemental,omitempty"`
	// Digest is that of the files that were read.
	Digest string `json:"digest,omitempty"`
	// Repos narrow the run to repositories, Pulls to pull requests, as OWNER/NAME#NUMBER; none: all repositories with
	// presubmits.
	Repos []string `json:"repos,omitempty"`
	Pulls []string `json:"pulls,omitempty"`
	// Bot is the login of Prow's own account, whose comments the trigger plugin ignores.
	Bot string `json:"bot"`
	// Cap is how many contexts may be asked for; above it nothing is done.
	Cap int `json:"cap"`
	// Pace is how many are asked for in a minute at most.
	Pace int `json:"pace"`
	// MaxUnfinished is how many ProwJobs may be unfinished, those that are started among them.
	MaxUnfinished int `json:"maxUnfinished"`
	// External are contexts that others than Prow report.
	External []string `json:"externalContexts,omitempty"`
	// Budget bounds the whole run.
	Budget metav1.Duration `json:"budget"`

	// What follows was found before the run began. It names what the run acts on, and proves nothing about it.

	// Planned are the contexts that are asked for.
	Planned []Planned `json:"planned,omitempty"`
	// Looked is how many pull requests were looked at. Mend, Unknown, Waiting and Left say what was found besides.
	Looked  int      `json:"looked,omitempty"`
	Mend    []string `json:"mend,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	Waiting []string `json:"waiting,omitempty"`
	Left    []string `json:"left,omitempty"`
}

// Planned is a context that is asked for on one head.
type Planned struct {
	Repository string `json:"repository"`
	Number     int    `json:"number"`
	Base       string `json:"base"`
	Head       string `json:"head"`
	Context    string `json:"context"`
	// Do is blocked.Trigger or blocked.Report.
	Do blocked.Do `json:"do"`
	// Job is the name of the presubmit, or of the ProwJob that is reported again.
	Job string `json:"job"`
	// There is since when the head is known to be there.
	There time.Time `json:"there"`
}

func (p Planned) pull() string { return fmt.Sprintf("%s#%d", p.Repository, p.Number) }

// Defaults are the inputs that a user need not give.
func Defaults() Inputs {
	return Inputs{Cap: 50, Pace: 10, MaxUnfinished: 500, Budget: metav1.Duration{Duration: 6 * time.Hour}}
}

// Validate finds invalid inputs.
func (in Inputs) Validate() error {
	switch {
	case in.Config == "":
		return fmt.Errorf("required flag --config not set (for example --config config.yaml)")
	case strings.TrimSpace(in.Bot) == "":
		return fmt.Errorf("required flag --bot not set: the account of Prow itself (for example --bot k8s-ci-robot)")
	case in.Cap < 1 || in.Cap > mostCap:
		return fmt.Errorf("--cap %d: it must be from 1 to %d", in.Cap, mostCap)
	case in.Pace < 1 || in.Pace > mostPace:
		return fmt.Errorf("--pace %d: it must be from 1 to %d", in.Pace, mostPace)
	case in.MaxUnfinished < 1:
		return fmt.Errorf("--max-unfinished %d: it must be 1 or more", in.MaxUnfinished)
	case in.Budget.Duration < time.Minute:
		return fmt.Errorf("--budget %s: it must be a minute at least", in.Budget.Duration)
	case slices.Contains(in.External, ""):
		return fmt.Errorf("--external-context: an empty name")
	}
	for _, name := range in.Repos {
		if _, err := github.ParseRepo(name); err != nil {
			return fmt.Errorf("--repo: %w", err)
		}
	}
	for _, name := range in.Pulls {
		if _, _, err := parsePull(name); err != nil {
			return fmt.Errorf("--pull: %w", err)
		}
	}
	return nil
}

// parsePull reads OWNER/NAME#NUMBER.
func parsePull(text string) (github.Repo, int, error) {
	repository, number, found := strings.Cut(text, "#")
	repo, err := github.ParseRepo(repository)
	n, numberErr := strconv.Atoi(number)
	if !found || err != nil || numberErr != nil || n < 1 {
		return github.Repo{}, 0, fmt.Errorf("invalid pull request %q: expected OWNER/NAME#NUMBER", text)
	}
	return repo, n, nil
}

// selects tells whether the run may touch a pull request.
func (in Inputs) selects(repository string, number int) bool {
	same := func(name string) func(string) bool {
		return func(other string) bool { return strings.EqualFold(name, other) }
	}
	switch {
	case len(in.Pulls) > 0:
		return slices.ContainsFunc(in.Pulls, same(fmt.Sprintf("%s#%d", repository, number)))
	case len(in.Repos) > 0:
		return slices.ContainsFunc(in.Repos, same(repository))
	}
	return true
}

func (in Inputs) paths() config.Paths {
	return config.Paths{Config: in.Config, Jobs: in.JobConfig, Supplemental: in.Supplemental}
}

// absolute names the same files wherever the run is gone on with.
func (in Inputs) absolute() (Inputs, error) {
	paths, err := in.paths().Absolute()
	in.Config, in.JobConfig, in.Supplemental = paths.Config, paths.Jobs, paths.Supplemental
	return in, err
}

var wholeSHA = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// validate finds a record of what nobody would have planned.
func (p Planned) validate(in Inputs) error {
	_, number, err := parsePull(p.pull())
	switch {
	case err != nil:
		return err
	case !in.selects(p.Repository, number):
		return fmt.Errorf("%s is not of the selection", p.pull())
	case !wholeSHA.MatchString(p.Head) || p.Context == "" || p.Base == "" || p.Job == "":
		return fmt.Errorf("%s: context %q on head %q of a pull request for %q is nothing to be planned", p.pull(), p.Context,
			p.Head, p.Base)
	case p.Do != blocked.Trigger && p.Do != blocked.Report:
		return fmt.Errorf("%s: %q is nothing to be done", p.pull(), p.Do)
	}
	return nil
}

// ReadConfiguration reads what the inputs name. The digest stands for all files that were read.
func ReadConfiguration(in Inputs) (_ *config.Config, digest string, _ error) {
	return in.paths().Read()
}
