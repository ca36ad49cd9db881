package rescuepods_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"salve/internal/apierr"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/stranded"
)

// watcher is Watch at work.
type watcher struct {
	*stage
	mu    sync.Mutex
	lines []string
	stop  context.CancelFunc
	ended chan error
}

func (s *stage) watch() *watcher {
	ctx, stop := context.WithCancel(s.Context())
	l := &watcher{stage: s, stop: stop, ended: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.ended <- rescuepods.Watch(ctx, s.world, s.inputs, func(line string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.lines = append(l.lines, line)
		})
	}()
	s.Cleanup(func() { stop(); <-done })
	return l
}

func (l *watcher) said(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(line string) bool { return strings.Contains(line, text) })
}

func (l *watcher) says(text string) {
	l.Helper()
	l.eventually("the line "+text, func() bool { return l.said(text) })
}

func (l *watcher) end() error {
	l.Helper()
	select {
	case err := <-l.ended:
		return err
	case <-time.After(patience):
		l.Fatalf("no end; it said %q", l.lines)
		return nil
	}
}

// TestTheAlarm: pods at home, and pods that get what they need a moment later, give
// no alarm; those that don't, do.
func TestTheAlarm(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	l := s.watch()
	l.says("4 live pods where they belong, 0 wait elsewhere")
	s.pod(s.home, "another", nil)
	s.pod(s.astray, "early", mounts(corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "comes-later"}},
	}))
	l.says("/early was made elsewhere and waits")
	s.object(s.home, stranded.ConfigMap, "comes-later")
	s.object(s.astray, stranded.ConfigMap, "comes-later")
	l.says("/early waits for nothing that is in " + s.home)
	s.pod(s.astray, "a", nil)
	s.pod(s.astray, "b", nil)
	s.pod(s.astray, "starts", nil)
	s.starts(s.astray, "starts")
	var stranded *stranded.Error
	if err := l.end(); !errors.As(err, &stranded) || len(stranded.Pods) != 2 ||
		stranded.Error() != "a leak: 2 of 9 live pods are stranded" {
		t.Fatalf("it ended with %v", err)
	}
	for _, line := range []string{"/a can't start: Secret service-account (volume service-account) is in " + s.home,
		"/starts waits no longer"} {
		if !l.said(line) {
			t.Errorf("%q is not among %q", line, l.lines)
		}
	}
}

// TestPodsThatWereStrandedBeforeGiveTheAlarm too.
func TestPodsThatWereStrandedBeforeGiveTheAlarm(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.pod(s.astray, "a", nil)
	var stranded *stranded.Error
	if err := s.watch().end(); !errors.As(err, &stranded) {
		t.Fatalf("it ended with %v", err)
	}
}

// TestAnAlarmThatIsDeniedToSee is no all-clear, and no alarm.
func TestAnAlarmThatIsDeniedToSee(t *testing.T) {
	t.Parallel()
	for _, denied := range []string{"pods", "secrets"} {
		t.Run(denied, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.grant("blind-to-"+denied, denied)
			s.as(s.plane.KubeconfigOf(t, "blind-to-"+denied))
			s.pod(s.astray, "a", nil)
			if err := s.watch().end(); err == nil || apierr.ClassOf(err) != apierr.Denied {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// TestAWatchEndsWhenItIsAskedTo: with the reason for which it was.
func TestAWatchEndsWhenItIsAskedTo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	l := s.watch()
	l.says("4 live pods")
	l.stop()
	if err := l.end(); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// TestTransientErrorsAreReportedOnce, and what was missed meanwhile is seen after it.
func TestTransientErrorsAreReportedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	trouble := &refusing{refusals: 4}
	s.wrap(func(next http.RoundTripper) http.RoundTripper { trouble.next = next; return trouble })
	l := s.watch()
	l.eventually("the watch goes on", func() bool { return trouble.left() < 0 })
	s.pod(s.astray, "a", nil)
	var stranded *stranded.Error
	if err := l.end(); !errors.As(err, &stranded) {
		t.Fatalf("it ended with %v", err)
	}
	said := 0
	for _, line := range l.lines {
		if strings.Contains(line, "can't be seen") {
			said++
		}
	}
	if said != 1 {
		t.Errorf("it was said %d times: %q", said, l.lines)
	}
}

// refusing refuses watches a number of times.
type refusing struct {
	next http.RoundTripper

	mu       sync.Mutex
	refusals int
}

func (r *refusing) left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusals
}

func (r *refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("watch") != "" {
		r.mu.Lock()
		r.refusals--
		refused := r.refusals >= 0
		r.mu.Unlock()
		if refused {
			return nil, errors.New("connection refused")
		}
	}
	return r.next.RoundTrip(request)
}
