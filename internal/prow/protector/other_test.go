package protector

import (
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	testclient "k8s.io/client-go/testing"

	"salve/internal/clock"
	"salve/internal/prow/config"
	"salve/kube"
)

// protectorPod runs a branchprotector whose configuration is in a ConfigMap of its namespace.
func protectorPod(changes ...func(*corev1.PodSpec)) corev1.PodSpec {
	spec := corev1.PodSpec{
		Containers: []corev1.Container{{
			Image: "registry/prow/branchprotector:v1", Args: []string{"--config-path=/etc/config/config.yaml", "--confirm"},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}},
		}},
		Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}},
		}}},
	}
	for _, change := range changes {
		change(&spec)
	}
	return spec
}

// elsewhere is a configuration of another instance, which protects nothing of ours.
const elsewhere = "prowjob_namespace: their-jobs\nbranch-protection: {orgs: {other: {protect: true}}}\n"

// protecting is a configuration of another instance that protects something.
func protecting(what string) *corev1.ConfigMap {
	return configured("theirs", "prowjob_namespace: their-jobs\nbranch-protection: "+what+"\n")
}

// ours protects repositories kube/widgets and whole/..., and has a job for kube/attic.
func ours(t testing.TB) *Scope {
	t.Helper()
	read, err := config.Parse("config.yaml", []byte(`
branch-protection: {orgs: {kube: {repos: {widgets: {protect: true}}}, Whole: {protect: true}}}
presubmits: {kube/attic: [{name: dust, spec: {containers: [{image: golang}]}}]}
`)).Config()
	if err != nil {
		t.Fatal(err)
	}
	return ScopeOf(read, nil)
}

// mount mounts a ConfigMap, or a part of one.
func mount(name, at, part, expression string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts,
			corev1.VolumeMount{Name: name, MountPath: at, SubPath: part, SubPathExpr: expression})
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		}})
	}
}

func arguments(more ...string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) { spec.Containers[0].Args = append(spec.Containers[0].Args, more...) }
}

func configured(namespace, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "config"},
		Data: map[string]string{"config.yaml": text}}
}

func reader(objects ...runtime.Object) (*Reader, *fake.Clientset) {
	client := fake.NewClientset(objects...)
	kinds := map[schema.GroupVersionResource]string{prowJobs(): "ProwJobList"}
	return &Reader{ProwJobs: "prow", Cluster: &kube.Cluster{Client: client, Clock: clock.Real{},
		Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)}}, client
}

