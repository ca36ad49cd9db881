package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// The size of a large Prow, and what a watch of it may take.
const (
	largePods, largeJobs = 50_000, 20_000
	// changesPerSecond are those of pods, and as many of ProwJobs.
	changesPerSecond = 10
	steady           = time.Minute
	mostMemory       = 300 << 20
	mostProcessor    = 0.05
)

// TestProwWatchSteadyState measures a whole process of salve prow watch beside an API server that is this one.
func TestProwWatchSteadyState(t *testing.T) {
	if !*measure {
		t.Skip("measured by make bench-prow")
	}
	server := httptest.NewServer(largeServer())
	defer server.Close()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	metrics := freeAddress(t)
	command := exec.CommandContext(t.Context(), "../bin/salve", "prow", "watch",
		"--config", write("config.yaml", "prowjob_namespace: prow\npod_namespace: test-pods\n"),
		"--kubeconfig", write("kubeconfig", "apiVersion: v1\nkind: Config\ncurrent-context: c\n"+
			"clusters: [{name: c, cluster: {server: '"+server.URL+"'}}]\n"+
			"contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n"),
		"--metrics-address", metrics)
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	awaitObjects(t, metrics)
	listed := time.Since(began)
	before, from := processorTime(t, command.Process.Pid), time.Now()
	time.Sleep(steady)
	processor := float64(processorTime(t, command.Process.Pid)-before) / float64(time.Since(from))
	resident, peak := memoryOf(t, command.Process.Pid, "VmRSS"), memoryOf(t, command.Process.Pid, "VmHWM")
	awaitObjects(t, metrics)
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil || strings.Contains(said.String(), "ALERT") {
		t.Errorf("%v: %s", err, said.String())
	}
	fmt.Printf("prow: salve prow watch of %d pods and %d ProwJobs, %d changes a second: %.1f %% of a processor, "+
		"%.0f MiB resident, %.0f MiB at the most; listed in %.1f s\n", largePods, largeJobs, 2*changesPerSecond,
		100*processor, float64(resident)/(1<<20), float64(peak)/(1<<20), listed.Seconds())
	if processor > mostProcessor || peak > mostMemory {
		t.Errorf("it may take %.0f %% and %d MiB", 100*mostProcessor, mostMemory>>20)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// awaitObjects waits until the watch has seen all.
func awaitObjects(t *testing.T, address string) {
	t.Helper()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	var text string
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); <-ticker.C {
		request, err := http.NewRequest(http.MethodGet, "http://"+address+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		raw, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if text = string(raw); strings.Contains(text, fmt.Sprintf("salve_prow_objects{kind=\"pod\"} %d\n", largePods)) &&
			strings.Contains(text, fmt.Sprintf("salve_prow_objects{kind=\"job\"} %d\n", largeJobs)) &&
			strings.Contains(text, `salve_prow_rule_unknown{rule="A1"} 0`) {
			return
		}
	}
	t.Fatalf("it doesn't see all:\n%s", text)
}

// processorTime is what a process has used (proc_pid_stat(5)): fields 14 and 15, in hundredths of a second.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Skip(err)
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(after)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// memoryOf is a field of proc_pid_status(5), in bytes.
func memoryOf(t *testing.T, pid int, field string) int64 {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, found := strings.CutPrefix(line, field+":"); found {
			kibibytes, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kibibytes << 10
		}
	}
	t.Fatalf("no %s in %s", field, raw)
	return 0
}

// largeServer is the API server of a large Prow: pages of what there is, and a watch on which some of it changes.
func largeServer() http.Handler {
	mux := http.NewServeMux()
	encoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	type pager func(w http.ResponseWriter, first, last int, next string)
	serve := func(pattern string, n int, one func(i int) any, page pager) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, request *http.Request) {
			query := request.URL.Query()
			if query.Get("watch") != "" {
				change(w, request, n, one)
				return
			}
			first, _ := strconv.Atoi(query.Get("continue"))
			limit, _ := strconv.Atoi(query.Get("limit"))
			last, next := min(n, first+limit), ""
			if last < n {
				next = strconv.Itoa(last)
			}
			page(w, first, last, next)
		})
	}
	serve("GET /api/v1/pods", largePods, func(i int) any { return largePod(i) },
		func(w http.ResponseWriter, first, last int, next string) {
			list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1", Continue: next}}
			for i := first; i < last; i++ {
				list.Items = append(list.Items, *largePod(i))
			}
			list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
			w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
			_ = encoder.Encode(list, w) // the reader went away
		})
	serve("GET /apis/prow.k8s.io/v1/prowjobs", largeJobs, largeJob,
		func(w http.ResponseWriter, first, last int, next string) {
			var items []any
			for i := first; i < last; i++ {
				items = append(items, largeJob(i))
			}
			answer(w, map[string]any{"apiVersion": "prow.k8s.io/v1", "kind": "ProwJobList", "items": items,
				"metadata": map[string]any{"resourceVersion": "1", "continue": next}})
		})
	mux.HandleFunc("GET /apis/coordination.k8s.io/v1/namespaces/prow/leases/{name}",
		func(w http.ResponseWriter, request *http.Request) {
			answer(w, map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
				"metadata": map[string]any{"namespace": "prow", "name": request.PathValue("name")},
				"spec":     map[string]any{"acquireTime": "2026-02-05T08:47:00.000000Z"}})
		})
	return mux
}

