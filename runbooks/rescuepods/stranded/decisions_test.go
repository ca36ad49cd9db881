package stranded

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/kube"
	"salve/runbook"
)

// TestWhyAPodIsLeftAlone, or stranded. What can't be seen is certain of nothing.
func TestWhyAPodIsLeftAlone(t *testing.T) {
	for rule, row := range map[string]struct {
		edit     func(*api, *corev1.Pod)
		why      string
		stranded bool
		blind    bool
	}{
		"it lacks what is at home": {why: "Secret a (volume v) is in home", stranded: true},
		"it is deleted": {edit: func(_ *api, pod *corev1.Pod) { now := metav1.Now(); pod.DeletionTimestamp = &now },
			why: "is being deleted"},
		"it has begun": {edit: func(_ *api, pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c",
				State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		}, why: "container c has started"},
		"it is over": {edit: func(_ *api, pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }, why: "is Failed"},
		"it has a controller": {edit: func(_ *api, pod *corev1.Pod) {
			yes := true
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r", Controller: &yes}}
		}, why: "ReplicaSet r would make it here again"},
		"it has what it needs": {edit: func(a *api, _ *corev1.Pod) { a.objects["away/secrets/a"] = true },
			why: "waits for nothing that is in home"},
		"it can't be seen": {edit: func(a *api, _ *corev1.Pod) { a.deny("/secrets/a") },
			why: "it can't be seen what it waits for", blind: true},
		"it can't be seen at home": {edit: func(a *api, _ *corev1.Pod) { a.deny("/home/secrets/a") },
			why: "it can't be seen what it waits for", blind: true},
		"it can't be seen where it is": {edit: func(a *api, _ *corev1.Pod) { a.deny("/away/secrets/a") },
			why: "it can't be seen what it waits for", blind: true},
	} {
		t.Run(rule, func(t *testing.T) {
			onAPI(t, func(t *testing.T, a *api, s *Search) {
				pod := a.stranded("a")
				if row.edit != nil {
					row.edit(a, pod)
				}
				seen, err := s.ReadState(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(seen.Stranded) == 1 != row.stranded || (seen.Blind != nil) != row.blind ||
					len(seen.Elsewhere()) != 1 || seen.Elsewhere()[0].Why != row.why {
					t.Errorf("stranded %v, left %v, blind %v", seen.Stranded, seen.Left, seen.Blind)
				}
			})
		})
	}
}

// TestEachObjectIsNeededOnce, and a volume without credentials needs none.
func TestEachObjectIsNeededOnce(t *testing.T) {
	at := &corev1.LocalObjectReference{Name: "a"}
	from := []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: *at}}}
	twice := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", EnvFrom: from}, {Name: "d", EnvFrom: from}}}
	if needed := kube.PodNeeds(&corev1.Pod{Spec: twice}); len(needed) != 1 {
		t.Errorf("needs %v", needed)
	}
	for name, row := range map[string]struct {
		source corev1.VolumeSource
		needs  int
	}{
		"no credentials": {source: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		"CSI":            {corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: at}}, 1},
		"AzureFile":      {corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "a"}}, 1},
		"a claim": {corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "a"}}, 1},
		"a token": {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{}}}}}, 1},
	} {
		spec := corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: row.source}}}
		if needed := kube.PodNeeds(&corev1.Pod{Spec: spec}); len(needed) != row.needs {
			t.Errorf("%s: needs %v", name, needed)
		}
	}
}

// TestWhatBecameOfPods: each is in one part, and what is worst is said.
func TestWhatBecameOfPods(t *testing.T) {
	waits := Pod{Namespace: "away", Name: "a", UID: "1"}
	for rule, row := range map[string]struct {
		edit          func(*Pod)
		stranded      bool
		left, touched string
		state         runbook.State
	}{
		"still stranded": {stranded: true, left: "still stranded: 1, such as away/a", state: runbook.StateNotStarted},
		"free to start":  {state: runbook.StateDone},
		"terminating": {edit: func(p *Pod) { p.Deleting = true }, left: "still terminating: 1, such as away/a",
			state: runbook.StateInFlight},
		"held by a finalizer": {edit: func(p *Pod) { p.Deleting, p.Finalizers = true, []string{"example.com/f"} },
			left: "deleted and held by finalizers: 1, such as away/a by example.com/f", state: runbook.StateDone},
		"deleted after it began": {edit: func(p *Pod) { p.Deleting, p.Began = true, "c" },
			left: "still terminating: 1, such as away/a", state: runbook.StateInFlight,
			touched: "pod away/a is deleted, and its container c has started"},
	} {
		pod := waits
		if row.edit != nil {
			row.edit(&pod)
		}
		r := Reading{Left: []Misplaced{{Pod: Pod{UID: "other"}}, {Pod: pod}}}
		if row.stranded {
			r = Reading{Stranded: []Misplaced{{Pod: pod}}}
		}
		now, unlisted := r.listed([]Pod{waits})
		parts := len(now.Stranded) + len(now.Free) + len(now.Terminating) + len(now.Stuck)
		if len(unlisted) != 0 || parts != 1 || now.Left() != row.left || now.Touched() != row.touched ||
			now.Deletion().State != row.state {
			t.Errorf("%s: %+v, unlisted %v: %q, %q, %+v", rule, now, unlisted, now.Left(), now.Touched(), now.Deletion())
		}
	}
}

