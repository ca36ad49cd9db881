package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"salve/internal/clock"
	"salve/internal/pipeline"
	"salve/internal/pipeline/process"
	"salve/internal/pipeline/program"
)

// Order is what is to be built, and how.
type Order struct {
	File *pipeline.File
	// Platform to build for; the zero one is this machine, with nothing forced.
	Platform program.Platform
	// Machine is the one that will execute what is built; programs that it can't execute do not replace those that were
	// there. The zero one is not asked.
	Machine program.Machine
	// Anew builds also what did not change.
	Anew bool
	// Environment is the builder's own, as NAME=value. What forces a platform is
	// not passed on.
	Environment []string
	// Output gets what the build says.
	Output io.Writer
	// State is a folder where it is remembered what was built and what was there
	// before.
	State string
	Clock clock.Clock

	// native are variables that keep Go's own settings from forcing another platform.
	native []string
}

// Report is what came of a build.
type Report struct {
	// Cached: nothing had changed, so nothing was built.
	Cached bool
	// Made are the programs that steps will execute, from the pipeline's folder.
	Made []string
	Took time.Duration
	// Dropped are variables and settings that were not passed on, because they would
	// have forced another platform.
	Dropped []string
}

// FailedError says that the build step failed. The programs are as before.
type FailedError struct {
	// How is how its command ended.
	How string
}

func (e *FailedError) Error() string {
	return "the build step failed (" + e.How + "); the programs are as they were before it"
}

// Run runs the build step of a pipeline that has one. Two builds of one pipeline
// wait for each other.
func Run(ctx context.Context, order Order) (report Report, err error) {
	began := order.Clock.Now()
	programs, err := made(ctx, order.File)
	if err != nil {
		return report, err
	}
	report = Report{Made: programs, Dropped: order.dropped()}
	workspace, unlock, err := order.enter(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	var overruled []string
	order.native, overruled = order.goSettings(ctx, workspace.state)
	report.Dropped = append(report.Dropped, overruled...)
	key, err := order.key(ctx, append(workspace.outputs(), programs...))
	if err != nil {
		return report, err
	}
	if !order.Anew && workspace.holds(key) {
		report.Cached, report.Took = true, order.Clock.Since(began)
		return report, nil
	}
	if err := order.make(ctx, workspace, programs, key); err != nil {
		return report, err
	}
	report.Took = order.Clock.Since(began)
	return report, nil
}

// Mend brings back what was there before a build that was killed. It does
// nothing when none was.
func Mend(ctx context.Context, order Order) (err error) {
	_, unlock, err := order.enter(ctx)
	if err != nil {
		return err
	}
	return unlock()
}

// enter locks the pipeline's workspace, ends what a killed build has left running, and
// brings back what was there before it.
func (o Order) enter(ctx context.Context) (_ workspace, unlock func() error, err error) {
	folder, err := filepath.Abs(o.File.Folder())
	if err != nil {
		return workspace{}, nil, err
	}
	r := workspace{folder: folder,
		state: filepath.Join(o.State, nameOf(filepath.Join(folder, filepath.Base(o.File.Path))))}
	if err := os.MkdirAll(r.state, 0o700); err != nil {
		return r, nil, fmt.Errorf("remembering builds: %w", err)
	}
	lock := flock.New(filepath.Join(r.state, "lock"))
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return r, nil, fmt.Errorf("waiting for another build of %s: %w", o.File.Path, err)
	}
	if r.interrupted() {
		_, err = process.EndMarked(ctx, o.Clock, r.mark(), grace)
		err = errors.Join(err, r.restore())
	}
	if err != nil {
		return r, nil, errors.Join(fmt.Errorf("bringing back what was there before a build that was killed: %w", err),
			lock.Unlock())
	}
	return r, lock.Unlock, nil
}

const (
	// lockPause is the time between two attempts to get the lock of a build.
	lockPause = 200 * time.Millisecond
	// grace is the time that a build has to end when it is told to.
	grace = 10 * time.Second
)

// make sets the programs aside, builds, and remembers what was built. Unless all
// of it succeeds, the programs come back.
func (o Order) make(ctx context.Context, r workspace, programs []string, key string) (err error) {
	before, err := r.survey()
	if err != nil {
		return err
	}
	if err := r.setAside(programs); err != nil {
		return fmt.Errorf("keeping the programs that are there: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.restore())
		}
	}()
	if err := o.execute(ctx, r); err != nil {
		return err
	}
	after, err := r.survey()
	if err != nil {
		return err
	}
	outputs := changed(before, after)
	for _, path := range programs {
		if err := r.finish(path, slices.Contains(outputs, path)); err != nil {
			return err
		}
		if _, there := after[path]; there && !slices.Contains(outputs, path) {
			outputs = append(outputs, path)
		}
	}
	if err := o.fit(programs); err != nil {
		return err
	}
	return r.keep(key, outputs)
}

// execute runs the build step's command.
func (o Order) execute(ctx context.Context, r workspace) error {
	words := o.command()
	path, err := tool(r.folder, words[0])
	if err != nil {
		return fmt.Errorf("the build step's command: %w", err)
	}
	ending, err := process.Command{
		Path: path, Arguments: words[1:], Folder: r.folder, Environment: o.environment(),
		Stdout: o.Output, Stderr: o.Output, Mark: r.mark(), Grace: grace, Clock: o.Clock,
	}.Run(ctx)
	if len(ending.Left) > 0 {
		fmt.Fprintf(o.Output, "The build step left running what could not be ended: %s.\n", process.List(ending.Left))
	}
	switch {
	case err != nil:
		return fmt.Errorf("running the build step: %w", err)
	case ending.Stopped:
		return fmt.Errorf("%w; the programs are as they were before the build", context.Cause(ctx))
	case !ending.ByItself() || ending.Code != 0:
		return &FailedError{How: ending.String()}
	}
	return nil
}

func (o Order) command() []string {
	words := []string{o.File.BuildStep.Command.Value}
	for _, argument := range o.File.BuildStep.Args {
		words = append(words, argument.Value)
	}
	return words
}

// forcing are the variables that make tools build for another machine than the
// one at hand.
func forcing() []string {
	return []string{"GOOS", "GOARCH", "GOARM", "GOARM64", "GOAMD64", "GO386", "GOMIPS", "GOMIPS64", "GOPPC64",
		"GORISCV64", "TARGETPLATFORM", "TARGETOS", "TARGETARCH"}
}

// dropped are the variables of the builder that are not passed on.
func (o Order) dropped() []string {
	var names []string
	for _, variable := range o.Environment {
		if name, value, _ := strings.Cut(variable, "="); slices.Contains(forcing(), name) && value != "" {
			names = append(names, variable)
		}
	}
	return names
}

// environment is the builder's, without what forces a platform, and with the
// platform that was asked for.
func (o Order) environment() []string {
	kept := slices.DeleteFunc(slices.Clone(o.Environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(forcing(), name)
	})
	p := o.Platform
	if p == (program.Platform{}) {
		return append(kept, o.native...)
	}
	kept = append(kept, "GOOS="+p.OS, "GOARCH="+p.Arch, "TARGETPLATFORM="+p.String())
	if p.Arch == "arm" && p.Variant != "" {
		kept = append(kept, "GOARM="+strings.TrimPrefix(p.Variant, "v"))
	}
	return kept
}

// platform is what is built for.
func (o Order) platform() program.Platform {
	if o.Platform == (program.Platform{}) {
		return program.Host()
	}
	return o.Platform
}
