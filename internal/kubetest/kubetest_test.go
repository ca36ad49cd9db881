package kubetest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"salve/internal/kubetest"
)

// TestAPodRunsOnANode: scheduler, controllers and kwok are at work.
func TestAPodRunsOnANode(t *testing.T) {
	plane := kubetest.Start(t)
	namespace, nodes := plane.Namespace(t), plane.Nodes(t, 2, map[string]string{"for": "this-test"})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"for": "this-test"},
			Containers:   []corev1.Container{{Name: "app", Image: "registry.example/app:1"}},
		},
	}
	pods := plane.Client().CoreV1().Pods(namespace)
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod runs", func(ctx context.Context) bool {
		seen, err := pods.Get(ctx, "app", metav1.GetOptions{})
		return err == nil && seen.Status.Phase == corev1.PodRunning && strings.Contains(strings.Join(nodes, " "),
			seen.Spec.NodeName)
	})
}

// TestAUserHasNoRightsOfItsOwn: RBAC is in force.
func TestAUserHasNoRightsOfItsOwn(t *testing.T) {
	plane := kubetest.Start(t)
	config, err := clientcmd.BuildConfigFromFlags("", plane.KubeconfigOf(t, "stranger"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing nodes as a stranger: %v", err)
	}
	if got := plane.Requests(t, "stranger"); len(got) != 1 || got[0] != "list nodes" {
		t.Errorf("the stranger's requests are %q", got)
	}
}

// TestDataSurvivesTheAPIServer: it is killed and comes back on its port.
func TestDataSurvivesTheAPIServer(t *testing.T) {
	plane, err := kubetest.Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Close(); err != nil {
			t.Error(err)
		}
	}()
	namespace := plane.Namespace(t)
	plane.StopAPIServer(t)
	if _, err := plane.Client().CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); err == nil {
		t.Error("a killed API server answered")
	}
	plane.StartAPIServer(t)
	if _, err := plane.Client().CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

// TestNothingIsLeft: a test binary that panics leaves no process and no folder.
func TestNothingIsLeft(t *testing.T) {
	if os.Getenv("PANIC_WITH_A_CONTROL_PLANE") != "" {
		plane := kubetest.Start(t)
		if _, err := plane.Run(filepath.Join(t.TempDir(), "log"), "sleep", "3600"); err != nil {
			t.Fatal(err)
		}
		panicWith(t, filepath.Dir(plane.Kubeconfig()))
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestNothingIsLeft$")
	cmd.Env = append(os.Environ(), "PANIC_WITH_A_CONTROL_PLANE=1")
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(string(output), "as asked") {
		t.Fatalf("it ended with %v: %s", err, output)
	}
	told := strings.Fields(string(output))
	folder, processes := told[0], told[1:1+strings.Count(string(output), "\n.")]
	eventually(t, "the folder is gone", func(context.Context) bool {
		_, err := os.Stat(folder)
		return errors.Is(err, os.ErrNotExist)
	})
	if len(processes) != 6 { // the one beside the control plane included
		t.Errorf("the processes were %q: %s", processes, output)
	}
	for _, text := range processes {
		process, err := strconv.Atoi(strings.TrimPrefix(text, "."))
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "process "+text+" is gone", func(context.Context) bool {
			return gone(process)
		})
	}
}

// panicWith tells the folder and, each after a dot, the processes in it.
func panicWith(t *testing.T, folder string) {
	told := folder + "\n"
	files, err := filepath.Glob(filepath.Join(folder, "*.pid"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		process, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		told += "." + string(process)
	}
	fmt.Print(told)
	panic("as asked")
}

// TestAMissingProgramSaysHowToGetIt names the command.
func TestAMissingProgramSaysHowToGetIt(t *testing.T) {
	t.Setenv(kubetest.Folder, t.TempDir())
	_, err := kubetest.Launch(t.Context())
	if err == nil || !strings.Contains(err.Error(), "make control-plane") {
		t.Errorf("without programs: %v", err)
	}
}

// BenchmarkStart is from nothing to a control plane that is ready.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		plane, err := kubetest.Launch(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := plane.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func eventually(t *testing.T, what string, holds func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for !holds(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("not within a minute: %s", what)
		case <-ticker.C:
		}
	}
}
