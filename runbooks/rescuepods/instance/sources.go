package instance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"salve/internal/clock"
)

// Sources are what three sources say of where pods belong.
type Sources struct {
	// Git is what the configuration in git says, Mounted what the one in the cluster says, at Mount.
	Git     Namespaces `json:"git"`
	Mounted Namespaces `json:"mounted"`
	Mount   Key        `json:"mount"`
	// Landed are the namespaces of the newest pods that plank made, Pods how many these are.
	Landed []string `json:"landed"`
	Pods   int      `json:"pods"`
	// Declared are the namespaces that the ProwJobs of these pods declare; none where they declare nothing.
	Declared []string `json:"declared"`
}

// SourcesOf are the sources of one reading.
func SourcesOf(git Configuration, deployed *Deployed, state *State) Sources {
	s := Sources{Git: git.Namespaces, Mounted: deployed.Mounted, Mount: deployed.Mount}
	s.Landed, s.Pods = state.Landed()
	s.Declared = state.Declared()
	return s
}

// Unknown is what is missing to compare the sources; empty when nothing is.
func (s Sources) Unknown() string {
	if s.Pods == 0 {
		return "where plank's pods land: it has made none of the pods that are there"
	}
	return ""
}

// Agree tells whether all sources say the same.
func (s Sources) Agree() bool {
	return s.Git == s.Mounted && slices.Equal(s.Landed, []string{s.Git.Pods}) &&
		!slices.ContainsFunc(s.Declared, func(declared string) bool { return declared != s.Git.Pods })
}

func (s Sources) String() string {
	said := fmt.Sprintf("git says %s; %s says %s; the newest pods of plank are in %s", s.Git, s.Mount, s.Mounted,
		strings.Join(s.Landed, ", "))
	if len(s.Declared) > 0 {
		said += "; their ProwJobs declare " + strings.Join(s.Declared, ", ")
	}
	return said
}

// agreement remembers since when the sources agree.
type agreement struct {
	mu    sync.Mutex
	since time.Time
	on    Namespaces
}

// long tells for how long, now included, the sources have agreed on the same namespaces.
func (a *agreement) long(now time.Time, seen Sources) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seen.Unknown() != "" || !seen.Agree() {
		a.since = time.Time{}
		return 0
	}
	if a.since.IsZero() || a.on != seen.Git {
		a.since, a.on = now, seen.Git
	}
	return now.Sub(a.since)
}

func (a *agreement) lost() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = time.Time{}
}

// Twice gives the sources as they are, after they have agreed in two readings that are a minute apart, or else as the
// reading has them that does not agree. An earlier call's reading counts as the first.
func (i *Instance) Twice(ctx context.Context, read func(context.Context) (Sources, error)) (Sources, error) {
	for {
		seen, err := read(ctx)
		if err != nil {
			i.agreed.lost()
			return Sources{}, err
		}
		left := i.apart() - i.agreed.long(i.Clock.Now(), seen)
		if left <= 0 || !seen.Agree() || seen.Unknown() != "" {
			return seen, nil
		}
		if err := clock.Sleep(ctx, i.Clock, left); err != nil {
			return Sources{}, err
		}
	}
}

func (i *Instance) apart() time.Duration {
	if i.Apart > 0 {
		return i.Apart
	}
	return time.Minute
}
