package stray

import (
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

// versions are when the newest pod of each version of plank was made.
type versions map[string]time.Time

func (v versions) saw(pod cluster.Pod) {
	if pod.PlankVersion != "" && pod.Created.After(v[pod.PlankVersion]) {
		v[pod.PlankVersion] = pod.Created
	}
}

// rollout is the version that made the newest pod, and when another one made its last; zero where there is one version
// alone.
func (v versions) rollout() (version string, at time.Time) {
	for name, last := range v {
		if newest := v[version]; version == "" || last.After(newest) || last.Equal(newest) && name > version {
			version = name
		}
	}
	for name, last := range v {
		if name != version && last.After(at) {
			at = last
		}
	}
	return version, at
}

// rollout is when plank was last rolled out.
type rollout struct {
	since time.Time
	// version is that of the pods that it made; empty for all that were made since.
	version string
	how     string
}

// made tells whether a pod was made after the rollout.
func (r rollout) made(pod cluster.Pod) bool {
	return !pod.Created.Before(r.since) && (r.version == "" || r.version == pod.PlankVersion)
}

// rollout is the later one of the two that are known: by who leads, and by the version on pods.
func (s *survey) rollout() (last rollout, known bool) {
	version, at := s.versions.rollout()
	if !at.IsZero() {
		last = rollout{since: at, version: version, how: "the first pods of plank " + version}
	}
	// The API server cuts the times of pods to whole seconds.
	if led := s.view.Rollout.At.Truncate(time.Second); !s.view.Rollout.At.IsZero() && !led.Before(last.since) {
		last = rollout{since: led, how: "plank took over at " + moment(s.view.Rollout.At)}
	}
	return last, last.how != ""
}

// firstPods is until when the first pods after a rollout were made.
func (s *survey) firstPods(r rollout) time.Time {
	var made []time.Time
	for pod := range s.view.Pods.All() {
		// Strays are counted too: those that are found are the instance's.
		if (pod.Namespace == s.instance.Pods || s.isFound(pod)) && r.made(pod) {
			made = append(made, pod.Created)
		}
	}
	slices.SortFunc(made, time.Time.Compare)
	until := r.since.Add(canaryLimit)
	if len(made) >= canaryPods && made[canaryPods-1].Before(until) {
		until = made[canaryPods-1]
	}
	if least := r.since.Add(canaryTime); until.Before(least) {
		return least
	}
	return until
}

func (s *survey) isFound(pod cluster.Pod) bool {
	_, found := slices.BinarySearchFunc(s.found, pod, older)
	return found
}
