package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/prow/prowtest"
)

// act is a part of the story.
type act struct {
	title string
	do    func(context.Context) error
}

// play plays the acts, and says how long each took.
func (d *day) play(ctx context.Context) error {
	for i, act := range d.acts() {
		d.out.print("\n== %d. %s\n", i, act.title)
		began := time.Now()
		if err := act.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", strings.ToLower(act.title), err)
		}
		d.say("(%s)", time.Since(began).Round(time.Second/10))
	}
	return nil
}

// say prints what happens beside the commands.
func (d *day) say(format string, arguments ...any) {
	d.out.print("# "+format+"\n", arguments...)
}

// run runs salve in the repository as it is printed, and expects an exit code. It gives what salve says.
func (d *day) run(ctx context.Context, exit int, arguments ...string) (said string, err error) {
	d.out.print("\n$ salve %s\n", strings.Join(arguments, " "))
	return d.ended(d.command(ctx, d.salve, arguments...), exit)
}

// shell runs a line of shell as it is printed.
func (d *day) shell(ctx context.Context, line string) (said string, err error) {
	d.out.print("\n$ %s\n", line)
	return d.ended(d.command(ctx, "sh", "-c", line), 0)
}

func (d *day) ended(command *exec.Cmd, exit int) (said string, err error) {
	output, complaint := &recorder{printer: d.out}, &bytes.Buffer{} // the log is for machines
	command.Stdout, command.Stderr = output, complaint
	err = command.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return "", fmt.Errorf("running salve: %w", err)
	}
	if code := command.ProcessState.ExitCode(); code != exit {
		return "", fmt.Errorf("it ended with %d, not %d:\n%s", code, exit, complaint)
	}
	return output.String(), nil
}

// command has the way to the cluster and to the GitHub of the day in its environment.
func (d *day) command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = d.repo.folder
	command.Env = append(os.Environ(), "KUBECONFIG="+d.Plane.Kubeconfig(), "GITHUB_API_URL="+d.bot.Endpoint,
		"GITHUB_TOKEN="+token, "HOME="+d.folder, "XDG_STATE_HOME="+d.folder, "NO_COLOR=1",
		"PATH="+d.folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	command.WaitDelay = 10 * time.Second
	return command
}

// expect fails unless what was said holds each of some texts.
func expect(said string, texts ...string) error {
	for _, text := range texts {
		if !strings.Contains(said, text) {
			return fmt.Errorf("it did not say %q", text)
		}
	}
	return nil
}

// deploy does what the deploy job of a Prow does: manifests, configuration, and a new plank.
func (d *day) deploy(ctx context.Context) error {
	if err := d.kubectl(ctx, "apply", "--filename", d.repo.path("prow", "cluster")); err != nil {
		return err
	}
	files := map[string]string{"config": d.repo.files.Config, "job-config": d.repo.files.Jobs + "/jobs.yaml"}
	for name, file := range files {
		if err := d.configMap(ctx, name, file); err != nil {
			return err
		}
	}
	var err error
	if d.plank == nil {
		d.plank, err = d.Plank(ctx, d.repo.files)
	} else {
		d.plank, err = d.plank.Replace(ctx, d.repo.files)
	}
	return err
}

func (d *day) kubectl(ctx context.Context, arguments ...string) error {
	flags := append([]string{"--kubeconfig", d.Plane.Kubeconfig()}, arguments...)
	command := exec.CommandContext(ctx, d.Plane.Program("kubectl"), flags...)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", arguments[0], err, said)
	}
	return nil
}

// configMap writes a ConfigMap with one file, as the updateconfig plugin does.
func (d *day) configMap(ctx context.Context, name, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	maps := d.Plane.Client().CoreV1().ConfigMaps(prowJobs)
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name},
		Data: map[string]string{file[strings.LastIndex(file, "/")+1:]: string(content)}}
	if _, err = maps.Get(ctx, name, metav1.GetOptions{}); err == nil {
		_, err = maps.Update(ctx, wanted, metav1.UpdateOptions{})
	} else {
		_, err = maps.Create(ctx, wanted, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s: %w", name, err)
	}
	return nil
}

// start makes ProwJobs, the nth and those after it, as hook does for n pull requests.
func (d *day) start(ctx context.Context, first, n int) error {
	jobs := make([]prowtest.Job, n)
	for i := range jobs {
		number := 1000 + first + i
		jobs[i] = prowtest.Job{
			Name: fmt.Sprintf("4a6f6273-0000-4000-8000-%012d", number), Job: "pull-app-unit", Type: prowtest.Presubmit,
			Repo: "example/app", Pull: number, SHA: headOf(number), Secrets: []string{account},
		}
	}
	return d.Create(ctx, prowJobs, pods, jobs...)
}

// await waits until a namespace has so many pods of Prow in a phase, and gives their UIDs.
func (d *day) await(ctx context.Context, namespace string, phase corev1.PodPhase, n int) (map[string]bool, error) {
	var uids map[string]bool
	what := fmt.Sprintf("%d pods are %s in %s", n, phase, namespace)
	err := prowtest.Until(ctx, what, func(ctx context.Context) error {
		list, err := d.Plane.Client().CoreV1().Pods(namespace).List(ctx, ofProw())
		if err != nil {
			return err
		}
		uids = map[string]bool{}
		for i := range list.Items {
			if list.Items[i].Status.Phase == phase {
				uids[string(list.Items[i].UID)] = true
			}
		}
		if len(uids) != n {
			return fmt.Errorf("there are %d", len(uids))
		}
		return nil
	})
	return uids, err
}

// ofProw selects what carries Prow's label.
func ofProw() metav1.ListOptions { return metav1.ListOptions{LabelSelector: "created-by-prow=true"} }
