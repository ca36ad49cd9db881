package stray

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/prow/cluster"
	"salve/internal/prow/finding"
)

const (
	// stormWindow is how long ago a job ended that counts for a storm, and calm how long ago one that counts for what is
	// usual.
	stormWindow = 15 * time.Minute
	calm        = time.Hour
	day         = 24 * time.Hour
	// sameTime is how near to this time of day a job of an earlier day ended that is compared with; enough is how many
	// of them it takes, or else all earlier ones are.
	sameTime = 30 * time.Minute
	enough   = 20
	// A storm has at least so many jobs, of so many jobs and repositories of the configuration, is at least this share of
	// all, and so many times the usual one.
	stormJobs  = 5
	stormKinds = 2
	stormShare = 0.2
	farAbove   = 3
)

// ended are the jobs that ended.
type ended struct {
	// lately are those of the storm window, timedOut those of them that timed out.
	lately   int
	timedOut []cluster.Job
	// sameHour and earlier are those before.
	sameHour, earlier tally
}

// tally counts jobs, and those that timed out.
type tally struct{ jobs, timedOut int }

func (t *tally) add(timedOut bool) {
	t.jobs++
	if timedOut {
		t.timedOut++
	}
}

func (t tally) share() float64 { return float64(t.timedOut) / max(1, float64(t.jobs)) }

func (e *ended) add(job cluster.Job, now time.Time) {
	ago, out := now.Sub(job.Completed), timedOut(job)
	switch {
	case ago < stormWindow:
		e.lately++
		if out {
			e.timedOut = append(e.timedOut, job)
		}
	case ago > calm:
		e.earlier.add(out)
		if off := (ago + sameTime) % day; off < 2*sameTime {
			e.sameHour.add(out)
		}
	}
}

// usual is the share of jobs that time out at this time of day.
func (e *ended) usual() float64 {
	if e.sameHour.jobs >= enough {
		return e.sameHour.share()
	}
	return e.earlier.share()
}

// timedOut tells whether plank gave a job up because its pod didn't start. It says so in words only
// (https://github.com/kubernetes-sigs/prow/blob/main/pkg/plank/reconciler.go).
func timedOut(job cluster.Job) bool {
	text := strings.ToLower(job.Description)
	return job.State == cluster.Error &&
		(strings.Contains(text, "pending timeout") || strings.Contains(text, "scheduling timeout"))
}

// storms is A4, in its two shapes. Of the same outage jobs hang where timeouts are long, and are given up where they
// are short.
//
// What can't be read may have timed out, or hang: it could make a storm of what alone is none.
func (s *survey) storms() (found finding.List, lack finding.Lack) {
	var hung []cluster.Job
	old, unsure := 0, 0
	for _, job := range s.pending {
		if s.view.Now.Sub(podMade(job)) <= s.pendingTimeout(job)/2 {
			continue
		}
		old++
		switch pod, there := s.at(job); {
		case there && pod.Phase == "" && pod.Touched == "", s.isOpaque(job.Name):
			unsure++
		case !s.started(job):
			hung = append(hung, job)
		}
	}
	if len(hung)+unsure+len(s.unread) >= stormJobs || len(s.ended.timedOut)+len(s.unread) >= stormJobs {
		lack = s.unreadJobs()
		if unsure > 0 {
			lack = cmp.Or(lack, failed("whether %s of pending jobs wait can't be read", count(unsure, "pod")))
		}
	}
	for _, shape := range []struct {
		detail, says string
		jobs         []cluster.Job
		of           int
	}{
		{"timed out", "gave up in the last " + short(stormWindow) + " because their pod didn't start",
			s.ended.timedOut, s.ended.lately},
		{"hanging", "have been waiting for their pod to start for over half of its timeout", hung, old},
	} {
		share, usual := float64(len(shape.jobs))/max(1, float64(shape.of)), s.ended.usual()
		names, repositories := kinds(shape.jobs)
		if len(shape.jobs) < stormJobs || names < stormKinds || repositories < stormKinds ||
			share < stormShare || share < farAbove*usual {
			continue
		}
		found = append(found, finding.Finding{
			Severity: finding.Alert, Subject: finding.Subject{Cluster: s.instance.Cluster, Detail: shape.detail},
			Message: fmt.Sprintf("%s of %d repositories %s", count(len(shape.jobs), "job"), repositories, shape.says),
			Evidence: append(jobNames(shape.jobs), fmt.Sprintf("%.0f %% of %s; usually %.1f %% time out", 100*share,
				count(shape.of, "job"), 100*usual)),
			Mend: "see why pods don't start: kubectl describe one of them",
		})
	}
	return found, lack
}

func (s *survey) pendingTimeout(job cluster.Job) time.Duration {
	if job.Timeouts.Pending > 0 {
		return job.Timeouts.Pending
	}
	return s.instance.PendingTimeout
}

// started tells whether the pod of a job has left off waiting, where it belongs. A job is pending while its pod runs.
func (s *survey) started(job cluster.Job) bool {
	pod, there := s.at(job)
	return there && (pod.Touched != "" || pod.Phase != corev1.PodPending)
}
