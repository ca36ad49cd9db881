package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"salve/internal/kubetest"
	"salve/internal/prow/prowtest"
)

// output is what a command that goes on has written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// watching is a salve prow watch that goes on until it ends by itself, or the test does.
type watching struct {
	stdout, stderr output
	stop           context.CancelFunc
	done           chan struct{}
	err            error
	exit           int
}

// TestProwWatchEndsWithItsReader, as in salve prow watch … | head.
func TestProwWatchEndsWithItsReader(t *testing.T) {
	t.Parallel()
	kubeconfig, config := filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(t.TempDir(), "config.yaml")
	for path, text := range map[string]string{config: "pod_namespace: test-pods\n", kubeconfig: `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, write := io.Pipe()
	_ = read.Close() // of a pipe this gives no error
	a := &app{stdout: write, stderr: io.Discard, lookup: func(string) string { return "" },
		arguments: []string{"prow", "watch", "--config", config, "--kubeconfig", kubeconfig}}
	ended := make(chan int)
	go func() { ended <- execute(a) }()
	select {
	case code := <-ended:
		if code != exitDecided {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(2 * time.Minute):
		t.Error("it goes on")
	}
}

// watchProw starts one as a user of a kubeconfig.
func watchProw(s *prowtest.Stage, kubeconfig string, files prowtest.Files, change func(*prowWatchRequest)) *watching {
	w := &watching{done: make(chan struct{})}
	asked := &prowWatchRequest{prowFiles: prowFiles{config: files.Config, jobs: files.Jobs},
		kubernetesFlags: kubernetesFlags{kubeconfig: kubeconfig}, cluster: "default", form: "text"}
	asked.addGitHubFlags(pflag.NewFlagSet("watch", pflag.ContinueOnError))
	change(asked)
	a := &app{stdout: &w.stdout, stderr: &w.stderr, lookup: func(string) string { return "" }}
	ctx, stop := context.WithCancel(s.Context())
	w.stop = stop
	go func() {
		defer close(w.done)
		a.streams()
		w.err = a.prowWatch(ctx, asked)
		w.exit = a.exit
		if w.err != nil {
			w.exit = a.fail(w.err)
		}
	}()
	s.Cleanup(func() {
		stop()
		<-w.done
	})
	return w
}

// awaitLine waits until the watch has said something.
func (w *watching) awaitLine(s *prowtest.Stage, words ...string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("the watch says %q", words), func(context.Context) error {
		for line := range strings.Lines(w.stdout.String()) {
			said := strings.Join(strings.Fields(line), " ")
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(said, word) }) {
				return nil
			}
		}
		return fmt.Errorf("it said:\n%s\n%s", w.stdout.String(), w.stderr.String())
	})
}

func (w *watching) ended(s *prowtest.Stage) {
	s.Helper()
	s.Eventually("the watch ends", func(context.Context) error {
		select {
		case <-w.done:
			return nil
		default:
			return fmt.Errorf("it goes on:\n%s\n%s", w.stdout.String(), w.stderr.String())
		}
	})
}

func kubectl(s *prowtest.Stage, arguments ...string) {
	s.Helper()
	command := exec.CommandContext(s.Context(), s.Plane.Program("kubectl"),
		append([]string{"--kubeconfig", s.Plane.Kubeconfig()}, arguments...)...)
	if out, err := command.CombinedOutput(); err != nil {
		s.Fatalf("kubectl %v: %v: %s", arguments, err, out)
	}
}

// watcher is a user with the roles of deploy/prow-watch-role.yaml, and nothing else.
func watcher(s *prowtest.Stage, everywhere bool) (name, kubeconfig string) {
	s.Helper()
	who := "watcher-" + s.ProwJobs
	kubectl(s, "apply", "-f", "../deploy/prow-watch-role.yaml")
	kubectl(s, "-n", s.Pods, "create", "rolebinding", who, "--clusterrole=salve-prow-watch-pods", "--user="+who)
	kubectl(s, "-n", s.ProwJobs, "create", "rolebinding", who, "--clusterrole=salve-prow-watch-prowjobs", "--user="+who)
	if everywhere {
		kubectl(s, "create", "clusterrolebinding", who, "--clusterrole=salve-prow-watch", "--user="+who)
		s.Cleanup(func() {
			_ = s.Plane.Client().RbacV1().ClusterRoleBindings().Delete(context.Background(), who, metav1.DeleteOptions{})
		})
	} else {
		for _, namespace := range []string{s.Pods, s.Astray} {
			kubectl(s, "-n", namespace, "create", "rolebinding", who+"-sees", "--clusterrole=salve-prow-watch", "--user="+who)
		}
	}
	return who, s.Plane.KubeconfigOf(s, who)
}

// TestProwWatchOnTheDay is 5 February 2019 with today's plank, seen by a user with the documented roles alone: the bad
// release is told by its first pod, and the rollback ends that.
func TestProwWatchOnTheDay(t *testing.T) {
	t.Parallel()
	prowtest.Need(t, prowtest.Plank)
	s := prowtest.NewStage(t)
	s.Secret(s.Pods, "service-account")
	good := s.Good()
	plank := s.StartPlank(good)
	aJob := func(name string) prowtest.Job {
		job := prowtest.APresubmit(name)
		job.Secrets = []string{"service-account"}
		return job
	}
	s.Make(aJob("before"))
	s.AwaitPods(s.Pods, corev1.PodRunning, "before")
	deploy := prowtest.APostsubmit("deploy-prow")
	files := selfDeployed(s, deploy)
	who, kubeconfig := watcher(s, true)
	ports, err := kubetest.FreePorts(1)
	s.Must(err)
	metrics := fmt.Sprintf("127.0.0.1:%d", ports[0])
	w := watchProw(s, kubeconfig, files, func(asked *prowWatchRequest) {
		asked.metrics, asked.events, asked.manifests = metrics, true, filepath.Dir(files.Config)+"/manifests"
	})
	s.Eventually("all is seen", func(context.Context) error { return allSeen(metrics) })
	gate := watchProw(s, kubeconfig, good, func(asked *prowWatchRequest) { asked.until = "ALERT" })

	// The job that runs gets its second pod as soon as the bad release leads, and no other is made.
	plank = s.Roll(plank, s.Bad())
	w.awaitLine(s, "new ALERT A2", "namespace="+s.Astray)
	told := time.Now()
	stray := s.Pod(s.Astray, "before")
	t.Logf("A2: told %s after the bad plank's first pod was made (to the second)", told.Sub(stray.CreationTimestamp.Time))
	gate.ended(s)
	if gate.exit != exitFailed || gate.err != nil {
		t.Errorf("the gate ends with %d, %v", gate.exit, gate.err)
	}
	s.AwaitPods(s.Astray, corev1.PodPending, "before") // still the only one
	w.awaitLine(s, "new ALERT A5", "Secret service-account, which is in namespace "+s.Pods)
	t.Logf("A5: told %s after it", time.Since(stray.CreationTimestamp.Time))
	expectEvent(s, "ProwA2", "new ALERT", "namespace="+s.Astray)
	if text := scrape(metrics); !strings.Contains(text, `salve_prow_findings{rule="A2",severity="ALERT"} 1`) {
		t.Errorf("the metrics are %s", text)
	}
	// The job that would deploy the way back gets its pod there too.
	s.Make(deploy)
	w.awaitLine(s, "new ALERT C5", "job=post-infra-deploy-prow", "roll back by hand", "its pod is in namespace "+s.Astray)

	s.Roll(plank, good)
	s.AwaitPods(s.Pods, corev1.PodRunning, "before", deploy.Name)
	w.awaitLine(s, "gone ALERT A2")
	w.awaitLine(s, "gone ALERT C5")
	for _, name := range []string{"before", deploy.Name} {
		s.Must(s.Plane.Client().CoreV1().Pods(s.Astray).Delete(t.Context(), name, metav1.DeleteOptions{}))
	}
	w.awaitLine(s, "gone", "A1")
	w.awaitLine(s, "gone ALERT A5")
	w.stop()
	w.ended(s)
	if w.err != nil || w.exit != exitDecided {
		t.Errorf("interrupted, it ends with %d, %v", w.exit, w.err)
	}
	want := []string{"create events", "get leases.coordination.k8s.io", "get secrets", "list events", "list pods",
		"list prowjobs.prow.k8s.io", "watch pods", "watch prowjobs.prow.k8s.io"}
	if used := s.Plane.Requests(t, who); !slices.Equal(used, want) {
		t.Errorf("it asked for %q, want %q", used, want)
	}
}

// selfDeployed is a good release's configuration with a job that deploys the controller that makes its pod.
func selfDeployed(s *prowtest.Stage, deploy prowtest.Job) prowtest.Files {
	s.Helper()
	files, err := prowtest.Config{ProwJobs: s.ProwJobs, Pods: s.Pods, Jobs: []prowtest.ConfiguredJob{
		{Name: deploy.Job, Type: deploy.Type, Repo: deploy.Repo},
	}}.Write(s.TempDir())
	s.Must(err)
	manifests := filepath.Join(filepath.Dir(files.Config), "manifests")
	s.Must(os.Mkdir(manifests, 0o750))
	s.Must(os.WriteFile(filepath.Join(manifests, "plank.yaml"), []byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: prow-controller-manager, namespace: prow}
spec:
  template:
    spec:
      containers:
      - {name: prow-controller-manager, image: "registry.example/prow/prow-controller-manager:v1"}
`), 0o600))
	return files
}

