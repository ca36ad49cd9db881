package branches

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"salve/internal/prow/config"
	"salve/internal/prow/github"
	"salve/internal/prow/protection"
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
	Differences []protection.Difference
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
func (s State) Added() []string { return protection.Added(s.Live.Settings, s.Want) }

// Removed are the contexts that are required and no longer will be.
func (s State) Removed() []string { return protection.Removed(s.Live.Settings, s.Want) }

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

// stateOf compares what is with what the configuration says.
func (r *Reader) stateOf(rule Rule, live github.Protection) State {
	state := State{Branch: rule.Branch, Kind: rule.Kind, Live: live, Protected: rule.Kind != Unprotect}
	switch rule.Kind {
	case Protect:
		state.Want = protection.Desired(rule.Policy, live.Settings, r.produced(rule.Branch))
	case Leftover:
		state.Protected = live.Protected
		state.Want = protection.Without(live.Settings, r.leftovers(rule.Branch, live))
	case Restore:
		state.Protected, state.Want = rule.Protected, rule.Before
	case Unprotect:
	}
	if state.Protected != live.Protected {
		state.Differences = append(state.Differences, protection.Difference{
			Field: protectionField, Live: inWords(live.Protected), Want: inWords(state.Protected),
		})
	}
	if state.Protected {
		state.Differences = append(state.Differences, protection.Differences(live.Settings, state.Want)...)
	}
	state.Fingerprint = r.fingerprint(state)
	return state
}

func inWords(protected bool) string {
	if protected {
		return "protected"
	}
	return "none"
}

// fingerprint tells the old branchprotector by what it left. Where the old policy can't be computed nothing is told.
func (r *Reader) fingerprint(state State) bool {
	if r.Config == nil {
		return false
	}
	old, err := r.Config.Fingerprint(state.Branch)
	return err == nil && len(old) > 0 && slices.Equal(old.Values(), state.Removed())
}

// produced are the contexts of Prow's presubmits of a repository, those of the base configuration among them.
func (r *Reader) produced(branch config.Branch) []string {
	var contexts []string
	for _, one := range []*config.Config{r.Config, r.Base} {
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

// leftovers are the required contexts of a branch that Prow produces, or did, and that no job reports on each of its
// pull requests now: what still comes keeps nobody waiting.
func (r *Reader) leftovers(branch config.Branch, live github.Protection) []string {
	produced, comes := r.produced(branch), r.always(branch, false)
	var left []string
	for _, context := range live.Settings.StatusChecks.Contexts() {
		if slices.Contains(produced, context) && comes[context] == "" {
			left = append(left, context)
		}
	}
	return left
}

// always are the contexts that a job reports on each pull request for the branch, with the name of the job.
func (r *Reader) always(branch config.Branch, manual bool) map[string]string {
	jobs := map[string]string{}
	for _, producer := range r.Config.Requirements(branch, manual).Required {
		jobs[producer.Context] = producer.Job.Name
	}
	return jobs
}
