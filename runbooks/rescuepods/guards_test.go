package rescuepods_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/engine"
	"salve/runbook"
	"salve/runbooks/rescuepods"
	"salve/runbooks/rescuepods/stranded"
)

var yes = true

// TestWhatStrandsAPod: on the namespaces of one control plane, each pod by itself.
func TestWhatStrandsAPod(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, kind := range []string{stranded.Secret, stranded.ConfigMap, stranded.ServiceAccount, stranded.Claim} {
		s.object(s.home, kind, "at-home")
		s.object(s.home, kind, "in-both")
		s.object(s.astray, kind, "in-both")
	}
	at := corev1.LocalObjectReference{Name: "at-home"}
	owner := metav1.OwnerReference{
		APIVersion: "batch/v1", Kind: "Job", Name: "nightly", UID: "of-the-job", Controller: &yes,
	}
	for _, row := range []struct {
		name string
		edit func(*corev1.Pod)
		// want is what is said of the pod: of a stranded one it begins with the kind of
		// what it lacks.
		want string
		then func(*corev1.PodStatus)
	}{
		{name: "volume-secret", edit: mounts(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "at-home"}}),
			want: "Secret at-home (volume v) is in HOME"},
		{name: "volume-configmap", edit: mounts(corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: at},
		}), want: "ConfigMap at-home (volume v) is in HOME"},
		{name: "volume-claim", edit: mounts(corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "at-home"},
		}),
			want: "PersistentVolumeClaim at-home (volume v) is in HOME"},
		{name: "volume-csi", edit: mounts(corev1.VolumeSource{
			CSI: &corev1.CSIVolumeSource{Driver: "files.example", NodePublishSecretRef: &at},
		}), want: "Secret at-home (volume v) is in HOME"},
		{name: "projected-secret", edit: projects(corev1.VolumeProjection{
			Secret: &corev1.SecretProjection{LocalObjectReference: at},
		}), want: "Secret at-home (volume v) is in HOME"},
		{name: "projected-configmap", edit: projects(corev1.VolumeProjection{
			ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: at},
		}), want: "ConfigMap at-home (volume v) is in HOME"},
		{name: "account-token", edit: withToken("at-home"), want: "ServiceAccount at-home (volume v) is in HOME"},
		{name: "env-from", edit: container(corev1.Container{
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: at}}},
		}),
			want: "Secret at-home (environment of container test) is in HOME"},
		{name: "env-value", edit: container(corev1.Container{Env: []corev1.EnvVar{{Name: "K", ValueFrom: &corev1.EnvVarSource{
			ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: at, Key: "k"},
		}}}}),
			want: "ConfigMap at-home (environment of container test) is in HOME"},
		{name: "init-container", edit: func(pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{{Name: "clone", Image: "i",
				EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: at}}}}}
		}, want: "ConfigMap at-home (environment of container clone) is in HOME"},
		{name: "pull-secret", edit: func(pod *corev1.Pod) { pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{at} },
			then: failsToPull, want: "Secret at-home (to pull the image of container test) is in HOME"},
		{name: "one-of-two-missing", edit: func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{secretVolume("nowhere"), secretVolume("at-home")}
		}, want: "Secret at-home (volume at-home) is in HOME"},

		{name: "pull-secret-not-needed", edit: func(pod *corev1.Pod) {
			pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{at}
		}, want: "waits for nothing that is in HOME"},
		{name: "optional", edit: func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "v",
				VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "at-home", Optional: &yes}}}}
			pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{
				ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: at, Optional: &yes},
			}}
		}, want: "waits for nothing that is in HOME"},
		{name: "there-too", edit: mounts(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "in-both"}}),
			want: "waits for nothing that is in HOME"},
		{name: "missing-everywhere", edit: mounts(corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: "nowhere"},
		}), want: "waits for nothing that is in HOME"},
		{name: "account-without-token", edit: func(pod *corev1.Pod) { pod.Spec.ServiceAccountName = "at-home" },
			want: "waits for nothing that is in HOME"},
		{name: "runs", edit: mounts(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "at-home"}}),
			then: running, want: "container test has started"},
		{name: "ran-before", edit: mounts(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "at-home"}}),
			then: func(status *corev1.PodStatus) {
				status.ContainerStatuses = []corev1.ContainerStatus{{
					Name:                 "test",
					LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
					State: corev1.ContainerState{
						Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError"},
					},
				}}
			}, want: "container test has started"},
		{name: "evicted", edit: mounts(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "at-home"}}),
			then: func(status *corev1.PodStatus) { status.Phase = corev1.PodFailed }, want: "is Failed"},
		{name: "controlled", edit: func(pod *corev1.Pod) {
			pod.OwnerReferences, pod.Spec.Volumes = []metav1.OwnerReference{owner}, []corev1.Volume{secretVolume("at-home")}
		}, want: "Job nightly would make it here again"},
		{name: "ending", edit: func(pod *corev1.Pod) {
			pod.Finalizers, pod.Spec.Volumes = []string{"example.com/kept"}, []corev1.Volume{secretVolume("at-home")}
		}, want: "is being deleted"},
	} {
		s.pod(s.astray, row.name, func(pod *corev1.Pod) {
			pod.Spec.Volumes = nil
			pod.Annotations = map[string]string{"want": row.want}
			row.edit(pod)
		})
		if row.then != nil {
			s.status(s.astray, row.name, row.then)
		}
	}
	s.must(s.client.CoreV1().Pods(s.astray).Delete(t.Context(), "ending", metav1.DeleteOptions{}))
	t.Cleanup(func() { s.unhold("ending") })

	seen, err := s.search().ReadState(t.Context())
	s.must(err)
	if seen.Blind != nil || len(seen.Expected) != 4 {
		t.Errorf("%d pods at home; blind: %v", len(seen.Expected), seen.Blind)
	}
	said := map[string]string{}
	for _, pod := range seen.Stranded {
		said[pod.Name] = "stranded: " + pod.Why
	}
	for _, pod := range seen.Left {
		said[pod.Name] = "left: " + pod.Why
	}
	list, err := s.client.CoreV1().Pods(s.astray).List(t.Context(), metav1.ListOptions{})
	s.must(err)
	for _, pod := range list.Items {
		want := strings.ReplaceAll(pod.Annotations["want"], "HOME", s.home)
		if strings.Contains(want, ") is in ") {
			want = "stranded: " + want
		} else {
			want = "left: " + want
		}
		if said[pod.Name] != want {
			t.Errorf("%s: %q, want %q", pod.Name, said[pod.Name], want)
		}
	}
}

