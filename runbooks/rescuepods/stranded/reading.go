package stranded

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"salve/kube"
	"salve/runbook"
)

// Reading is one reading of the pods of a search, some of which may be in namespaces
// where they don't belong.
type Reading struct {
	// Seen is when it was read, by our clock, Now by the API server's.
	Seen, Now time.Time
	// Expected are the pods where they belong.
	Expected []Pod
	// Stranded are elsewhere, and can't start because of that. Left are the others
	// that are elsewhere, and to be left alone.
	Stranded, Left []Misplaced
	// Blind is why it can't be told of one of Left what it waits for; nil when all
	// was seen.
	Blind error

	search *Search
}

// Misplaced is a pod where it does not belong, and why it is stranded or left alone.
type Misplaced struct {
	Pod
	Why string
	// Foreign pods were made by others than what made those that are stranded: they say nothing about it.
	Foreign bool

	// blind is why it can't be told what it waits for.
	blind error
}

// ReadState reads the pods of the selector in all namespaces.
func (s *Search) ReadState(ctx context.Context) (*Reading, error) {
	now, err := s.serverTime(ctx)
	if err != nil {
		return nil, err
	}
	found := &Reading{Seen: s.Clock.Now(), Now: now, search: s}
	var elsewhere []Pod
	pods, err := s.Pods(ctx, kube.Scope{Selector: s.Selector})
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		if slices.Contains(s.Expected, pod.Namespace) {
			found.Expected = append(found.Expected, pod)
		} else {
			elsewhere = append(elsewhere, pod)
		}
	}
	return found, found.evaluate(ctx, s.references(), elsewhere)
}

func (r *Reading) evaluate(ctx context.Context, refs *references, elsewhere []Pod) error {
	if err := refs.ask(ctx, elsewhere); err != nil {
		return err
	}
	for _, pod := range elsewhere {
		why, stranded, blind := refs.evaluate(ctx, pod)
		if stranded {
			r.Stranded = append(r.Stranded, Misplaced{Pod: pod, Why: why})
			continue
		}
		r.Left = append(r.Left, Misplaced{Pod: pod, Why: why, blind: blind})
		if blind != nil {
			r.Blind = blind
		}
	}
	return nil
}

// evaluate tells whether a pod can't start because of where it is, or else why it is
// to be left alone. Blind says what could not be seen of it.
func (w *references) evaluate(ctx context.Context, pod Pod) (why string, stranded bool, blind error) {
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
	displaced, blind := w.missing(ctx, pod)
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
	return "waits for nothing that is in " + strings.Join(w.search.Expected, ", "), false, nil
}

// Judgement is what is known of a pod elsewhere besides what it needs.
type Judgement struct {
	// Leave is why it is to be left alone all the same; empty when it is not.
	Leave string
	// Foreign says that others made it.
	Foreign bool
}

// Judge leaves those of the stranded pods alone that are to be left by what else is known of them, and marks the
// foreign ones: what these wait for need not be seen.
func (r *Reading) Judge(judge func(Pod) Judgement) {
	r.Blind = nil
	for i, pod := range r.Left {
		r.Left[i].Foreign = judge(pod.Pod).Foreign
		if !r.Left[i].Foreign && pod.blind != nil {
			r.Blind = pod.blind
		}
	}
	stranded := r.Stranded
	r.Stranded = nil
	for _, pod := range stranded {
		judged := judge(pod.Pod)
		pod.Foreign = judged.Foreign
		if judged.Leave == "" {
			r.Stranded = append(r.Stranded, pod)
			continue
		}
		pod.Why = judged.Leave
		r.Left = append(r.Left, pod)
	}
}

// Pods are those that are stranded.
func (r *Reading) Pods() (pods []Pod) {
	for _, misplaced := range r.Stranded {
		pods = append(pods, misplaced.Pod)
	}
	return pods
}

// None tells whether the selector selects no pod, anywhere.
func (r *Reading) None() bool { return len(r.Expected)+len(r.Stranded)+len(r.Left) == 0 }

// Elsewhere are all pods where they don't belong.
func (r *Reading) Elsewhere() []Misplaced { return slices.Concat(r.Stranded, r.Left) }

// Youngest is the newest of the pods elsewhere that no controller made and that are
// not foreign; false when there is none.
func (r *Reading) Youngest() (youngest Pod, found bool) {
	for _, pod := range r.Elsewhere() {
		if pod.Controller == "" && !pod.Foreign && (!found || pod.Created.After(youngest.Created)) {
			youngest, found = pod.Pod, true
		}
	}
	return youngest, found
}

// shownLeft bounds how many of the pods that are left alone are shown as evidence.
const shownLeft = 1000

// Evidence shows the stranded pods and those that are left alone. Pods of one
// namespace with the same reason are one fact, whose identity stands for their UIDs.
func (r *Reading) Evidence() []runbook.Evidence {
	type group struct{ namespace, why string }
	names, uids := map[group][]string{}, map[group]hash.Hash{}
	var order []group
	for _, pod := range slices.Concat(r.Stranded, r.Left[:min(len(r.Left), shownLeft)]) {
		of := group{pod.Namespace, pod.Why}
		if uids[of] == nil {
			order, uids[of] = append(order, of), sha256.New()
		}
		names[of] = append(names[of], pod.Name)
		_, _ = uids[of].Write([]byte(pod.UID)) // never fails, by its documentation
	}
	var all []runbook.Evidence
	for _, of := range order {
		all = append(all, runbook.NewEvidence("pods of namespace "+of.namespace,
			fmt.Sprintf("UIDs %x", uids[of].Sum(nil)[:8]), r.Seen, map[string]any{"because": of.why, "pods": names[of]}))
	}
	return all
}