// TestOutageIsToldFromALeak: by the share of the stranded, and by whether the others grow fewer.
func TestOutageIsToldFromALeak(t *testing.T) {
	for want, summary := range map[string]Summary{
		"0 of 0 live pods are stranded": {},
		"an outage, not a leak: 2 of 2 live pods are stranded, and none lives where they belong": {Stranded: 2},
		"an outage, not a leak: 2 of 3 live pods are stranded, and those where they belong grow fewer": {Stranded: 2,
			LiveExpected: 1, Fewer: true},
		"a leak: 2 of 3 live pods are stranded": {Stranded: 2, LiveExpected: 1},
	} {
		if got := summary.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	began := time.Now()
	live := Misplaced{Pod: Pod{Phase: corev1.PodPending, Created: began}}
	for rule, row := range map[string]struct {
		expected []Pod
		left     []Misplaced
		now      int // pods at home, when they are counted again
		want     Summary
		took     time.Duration
	}{
		"few are stranded": {expected: make([]Pod, 1), left: []Misplaced{live, live, live},
			want: Summary{Stranded: 2, LiveElsewhere: 3}},
		"more ended than came": {now: 1, expected: []Pod{{Phase: corev1.PodRunning}, {Ended: began.Add(time.Second)}},
			want: Summary{Stranded: 2, LiveExpected: 1, Fewer: true}},
		"there are fewer some seconds later": {now: 0, expected: []Pod{{Phase: corev1.PodRunning}},
			want: Summary{Stranded: 2, LiveExpected: 1, Fewer: true}, took: secondLook},
		"there are as many some seconds later": {now: 1, expected: []Pod{{Phase: corev1.PodRunning}},
			want: Summary{Stranded: 2, LiveExpected: 1}, took: secondLook},
	} {
		t.Run(rule, func(t *testing.T) {
			onAPI(t, func(t *testing.T, a *api, s *Search) {
				if row.now > 0 {
					a.pod("home", "a")
				}
				r := Reading{search: s, Stranded: []Misplaced{live, live}, Left: row.left, Expected: row.expected}
				from := time.Now()
				got, err := r.Summary(t.Context())
				if err != nil || got != row.want || time.Since(from) != row.took {
					t.Errorf("%+v, %v after %v", got, err, time.Since(from))
				}
			})
		})
	}
}

// TestNamespaceWherePodsBelongIsThere, or what is wrong with it.
func TestNamespaceWherePodsBelongIsThere(t *testing.T) {
	now := metav1.Now()
	namespace := corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	deleted := namespace
	deleted.DeletionTimestamp = &now
	onAPI(t, func(t *testing.T, a *api, s *Search) {
		for want, answer := range map[string]any{
			"": namespace, `namespace "home" is being deleted`: deleted,
			`there is no namespace "home"`: status(404, metav1.StatusReasonNotFound),
		} {
			a.answer = func(*http.Request) *http.Response {
				if refused, is := answer.(metav1.Status); is {
					return refusal(refused.Code, refused.Reason)
				}
				return said(http.StatusOK, answer)
			}
			if got, err := s.MissingNamespace(t.Context()); err != nil || got != want {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		}
	})
}

// TestUntilAsksAgainAndAgain: with pauses, until it is enough, or the time is over.
func TestUntilAsksAgainAndAgain(t *testing.T) {
	onAPI(t, func(t *testing.T, _ *api, s *Search) {
		failed := errors.New("failed")
		for _, row := range []struct {
			enough int
			fails  error
			took   time.Duration
		}{{enough: 1}, {enough: 2, took: time.Second}, {enough: 1 << 30, took: time.Minute}, {fails: failed}} {
			asked, began := 0, time.Now()
			err := s.Until(t.Context(), time.Minute, func(context.Context) (bool, error) {
				asked++
				return asked >= row.enough, row.fails
			})
			if !errors.Is(err, row.fails) || time.Since(began) != row.took {
				t.Errorf("%+v: %v after %v", row, err, time.Since(began))
			}
		}
	})
}