// allSeen is nil when no rule lacks anything.
func allSeen(metrics string) error {
	text := scrape(metrics)
	for _, rule := range []string{"A1", "A2", "A3", "A4", "A5", "C5"} {
		if !strings.Contains(text, fmt.Sprintf("salve_prow_rule_unknown{rule=%q} 0", rule)) {
			return fmt.Errorf("rule %s is unknown: %s", rule, text)
		}
	}
	return nil
}

func scrape(address string) string {
	request, err := http.NewRequest(http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "salve_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func expectEvent(s *prowtest.Stage, reason string, words ...string) {
	s.Helper()
	s.Eventually("there is an Event "+reason, func(ctx context.Context) error {
		events, err := s.Plane.Client().CoreV1().Events(s.ProwJobs).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Reason == reason && !slices.ContainsFunc(words, func(word string) bool {
				return !strings.Contains(event.Message, word)
			}) {
				return nil
			}
		}
		return errors.New("there is none")
	})
}

// TestProwWatchWithoutRights: a user who may not look into all namespaces gets what is in the named ones, and is told
// that there are others. A gate is not passed by that.
func TestProwWatchWithoutRights(t *testing.T) {
	t.Parallel()
	s := prowtest.NewStage(t)
	good := s.Good()
	_, kubeconfig := watcher(s, false)
	named := func(change func(*prowWatchRequest)) *watching {
		return watchProw(s, kubeconfig, good, func(asked *prowWatchRequest) {
			asked.namespaces = []string{s.Astray}
			change(asked)
		})
	}
	// The authorizer learns of new rights by a watch, and so does a mirror that was refused a minute ago.
	s.Eventually("the rights are in force", func(context.Context) error {
		w := named(func(asked *prowWatchRequest) { asked.duration, asked.until = 3*time.Second, "ALERT" })
		<-w.done
		said := w.stdout.String() + w.stderr.String()
		if w.exit != exitUndecided || !strings.Contains(said, "pods of other namespaces are not seen: namespaces ["+
			strings.Join(slices.Sorted(slices.Values([]string{s.Pods, s.Astray})), " ")+"] only") ||
			!strings.Contains(said, "undecided: no ALERT was seen, and rule A1 is UNKNOWN") {
			return fmt.Errorf("exit code %d: %s", w.exit, said)
		}
		return nil
	})
	job := prowtest.APresubmit("one")
	job.State = prowtest.Pending
	s.Make(job)
	_, err := s.Plane.Client().CoreV1().Pods(s.Astray).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"created-by-prow": "true",
			"prow.k8s.io/id": "one"}, Annotations: map[string]string{"prow.k8s.io/job": job.Job}},
		Spec: corev1.PodSpec{NodeSelector: s.Nodes,
			Containers: []corev1.Container{{Name: "c", Image: "registry.example/c"}}},
	}, metav1.CreateOptions{})
	s.Must(err)
	w := named(func(asked *prowWatchRequest) { asked.until, asked.form = "WARN", "json" })
	w.ended(s)
	if w.exit != exitFailed || !strings.Contains(w.stdout.String(), `"change":"new","finding":{"rule":"A1","severity":"WARN"`) {
		t.Errorf("exit code %d: %s%s", w.exit, w.stdout.String(), w.stderr.String())
	}
}

// TestProwWatchTakesNoRolloutOfTheFuture but for clocks that differ a little.
func TestProwWatchTakesNoRolloutOfTheFuture(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.February, 5, 8, 50, 0, 0, time.UTC)
	for ahead, refused := range map[time.Duration]bool{-time.Hour: false, 0: false, 10 * time.Second: false,
		11 * time.Second: true, time.Hour: true} {
		asked := &prowWatchRequest{prowFiles: prowFiles{config: "c"}, cluster: "default", form: "text",
			rollout: now.Add(ahead).Format(time.RFC3339)}
		asked.addGitHubFlags(pflag.NewFlagSet("watch", pflag.ContinueOnError))
		err := asked.validate([]string{"text"}, clocktesting.NewFakePassiveClock(now))
		if (err != nil) != refused {
			t.Errorf("%s ahead: %v", ahead, err)
		}
	}
}
