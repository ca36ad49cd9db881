package stray

import (
	"maps"
	"slices"
	"time"

	"salve/internal/prow/cluster"
)

const (
	// canaryTime is for how long after a rollout all pods are its first ones, and canaryPods how many are, however long
	// it takes until they are made.
	canaryTime = 10 * time.Minute
	canaryPods = 20
	// canaryLimit is when there are no first pods any more: those that were are being collected.
	canaryLimit = 24 * time.Hour
)

// versions are when each version of plank made pods, as far as these are there.
type versions map[string]span

type span struct{ first, last time.Time }

func (v versions) saw(pod cluster.Pod) {
	if pod.PlankVersion == "" || pod.Created.IsZero() {
		return
	}
	seen, known := v[pod.PlankVersion]
	if !known || pod.Created.Before(seen.first) {
		seen.first = pod.Created
	}
	if pod.Created.After(seen.last) {
		seen.last = pod.Created
	}
	v[pod.PlankVersion] = seen
}

// rolledOut is since when the versions that made the newest pods are there, and others before them. Of several that
// made pods in the same second nobody knows which is in force: each is, since it or they replaced what was before.
func (v versions) rolledOut() map[string]time.Time {
	var newest time.Time
	for _, seen := range v {
		if seen.last.After(newest) {
			newest = seen.last
		}
	}
	since := map[string]time.Time{}
	for name, present := range v {
		if present.last.Before(newest) {
			continue
		}
		for other, seen := range v {
			at := seen.last
			if at.Equal(newest) {
				at = present.first
			}
			before := seen.last.Before(newest) || !seen.first.After(present.first)
			if other != name && before && at.After(since[name]) {
				since[name] = at
			}
		}
	}
	return since
}

// rollout is one of plank.
type rollout struct {
	// since is when it was, and until when the first pods after it were made.
	since, until time.Time
	// version is that of the pods that it made; empty for all that were made since.
	version string
	how     string
}

// made tells whether a pod was made after the rollout.
func (r rollout) made(pod cluster.Pod) bool {
	return !pod.Created.Before(r.since) && (r.version == "" || r.version == pod.PlankVersion)
}

func (r rollout) within(pod cluster.Pod, until time.Time) bool {
	return r.made(pod) && !pod.Created.After(until)
}

type rollouts []rollout

// rollouts are those that are known: by who leads, and by the versions on pods. None hides another: a newer version is
// easily said, and pods of all versions are made by the plank that leads.
func (s *survey) rollouts() (known rollouts) {
	if at := s.view.Rollout.At; !at.IsZero() {
		// The API server cuts the times of pods to whole seconds.
		known = append(known, rollout{since: at.Truncate(time.Second), how: "plank took over at " + moment(at)})
	}
	since := s.versions.rolledOut()
	for _, version := range slices.Sorted(maps.Keys(since)) {
		known = append(known, rollout{since: since[version], version: version,
			how: "the first pods of plank " + version})
	}
	if len(known) == 0 {
		return nil
	}
	var own []cluster.Pod
	for pod := range s.pods.All() {
		if !slices.ContainsFunc(known, func(r rollout) bool { return r.within(pod, r.since.Add(canaryLimit)) }) {
			continue
		}
		if at := s.place(pod, s.view.Jobs, s.unread); at == home || at == astray {
			own = append(own, pod)
		}
	}
	slices.SortFunc(own, older)
	for i := range known {
		known[i].until = known[i].firstPods(own)
	}
	return known
}

// firstPods is until when the first of the instance's pods after a rollout were made, strays among them.
func (r rollout) firstPods(own []cluster.Pod) time.Time {
	until, made := r.since.Add(canaryLimit), 0
	for _, pod := range own {
		if r.made(pod) {
			made++
		}
		if made == canaryPods {
			if pod.Created.Before(until) {
				until = pod.Created
			}
			break
		}
	}
	if least := r.since.Add(canaryTime); until.Before(least) {
		return least
	}
	return until
}

// first are those of pods that are first ones after a rollout, and how that is known.
func (r rollouts) first(pods []cluster.Pod) (first []cluster.Pod, how []string) {
	for _, pod := range pods {
		at := slices.IndexFunc(r, func(one rollout) bool { return one.within(pod, one.until) })
		if at < 0 {
			continue
		}
		first = append(first, pod)
		if !slices.Contains(how, r[at].how) {
			how = append(how, r[at].how)
		}
	}
	return first, how
}
