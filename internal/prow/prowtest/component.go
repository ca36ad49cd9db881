package prowtest

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"salve/internal/kubetest"
)

// Component is a program of Prow that runs until it is ended.
type Component struct {
	*kubetest.Process
	// Name is that of the program.
	Name string
	prow *Prow
	kind kind
	from Files
}

// kind is how a component is started, told to be ready, and replaced.
type kind struct {
	program string
	flags   []string
	// ready is the path that is served as soon as it works, on the port of that flag.
	ready, port string
	// lease is what its leader holds in the namespace of the ProwJobs; empty when it has none.
	lease string
}

// GitHub is where components report to and read from.
type GitHub struct {
	// Endpoint is the base URL of the REST API. That of GraphQL is below it.
	Endpoint string
	// TokenFile has the token to use.
	TokenFile string
}

// flags let a component call GitHub as often as it likes: how it paces itself is not what tests ask about.
func (g GitHub) flags() []string {
	return []string{
		"--github-endpoint=" + g.Endpoint, "--github-graphql-endpoint=" + g.Endpoint + "/graphql",
		"--github-token-path=" + g.TokenFile, "--github-hourly-tokens=0", "--github-allowed-burst=0",
		"--github-client.initial-delay=100ms",
	}
}

// Plank starts prow-controller-manager with the controller that makes pods of ProwJobs, and waits until it is ready.
func (p *Prow) Plank(ctx context.Context, files Files) (*Component, error) {
	return p.start(ctx, files, kind{
		program: Plank, flags: []string{"--dry-run=false", "--enable-controller=plank"},
		ready: "/healthz/ready", port: "--health-port", lease: "prow-controller-manager-leader-lock",
	})
}

// Sinker starts sinker, and waits until it is ready. Its first cycle begins at once.
func (p *Prow) Sinker(ctx context.Context, files Files) (*Component, error) {
	return p.start(ctx, files, kind{
		program: Sinker, flags: []string{"--dry-run=false"},
		ready: "/metrics", port: "--metrics-port", lease: "prow-sinker-leaderlock",
	})
}

// Crier starts crier with the reporter to GitHub, and waits until it is ready.
func (p *Prow) Crier(ctx context.Context, files Files, github GitHub) (*Component, error) {
	return p.start(ctx, files, kind{
		program: Crier, flags: append([]string{"--dry-run=false", "--github-workers=2"}, github.flags()...),
		ready: "/metrics", port: "--metrics-port",
	})
}

// StatusReconciler starts status-reconciler, and waits until it is ready. What it last knew of the configuration is
// kept in a file of this Prow, also for the next one that is started.
func (p *Prow) StatusReconciler(ctx context.Context, files Files, github GitHub) (*Component, error) {
	return p.start(ctx, files, kind{
		program: StatusReconciler, flags: append([]string{
			"--dry-run=false", "--continue-on-error", "--plugin-config=" + files.Plugins,
			"--status-path=" + filepath.Join(p.folder, "status-reconciler.state"),
		}, github.flags()...),
		ready: "/debug/pprof/cmdline", port: "--pprof-port",
	})
}

// Replace ends the component and starts the same program with another configuration, as a rollout does.
func (c *Component) Replace(ctx context.Context, files Files) (*Component, error) {
	if err := c.Stop(ctx); err != nil {
		return nil, err
	}
	return c.prow.start(ctx, files, c.kind)
}

// Stop ends the component, and gives up its leadership.
func (c *Component) Stop(ctx context.Context) error {
	if err := c.Kill(); err != nil || c.kind.lease == "" {
		return err
	}
	return c.prow.release(ctx, c.from.ProwJobs, c.kind.lease)
}

func (p *Prow) start(ctx context.Context, files Files, of kind) (*Component, error) {
	ports, err := kubetest.FreePorts(3)
	if err != nil {
		return nil, err
	}
	flags := slices.Concat(of.flags, []string{
		"--config-path=" + files.Config, "--job-config-path=" + files.Jobs, "--kubeconfig=" + p.kubeconfig,
	})
	url := ""
	for i, flag := range []string{"--health-port", "--metrics-port", "--pprof-port"} {
		flags = append(flags, fmt.Sprintf("%s=%d", flag, ports[i]))
		if flag == of.port {
			url = fmt.Sprintf("http://127.0.0.1:%d%s", ports[i], of.ready)
		}
	}
	process, err := p.run(of.program, flags)
	if err != nil {
		return nil, err
	}
	c := &Component{Process: process, Name: of.program, prow: p, kind: of, from: files}
	p.mu.Lock()
	p.started = append(p.started, c)
	p.mu.Unlock()
	if err := c.awaitReady(ctx, url); err != nil {
		return nil, err
	}
	return c, nil
}

// run starts a program of Prow. Its log is named after it and the time.
func (p *Prow) run(program string, flags []string) (*kubetest.Process, error) {
	path, err := Program(program)
	if err != nil {
		return nil, err
	}
	log := filepath.Join(p.folder, fmt.Sprintf("%s-%d.log", program, time.Now().UnixNano()))
	return p.Plane.Run(log, path, flags...)
}

// readyLimit is far more than a start takes, for machines that are busy.
const readyLimit = time.Minute

func (c *Component) awaitReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("not within %s", readyLimit))
	defer cancel()
	go func() {
		select {
		case <-c.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	err := Until(ctx, c.Name+" is ready", func(ctx context.Context) error { return serves(ctx, url) })
	if err != nil {
		return fmt.Errorf("%w; the end of its log:\n%s", err, c.LastWords())
	}
	return nil
}

// serves tells whether a URL answers 200.
func serves(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
