package prowtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"salve/internal/kubetest"
)

// SinkOnce runs sinker for one cycle. Sinker does not end after that by itself, so that it is ended.
func (p *Prow) SinkOnce(ctx context.Context, files Files) error {
	component, err := p.start(ctx, files, kind{
		program: Sinker, flags: []string{"--dry-run=false", "--run-once"},
		ready: "/metrics", port: "--metrics-port", lease: "prow-sinker-leaderlock",
	})
	if err != nil {
		return err
	}
	err = Until(ctx, "sinker's cycle is over", func(context.Context) error {
		return logged(component.Process, "Sync time: ")
	})
	if err == nil { // a cycle that could not list the ProwJobs is over as well
		err = logged(component.Process, "Sinker reconciliation complete.")
	}
	if err != nil {
		err = fmt.Errorf("%w; the end of its log:\n%s", err, component.LastWords())
	}
	return errors.Join(err, component.Stop(ctx))
}

func logged(process *kubetest.Process, text string) error {
	found, err := process.Logged(text)
	if err == nil && !found {
		err = fmt.Errorf("%q is not in the log", text)
	}
	return err
}

// BranchProtector runs branchprotector to its end, and gives what it said. err says that it failed.
func (p *Prow) BranchProtector(ctx context.Context, files Files, github GitHub) (said string, err error) {
	process, err := p.run(BranchProtector, append([]string{
		"--config-path=" + files.Config, "--job-config-path=" + files.Jobs, "--confirm",
	}, github.flags()...))
	if err != nil {
		return "", err
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), process.Kill())
	}
	code := process.ExitCode()
	raw, err := os.ReadFile(process.Log())
	if err = errors.Join(err, process.Kill()); err != nil {
		return "", err
	}
	if code != 0 {
		err = fmt.Errorf("branchprotector ended with %d", code)
	}
	return string(raw), err
}

// Check runs checkconfig over a configuration, strictly: its warnings are errors. It gives what it said.
func Check(ctx context.Context, files Files) (said string, err error) {
	program, err := Program(CheckConfig)
	if err != nil {
		return "", err
	}
	output, err := exec.CommandContext(ctx, program, "--strict", "--config-path="+files.Config,
		"--job-config-path="+files.Jobs, "--plugin-config="+files.Plugins).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("checkconfig: %w", err)
	}
	return strings.TrimSpace(string(output)), err
}