// TestWhoseProtectorItIs: another Prow's is told by its own configuration, where that protects nothing of ours, or by
// who names its namespace. Whatever can't be told counts.
func TestWhoseProtectorItIs(t *testing.T) {
	theirs := configured("theirs", elsewhere)
	for rule, row := range map[string]struct {
		namespace string
		spec      corev1.PodSpec
		config    *corev1.ConfigMap
		others    []string
		refused   bool
		passed    string // empty: it counts
	}{
		"another configuration": {namespace: "theirs", spec: protectorPod(), config: theirs,
			passed: "ConfigMap theirs/config, has ProwJobs in namespace their-jobs"},
		"the flag in two words, and a key of another name": {namespace: "theirs", config: &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "theirs", Name: "config"},
			Data:       map[string]string{"prow": elsewhere}},
			spec: protectorPod(func(spec *corev1.PodSpec) {
				spec.Containers[0].Args = []string{"--config-path", "/etc/config/config.yaml"}
				spec.Volumes[0].ConfigMap.Items = []corev1.KeyToPath{{Key: "prow", Path: "config.yaml"}}
			}), passed: "their-jobs"},
		"ours, started by hand elsewhere": {namespace: "theirs", spec: protectorPod(),
			config: configured("theirs", "prowjob_namespace: prow\n")},
		"in our namespace, whatever it mounts": {namespace: "prow", spec: protectorPod(),
			config: configured("prow", elsewhere)},
		"a second instance that protects a repository of ours": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {kube: {repos: {widgets: {protect: true}}}}}")},
		"one that protects it in capitals": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {Kube: {repos: {Widgets: {protect: true}}}}}")},
		"one that protects our organization": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {whole: {protect: true}}}")},
		"one that protects an organization with a repository of ours": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{protect: true, orgs: {kube: {}}}")},
		"one that protects a repository of our organization": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {whole: {repos: {any: {protect: true}}}}}")},
		"one that protects a repository that may have leftovers of ours": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {kube: {repos: {attic: {protect: true}}}}}")},
		"one that protects a repository of the plan": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {planned: {repos: {one: {protect: true}}}}}")},
		"one that protects other repositories of the same organization": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {kube: {repos: {gadgets: {protect: true}}}}}"), passed: "protects nothing that this one"},
		"one that protects what its jobs are for": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{protect-tested-repos: true}")},
		"one with a field that nobody knows": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {other: {protect-by-default: true}}}")},
		"one of which a part is dropped": {namespace: "theirs", spec: protectorPod(),
			config: configured("theirs", elsewhere+"---\n{}\n")},
		"one with a value of the wrong type": {namespace: "theirs", spec: protectorPod(),
			config: protecting("{orgs: {other: {protect: maybe}}}")},
		"one that has shards": {namespace: "theirs", config: theirs,
			spec: protectorPod(arguments("--supplemental-prow-config-dir=/etc/shards"))},
		"one that has arguments of its environment": {namespace: "theirs", config: theirs,
			spec: protectorPod(arguments("$(MORE)"))},
		"one whose file is mounted over": {namespace: "theirs", config: theirs,
			spec: protectorPod(mount("own", "/etc/config/config.yaml", "config.yaml", ""))},
		"one whose folder is mounted over": {namespace: "theirs", config: theirs, spec: protectorPod(
			func(spec *corev1.PodSpec) {
				spec.Containers[0].Args = []string{"--config-path=/etc/config/deep/config.yaml"}
				spec.Volumes[0].ConfigMap.Items = []corev1.KeyToPath{{Key: "config.yaml", Path: "deep/config.yaml"}}
			}, mount("own", "/etc/config/deep", "", ""))},
		"one that is over another, whatever their order": {namespace: "theirs", config: theirs,
			spec: protectorPod(mount("own", "/etc", "", "")), passed: "ConfigMap theirs/config"},
		"a part of a ConfigMap, in which another key has the file's name": {namespace: "theirs", config: theirs,
			spec: protectorPod(func(spec *corev1.PodSpec) { spec.Containers[0].VolumeMounts[0].SubPath = "ours" })},
		"a part that a variable names": {namespace: "theirs", config: theirs,
			spec: protectorPod(func(spec *corev1.PodSpec) { spec.Containers[0].VolumeMounts[0].SubPathExpr = "$(OURS)" })},
		"a configuration that names none": {namespace: "theirs", spec: protectorPod(), config: configured("theirs", "{}")},
		"one that can't be parsed":        {namespace: "theirs", spec: protectorPod(), config: configured("theirs", "a: [")},
		"one that is not there":           {namespace: "theirs", spec: protectorPod()},
		"one that nobody may read":        {namespace: "theirs", spec: protectorPod(), config: theirs, refused: true},
		"one of an image": {namespace: "theirs", config: theirs, spec: protectorPod(func(spec *corev1.PodSpec) {
			spec.Volumes = nil
		})},
		"one at another path": {namespace: "theirs", config: theirs, spec: protectorPod(func(spec *corev1.PodSpec) {
			spec.Containers[0].Args = []string{"--config-path=/etc/configuration/config.yaml"}
		})},
		"one whose flag is given twice": {namespace: "theirs", config: theirs, spec: protectorPod(func(spec *corev1.PodSpec) {
			spec.Containers[0].Args = append(spec.Containers[0].Args, "--config-path=/else/config.yaml")
		})},
		"a namespace that is named": {namespace: "theirs", spec: protectorPod(), others: []string{"theirs"},
			passed: "named as another Prow's"},
		"another namespace than the named one": {namespace: "theirs", spec: protectorPod(), others: []string{"their"}},
	} {
		t.Run(rule, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: row.namespace, Name: "p"}, Spec: row.spec}
			cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: row.namespace, Name: "c"}}
			cron.Spec.JobTemplate.Spec.Template.Spec = row.spec
			objects := []runtime.Object{pod, cron}
			if row.config != nil {
				objects = append(objects, row.config)
			}
			r, client := reader(objects...)
			r.Others, r.Ours = row.others, ours(t)
			r.Ours.Add(config.Branch{Org: "Planned", Repo: "One", Name: "main"})
			if row.refused {
				client.PrependReactor("get", "configmaps", func(testclient.Action) (bool, runtime.Object, error) {
					return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no"))
				})
			}
			runs, err := r.Runs(t.Context())
			if err != nil || len(runs) != 1 || (runs[0].Passed == "") != (row.passed == "") ||
				!strings.Contains(runs[0].Passed, row.passed) {
				t.Errorf("%+v (%v), want %q", runs, err, row.passed)
			}
			active, err := r.Active(t.Context())
			images, imagesErr := r.Images(t.Context())
			if counts := row.passed == ""; err != nil || imagesErr != nil || (len(active) == 1) != counts ||
				(len(images.Deployed) == 1) != counts {
				t.Errorf("in progress: %v (%v), deployed: %v (%v)", active, err, images.Deployed, imagesErr)
			}
		})
	}
}

