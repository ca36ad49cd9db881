package kube

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"salve/runbook"
)

// Astray is one look at the pods of a selector, some of which may be in namespaces
// where they don't belong.
type Astray struct {
	// Seen is when it was looked.
	Seen time.Time
	// Home are the pods where they belong.
	Home []Pod
	// Stranded are elsewhere, and can't start because of that. Left are the others
	// that are elsewhere, and to be left alone.
	Stranded, Left []Stray
	// Blind is why it can't be told of one of Left what it waits for; nil when all
	// was seen.
	Blind error

	cluster  *Cluster
	selector string
	homes    []string
}

// Stray is a pod where it does not belong, and why it is stranded or left alone.
type Stray struct {
	Pod
	Why string
}

// FindAstray looks at the pods that match a label selector, in all namespaces, of
// which some, the homes, are those where such pods belong.
func (c *Cluster) FindAstray(ctx context.Context, selector string, homes []string) (*Astray, error) {
	found := &Astray{Seen: c.Clock.Now(), cluster: c, selector: selector, homes: homes}
	var elsewhere []Pod
	pods, err := c.Pods(ctx, "", selector)
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		if slices.Contains(homes, pod.Namespace) {
			found.Home = append(found.Home, pod)
		} else {
			elsewhere = append(elsewhere, pod)
		}
	}
	return found, found.judge(ctx, c.Whereabouts(homes), elsewhere)
}

func (a *Astray) judge(ctx context.Context, whereabouts *Whereabouts, elsewhere []Pod) error {
	if err := whereabouts.Ask(ctx, elsewhere); err != nil {
		return err
	}
	for _, pod := range elsewhere {
		why, stranded, blind := whereabouts.Judge(ctx, pod)
		if stranded {
			a.Stranded = append(a.Stranded, Stray{pod, why})
			continue
		}
		a.Left = append(a.Left, Stray{pod, why})
		if blind != nil {
			a.Blind = blind
		}
	}
	return nil
}

// Judge tells whether a pod can't start because of where it is, or else why it is
// to be left alone. Blind says what could not be seen of it.
func (w *Whereabouts) Judge(ctx context.Context, pod Pod) (why string, stranded bool, blind error) {
	switch {
	case pod.Deleting:
		return "is being deleted", false, nil
	case pod.Began != "":
		return "container " + pod.Began + " has started", false, nil
	case !pod.Untouched():
		return "is " + string(pod.Phase), false, nil
	case pod.Controller != "":
		return pod.Controller + " would make it here again", false, nil
	}
	displaced, blind := w.Displaced(ctx, pod)
	var lacks []string
	for _, one := range displaced {
		lacks = append(lacks, one.String())
	}
	switch {
	case len(lacks) > 0:
		return strings.Join(lacks, ", "), true, nil
	case blind != nil:
		return "it can't be seen what it waits for", false, fmt.Errorf("what pod %s waits for: %w", pod, blind)
	}
	return "waits for nothing that is in " + strings.Join(w.others, ", "), false, nil
}

// Pods are those that are stranded.
func (a *Astray) Pods() (pods []Pod) {
	for _, stray := range a.Stranded {
		pods = append(pods, stray.Pod)
	}
	return pods
}

// Elsewhere are all pods where they don't belong.
func (a *Astray) Elsewhere() []Stray { return slices.Concat(a.Stranded, a.Left) }

// Youngest is the newest of the pods elsewhere that no controller made; false when
// there is none.
func (a *Astray) Youngest() (youngest Pod, found bool) {
	for _, pod := range a.Elsewhere() {
		if pod.Controller == "" && (!found || pod.Created.After(youngest.Created)) {
			youngest, found = pod.Pod, true
		}
	}
	return youngest, found
}

// shownLeft bounds how many of the pods that are left alone are shown as evidence.
const shownLeft = 1000

// Evidence shows the stranded pods and those that are left alone. Pods of one
// namespace with the same reason are one fact, whose identity stands for their UIDs.
func (a *Astray) Evidence() []runbook.Evidence {
	type group struct{ namespace, why string }
	names, uids := map[group][]string{}, map[group]hash.Hash{}
	var order []group
	for _, pod := range slices.Concat(a.Stranded, a.Left[:min(len(a.Left), shownLeft)]) {
		of := group{pod.Namespace, pod.Why}
		if uids[of] == nil {
			order, uids[of] = append(order, of), sha256.New()
		}
		names[of] = append(names[of], pod.Name)
		_, _ = uids[of].Write([]byte(pod.UID)) // never fails, by its documentation
	}
	var all []runbook.Evidence
	for _, of := range order {
		all = append(all, runbook.Saw("pods of namespace "+of.namespace, fmt.Sprintf("UIDs %x", uids[of].Sum(nil)[:8]), a.Seen,
			map[string]any{"because": of.why, "pods": names[of]}))
	}
	return all
}