func mounts(source corev1.VolumeSource) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}} }
}

func projects(source corev1.VolumeProjection) func(*corev1.Pod) {
	return mounts(corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{source}},
	})
}

// withToken does what admission does for a pod with a service account.
func withToken(account string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.ServiceAccountName = account
		projects(corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}})(pod)
	}
}

func container(with corev1.Container) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Env, pod.Spec.Containers[0].EnvFrom = with.Env, with.EnvFrom
	}
}

func failsToPull(status *corev1.PodStatus) {
	status.ContainerStatuses = []corev1.ContainerStatus{{Name: "test",
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
}

func running(status *corev1.PodStatus) {
	status.Phase = corev1.PodRunning
	status.ContainerStatuses = []corev1.ContainerStatus{{Name: "test",
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
}

func TestWhenNothingIsDone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rule  string
		given func(*stage)
		want  runbook.Outcome
		says  string
	}{
		{"no pod is elsewhere", func(*stage) {}, runbook.NothingToDo, ": none; inside: 4"},
		{"those elsewhere run, or wait for something else", func(s *stage) {
			s.pod(s.astray, "runs", nil)
			s.starts(s.astray, "runs")
			s.pod(s.astray, "waits", mounts(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "nowhere"}}))
		}, runbook.NothingToDo, "none lacks what is in"},
		{"the source is still at work", func(s *stage) {
			s.stranded("a", "b")
			s.inputs.MinAge.Duration = 11 * time.Minute
		}, runbook.Deferred, "while the source is at work"},
		{"a pod that runs is young", func(s *stage) {
			s.stranded("a")
			s.inputs.MinAge.Duration = 11 * time.Minute
			time.Sleep(1100 * time.Millisecond) // a creation is dated to the second
			s.pod(s.astray, "runs", nil)
			s.starts(s.astray, "runs")
		}, runbook.Deferred, "/runs, is"},
		{"there are more than a run may delete", func(s *stage) {
			s.stranded("a", "b", "c")
			s.inputs.Max = 2
		}, runbook.NeedsAttention, "stranded: 3; --max is 2"},
		{"an expected namespace is not there", func(s *stage) {
			s.stranded("a")
			s.inputs.Expected = append(s.inputs.Expected, "no-such-namespace")
		}, runbook.NeedsAttention, `there is no namespace "no-such-namespace"`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			row.given(s)
			before := s.uids(s.astray)
			s.ends(s.check(), row.want, row.says)
			s.ends(s.run(), row.want, row.says)
			if after := s.uids(s.astray); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the pods were %v and are %v", before, after)
			}
		})
	}
}

