package protection

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
)

// Kind is what is to be done with a branch, by the configuration.
type Kind string

const (
	// Protect means: the protection is to be as the policy says.
	Protect Kind = "protect"
	// Unprotect means: the policy says that the branch is not to be protected.
	Unprotect Kind = "unprotect"
	// Leftover means: the configuration leaves the branch alone, and what it once required there is still in force.
	Leftover Kind = "leftover"
	// Restore means: a run is undone, and the protection is to be what it was before.
	Restore Kind = "restore"
)

// Rule is what the configuration says of a branch.
type Rule struct {
	Branch config.Branch
	Kind   Kind
	// Policy is for Protect.
	Policy config.Policy
	// Protected and Before are for Restore.
	Protected bool
	Before    github.Settings
}

// RuleOf is the rule that a decision of branchprotector's makes.
func RuleOf(branch config.Branch, decision config.Decision) Rule {
	kinds := map[config.Action]Kind{config.Protect: Protect, config.Unprotect: Unprotect, config.Leave: Leftover}
	return Rule{Branch: branch, Kind: kinds[decision.Action], Policy: decision.Policy}
}

// State is a branch as it is, and as it is to be.
type State struct {
	Branch config.Branch
	Kind   Kind
	// Gone: there is no such branch any more. All below is then zero.
	Gone bool
	Live github.Protection
	// Want is what it is to be; Protected tells whether it is to be protected at all.
	Want      github.Settings
	Protected bool
	// Differences are the fields in which the two differ; none when it is right.
	Differences []Difference
	// Fingerprint: what is required beyond the configuration is exactly what a branchprotector from before February
	// 2019 requires.
	Fingerprint bool
}

// Right tells whether nothing is to be done.
func (s State) Right() bool { return s.Gone || len(s.Differences) == 0 }

// Written tells whether everything is right but what has a write of its own: signatures.
func (s State) Written() bool { return len(s.Differences) == 1 && s.SignaturesDiffer() }

// SignaturesDiffer tells whether the demand for signed commits is to change.
func (s State) SignaturesDiffer() bool {
	return s.Protected && s.Live.Settings.Signatures != s.Want.Signatures
}

// Added are the contexts that will be required and are not now; Removed are those that no longer will be.
func (s State) Added() []string { return Added(s.Live.Settings, s.Want) }

// Removed are the contexts that are required and no longer will be.
func (s State) Removed() []string { return Removed(s.Live.Settings, s.Want) }

// LiveDigest stands for what GitHub gave.
func (s State) LiveDigest() string {
	return digestOf(s.Live.Protected, s.Live.Settings.Normal(), s.Live.Unknown)
}

// WantDigest stands for what it is to be.
func (s State) WantDigest() string { return digestOf(s.Protected, s.Want.Normal()) }

// Said is how the branch differs, in words.
func (s State) Said() string {
	var said []string
	for _, difference := range s.Differences {
		said = append(said, difference.String())
	}
	return strings.Join(said, "; ")
}

func digestOf(values ...any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("settings hold nothing but texts, numbers and lists: %v", err))
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// protectionField stands in differences for the protection itself.
const protectionField = "protection"

// Comparer compares branches with what a configuration says of them.
type Comparer struct {
	// Config is nil where a run is undone: then every rule is one to restore.
	Config *config.Config
	// Base is an earlier configuration, which tells what Prow once produced; may be nil.
	Base *config.Config
}

// Compare compares what is with what the rule says.
func (c Comparer) Compare(rule Rule, live github.Protection) State {
	state := State{Branch: rule.Branch, Kind: rule.Kind, Live: live, Protected: rule.Kind != Unprotect}
	switch rule.Kind {
	case Protect:
		state.Want = Desired(rule.Policy, live.Settings, c.Produced(rule.Branch))
	case Leftover:
		state.Protected = live.Protected
		state.Want = Without(live.Settings, c.Silent(rule.Branch, live.Settings.StatusChecks))
	case Restore:
		state.Protected, state.Want = rule.Protected, rule.Before
	case Unprotect:
	}
	if state.Protected != live.Protected {
		state.Differences = append(state.Differences, Difference{
			Field: protectionField, Live: inWords(live.Protected), Want: inWords(state.Protected),
		})
	}
	if state.Protected {
		state.Differences = append(state.Differences, Differences(live.Settings, state.Want)...)
	}
	state.Fingerprint = c.fingerprint(state)
	return state
}

func inWords(protected bool) string {
	if protected {
		return "protected"
	}
	return "none"
}

// fingerprint tells the old branchprotector by what it left. Where the old policy can't be computed nothing is told.
func (c Comparer) fingerprint(state State) bool {
	if c.Config == nil {
		return false
	}
	old, err := c.Config.Fingerprint(state.Branch)
	return err == nil && len(old) > 0 && slices.Equal(old.Values(), state.Removed())
}

// Produced are the contexts of Prow's presubmits of a repository, those of the base configuration among them.
func (c Comparer) Produced(branch config.Branch) []string {
	var contexts []string
	for _, one := range []*config.Config{c.Config, c.Base} {
		if one == nil {
			continue
		}
		for _, job := range one.Presubmits[branch.Repository()] {
			contexts = append(contexts, job.Context.Value)
		}
	}
	slices.Sort(contexts)
	return slices.Compact(contexts)
}

// Silent are the required contexts of a branch that Prow produces, or did, and that no job reports on each of its
// pull requests now: what still comes keeps nobody waiting.
func (c Comparer) Silent(branch config.Branch, required *github.StatusChecks) []string {
	produced, comes := c.Produced(branch), c.Always(branch, false)
	var silent []string
	for _, context := range required.Contexts() {
		if slices.Contains(produced, context) && comes[context] == "" {
			silent = append(silent, context)
		}
	}
	return silent
}

// Always are the contexts that a job reports on each pull request for the branch, with the name of the job.
func (c Comparer) Always(branch config.Branch, manual bool) map[string]string {
	jobs := map[string]string{}
	for _, producer := range c.Config.Requirements(branch, manual).Required {
		jobs[producer.Context] = producer.Job.Name
	}
	return jobs
}