// TestWithoutOurScopeNoConfigurationIsAnothers.
func TestWithoutOurScopeNoConfigurationIsAnothers(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "theirs", Name: "p"}, Spec: protectorPod()}
	r, _ := reader(pod, configured("theirs", elsewhere))
	if runs, err := r.Runs(t.Context()); err != nil || len(runs) != 1 || runs[0].Passed != "" {
		t.Errorf("%+v (%v)", runs, err)
	}
}

// TestAJobThatNeverEndsIsNoRunForEver, once it has had no pod for hours. Whatever may still run counts.
func TestAJobThatNeverEndsIsNoRunForEver(t *testing.T) {
	now := time.Now()
	for rule, row := range map[string]struct {
		age      time.Duration
		deadline time.Duration
		active   int32
		pod      bool
		counts   bool
	}{
		"young":                           {age: time.Minute, counts: true},
		"hours, without a pod":            {age: 7 * time.Hour},
		"less than six hours":             {age: 5 * time.Hour, counts: true},
		"a pod is there":                  {age: 700 * time.Hour, pod: true, counts: true},
		"a pod is said to be":             {age: 700 * time.Hour, active: 1, counts: true},
		"past its own deadline":           {age: 2 * time.Hour, deadline: 90 * time.Minute},
		"its own deadline is far":         {age: 7 * time.Hour, deadline: 8 * time.Hour, counts: true},
		"a short deadline, and just made": {age: time.Minute, deadline: time.Second, counts: true},
		"of an age that is not known":     {counts: true},
	} {
		t.Run(rule, func(t *testing.T) {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "j", UID: types.UID("u")},
				Status: batchv1.JobStatus{Active: row.active}}
			job.Spec.Template.Spec = protectorPod()
			if row.age > 0 {
				job.CreationTimestamp = metav1.NewTime(now.Add(-row.age))
			}
			if row.deadline > 0 {
				seconds := int64(row.deadline / time.Second)
				job.Spec.ActiveDeadlineSeconds = &seconds
			}
			objects := []runtime.Object{job}
			if row.pod {
				objects = append(objects, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "prow", Name: "j-x",
					OwnerReferences: []metav1.OwnerReference{{UID: "u"}}}})
			}
			r, _ := reader(objects...)
			runs, err := r.Runs(t.Context())
			if err != nil || len(runs) != 1 || (runs[0].Passed == "") != row.counts ||
				!row.counts && !strings.Contains(runs[0].Passed, "never ended, and without a pod") {
				t.Errorf("%+v (%v)", runs, err)
			}
		})
	}
}