// TestAnOutageIsSaidFirst: most pods are stranded, and fewer live where they belong.
func TestAnOutageIsSaidFirst(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		rule  string
		given func(*stage)
		want  string
	}{
		{"one that ended since", func(s *stage) {
			s.pod(s.home, "ended", nil)
			time.Sleep(1100 * time.Millisecond) // a creation is dated to the second
			s.stranded("a", "b", "c", "d", "e")
			time.Sleep(1100 * time.Millisecond)
			s.status(s.home, "ended", func(status *corev1.PodStatus) { // by a kubelet whose clock is an hour behind
				finished := metav1.NewTime(time.Now().Add(-time.Hour))
				status.Phase = corev1.PodSucceeded
				status.ContainerStatuses = []corev1.ContainerStatus{{
					Name: "test", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: finished}},
				}}
			})
		}, "an outage, not a leak: 5 of 9 live pods are stranded"},
		{"one that goes while it is looked", func(s *stage) {
			s.pod(s.home, "goes", nil)
			s.stranded("a", "b", "c", "d", "e", "f")
			s.later(2*time.Second, func() {
				_ = s.client.CoreV1().Pods(s.home).Delete(s.Context(), "goes", metav1.DeleteOptions{})
			})
		}, "an outage, not a leak: 6 of 11 live pods are stranded"},
		{"all that were there", func(s *stage) {
			s.must(s.client.CoreV1().Pods(s.home).DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
			s.stranded("a")
		}, "an outage, not a leak: 1 of 1 live pods are stranded, and none lives where they belong"},
		{"none", func(s *stage) { s.stranded("a", "b", "c", "d", "e") }, "a leak: 5 of 9 live pods are stranded"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			row.given(s)
			first := s.check().Findings[0]
			if first.Answer != runbook.AnswerHolds || !strings.HasPrefix(first.Reason, row.want) {
				t.Errorf("the first finding: %s: %s", first.Answer, first.Reason)
			}
		})
	}
}

// TestWhatIsDeniedIsUnknown: a 403 is no answer, whatever is asked for.
func TestWhatIsDeniedIsUnknown(t *testing.T) {
	t.Parallel()
	for _, denied := range []string{"pods", "secrets", "namespaces"} {
		t.Run(denied, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.stranded("a", "b")
			user := "without-" + denied
			s.grant(user, denied)
			s.as(s.plane.KubeconfigOf(t, user))
			result := s.run()
			s.ends(result, runbook.Undecided, "forbidden")
			s.remain(s.astray, "a", "b")
		})
	}
}

// TestOneUncertainPodIsEnough: nothing is begun while it can't be told of one pod what it waits for, though another is
// stranded for certain.
func TestOneUncertainPodIsEnough(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.object(s.home, stranded.ConfigMap, "at-home")
	s.pod(s.astray, "certain", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{
			ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "at-home"}},
		}}
	})
	s.pod(s.astray, "uncertain", nil) // it waits for a Secret
	s.grant("uncertain", "secrets")
	s.as(s.plane.KubeconfigOf(t, "uncertain"))
	s.ends(s.check(), runbook.Undecided, "cannot-start is unknown")
}

// TestWhatIsCertainStays: a pod that lacks one thing for certain is stranded,
// although of another thing it can't be seen.
func TestWhatIsCertainStays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.object(s.home, stranded.ConfigMap, "at-home")
	s.pod(s.astray, "certain", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{
			ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "at-home"}},
		}}
	})
	s.grant("certain", "secrets")
	s.as(s.plane.KubeconfigOf(t, "certain"))
	s.ends(s.check(), "", "")
}

func TestInputsValidate(t *testing.T) {
	for _, row := range []struct {
		edit func(*rescuepods.Inputs)
		want string
	}{
		{func(in *rescuepods.Inputs) { in.Selector = "" }, "it requires no label"},
		{func(in *rescuepods.Inputs) { in.Selector = "app!=web" }, "it requires no label"},
		{func(in *rescuepods.Inputs) { in.Selector = "app notin (a, b), !old" }, "it requires no label"},
		{func(in *rescuepods.Inputs) { in.Selector = "a b" }, "--selector"},
		{func(in *rescuepods.Inputs) { in.Expected = nil }, "--expected-namespace is missing"},
		{func(in *rescuepods.Inputs) { in.Expected = []string{""} }, "--expected-namespace is missing"},
		{func(in *rescuepods.Inputs) { in.Expected = []string{"a", "b", "a"} },
			"--expected-namespace: duplicate namespace a"},
		{func(in *rescuepods.Inputs) { in.Expected = []string{"Test Pods"} }, "no name of a namespace"},
		{func(in *rescuepods.Inputs) { in.ProwJobs = "-" }, "no name of a namespace"},
		{func(in *rescuepods.Inputs) { in.Max = 0 }, "--max 0"},
		{func(in *rescuepods.Inputs) { in.Max = 10001 }, "--max 10001"},
		{func(in *rescuepods.Inputs) { in.MinAge.Duration = 0 }, "--min-age 0s"},
		{func(in *rescuepods.Inputs) { in.ReplacedWithin.Duration = -1 }, "must be above 0"},
	} {
		in := rescuepods.Defaults()
		in.Selector, in.Expected = "created-by-prow=true", []string{"test-pods"}
		row.edit(&in)
		if _, err := rescuepods.New(rescuepods.World{}, in); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v, want %q", in, err, row.want)
		}
	}
}

// TestOneLockForOneSelector: in whatever order its terms are written.
func TestOneLockForOneSelector(t *testing.T) {
	ids := map[string]bool{}
	for _, selector := range []string{"a=1,b=2", "b=2, a=1"} {
		in := rescuepods.Defaults()
		in.Selector, in.Expected = selector, []string{"test-pods"}
		book, err := rescuepods.New(rescuepods.World{ClusterID: "x"}, in)
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Validate(book, engine.Options{}); err != nil {
			t.Error(err)
		}
		ids[book.Target.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("%v", ids)
	}
}
