package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/kubetest"
	"salve/internal/prow/githubsim"
	"salve/internal/prow/prowtest"
)

// The namespaces of the Prow, and where a bad release's pods go.
const (
	prowJobs = "prow"
	pods     = "test-pods"
	astray   = "default"
)

// options say how large the day is.
type options struct {
	// salve is the program.
	salve string
	// running jobs have a pod when the bad release comes; started ones come between it and the rollback.
	running, started int
	// draft is the file that the post-mortem is written into; it is printed when that is empty.
	draft string
}

// day is the stage and where the story stands.
type day struct {
	options
	*prowtest.Prow
	out    *printer
	folder string
	github *githubsim.Server
	// bot is how Prow's own programs reach GitHub.
	bot   prowtest.GitHub
	repo  *repository
	plank *prowtest.Component
	// watch waits for the alarm of the salve that watches since the day began.
	watch func() (alarm, error)
	// alive are the pods that ran when the day began, by UID.
	alive map[string]bool
	// runs are those that the day made.
	runs   []string
	ending []func() error
}

// open starts everything that is there before the day begins.
func open(ctx context.Context, o options, out io.Writer) (_ *day, err error) {
	d := &day{options: o, out: &printer{to: out}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.folder, err = os.MkdirTemp("", "prow-day-"); err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	d.ending = append(d.ending, func() error { return os.RemoveAll(d.folder) })
	if d.salve, err = filepath.Abs(o.salve); err != nil {
		return nil, fmt.Errorf("finding salve: %w", err)
	}
	if err := os.Symlink(d.salve, filepath.Join(d.folder, "salve")); err != nil {
		return nil, fmt.Errorf("naming salve: %w", err)
	}
	plane, err := kubetest.Launch(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", err)
	}
	d.ending = append(d.ending, plane.Close)
	if d.Prow, err = prowtest.Open(ctx, plane, d.folder); err != nil {
		return nil, fmt.Errorf("preparing a Prow: %w", err)
	}
	d.ending = append(d.ending, d.Prow.Close)
	if err := d.nodes(ctx); err != nil {
		return nil, err
	}
	if err := d.namespaces(ctx); err != nil {
		return nil, err
	}
	return d, d.serveGitHub(ctx)
}

// Close ends all that was started, the last first.
func (d *day) Close() error {
	var failed error
	for len(d.ending) > 0 {
		last := len(d.ending) - 1
		failed = errors.Join(failed, d.ending[last]())
		d.ending = d.ending[:last]
	}
	return failed
}

// nodes are enough for all pods, the second ones too. On them no pod starts before what it mounts is there.
func (d *day) nodes(ctx context.Context) error {
	var names []string
	for i := range (2*d.running+2*d.started)/200 + 2 {
		names = append(names, fmt.Sprintf("mounting-%02d", i))
	}
	if err := d.Plane.AddNodes(ctx, names, nil); err != nil {
		return err
	}
	mounting, stop := context.WithCancel(context.WithoutCancel(ctx)) // it ends after what it serves
	var working sync.WaitGroup
	working.Go(func() { d.Plane.Mount(mounting, names) })
	d.ending = append(d.ending, func() error { stop(); working.Wait(); return nil })
	return nil
}

func (d *day) namespaces(ctx context.Context) error {
	client := d.Plane.Client().CoreV1()
	for _, name := range []string{prowJobs, pods, "salve-system"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("making namespace %s: %w", name, err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: account}, StringData: map[string]string{"key": "none"}}
	if _, err := client.Secrets(pods).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("making the Secret that jobs mount: %w", err)
	}
	return nil
}