func answer(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object) // the reader went away
}

// change changes one object after the other.
func change(w http.ResponseWriter, request *http.Request, n int, one func(i int) any) {
	w.Header().Set("Content-Type", "application/json")
	ticker := time.NewTicker(time.Second / changesPerSecond)
	defer ticker.Stop()
	for i := 0; ; i++ {
		answer(w, map[string]any{"type": "MODIFIED", "object": changed(one(i%n), strconv.Itoa(i+2))})
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-request.Context().Done():
			return
		}
	}
}

func changed(object any, version string) any {
	switch object := object.(type) {
	case *corev1.Pod:
		object.ResourceVersion = version
	case map[string]any:
		object["metadata"].(map[string]any)["resourceVersion"] = version
	}
	return object
}

func largeUUID(i int) string { return fmt.Sprintf("5d0d5d0d-0000-4000-8000-%012d", i) }

// largeSpec is as long as what Prow tells each container of a pod about its job.
var largeSpec = strings.Repeat(`{"type":"presubmit","job":"pull-repo-integration-tests"}`, 25)

// largePod is a pod as Prow makes them, a twentieth of which wait.
func largePod(i int) *corev1.Pod {
	name := largeUUID(i)
	made := metav1.NewTime(time.Now().Add(-time.Duration(i%86400) * time.Second).Truncate(time.Second))
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{
		Namespace: "test-pods", Name: name, UID: types.UID(largeUUID(i + 1)), ResourceVersion: "1", CreationTimestamp: made,
		Labels: map[string]string{"created-by-prow": "true", "prow.k8s.io/id": name, "prow.k8s.io/type": "presubmit",
			"prow.k8s.io/build-id": fmt.Sprintf("19%017d", i), "prow.k8s.io/plank-version": "v20260205-1234567",
			"prow.k8s.io/refs.org": "example", "prow.k8s.io/refs.repo": fmt.Sprintf("repo-%d", i%50)},
		Annotations: map[string]string{"prow.k8s.io/job": fmt.Sprintf("pull-repo-%d-integration-tests", i%1000)},
	}, Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &made}}
	for _, container := range []string{"test", "sidecar"} {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: container, Image: "registry.example/" +
			container, Env: []corev1.EnvVar{{Name: "JOB_SPEC", Value: largeSpec}}})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: container,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: made}}})
	}
	pod.Spec.Volumes = []corev1.Volume{{Name: "creds", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: "service-account"}}}}
	pod.Spec.NodeName = fmt.Sprintf("node-%d", i%5000)
	if i%20 == 0 {
		pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodPending, nil
	}
	return pod
}

// largeJob is a ProwJob. Every tenth is pending and has a pod that runs; the others are done.
func largeJob(i int) any {
	at := time.Now().Add(-time.Duration(i%86400) * time.Second).UTC()
	status := map[string]any{"state": "success", "startTime": at.Format(time.RFC3339),
		"pendingTime": at.Format(time.RFC3339), "completionTime": at.Add(time.Second).Format(time.RFC3339),
		"description": "Job succeeded.", "pod_name": largeUUID(i), "build_id": fmt.Sprintf("19%017d", i),
		"prev_report_states": map[string]any{"github-reporter": "success"}}
	if i%10 == 1 {
		status["state"] = "pending"
		delete(status, "completionTime")
	}
	return map[string]any{"apiVersion": "prow.k8s.io/v1", "kind": "ProwJob",
		"metadata": map[string]any{"namespace": "prow", "name": largeUUID(i), "uid": largeUUID(i + 1),
			"resourceVersion": "1", "creationTimestamp": at.Format(time.RFC3339)},
		"spec": map[string]any{"type": "presubmit", "agent": "kubernetes", "cluster": "default", "namespace": "test-pods",
			"report": true, "job": fmt.Sprintf("pull-repo-%d-integration-tests", i%1000),
			"context": fmt.Sprintf("pull-repo-%d", i%1000),
			"refs": map[string]any{"org": "example", "repo": fmt.Sprintf("repo-%d", i%50), "base_ref": "main",
				"pulls": []any{map[string]any{"number": i, "sha": fmt.Sprintf("%040d", i)}}},
			"pod_spec": map[string]any{"containers": []any{map[string]any{"name": "test", "env": []any{
				map[string]any{"name": "SPEC", "value": largeSpec}}}}}},
		"status": status,
	}
}
