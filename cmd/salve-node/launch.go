//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/launch"
	"salve/internal/hotfix/slot"
)

// The outcomes of launch and confirm, beside those that others have too.
const (
	outcomeStopped   = "stopped"
	outcomeConfirmed = "confirmed"
)

// boot is one run of launch. It does nothing that much memory, many files or a foreign
// text could make fail: that is the prepare process's part.
type boot struct {
	*node
	wrapper *launch.Wrapper // nil if there is none
	signals *launch.Signals
	event   event.Event
	began   time.Time
	run     *launch.Run // the staged program, while it runs
}

// runLaunch runs the program, hotfixed where that is possible, baked otherwise. Whatever
// goes wrong before the program has begun, the baked one runs.
func (n *node) runLaunch() int {
	runtime.LockOSThread() // children die with the thread that started them
	b := &boot{node: n, event: n.event("launch"), began: n.clock.Now()}
	b.event.Reason = string(slot.NoHotfix)
	code, over := 0, false
	n.safely("launch", func() { code, over = b.hotfixed() })
	if over {
		return code
	}
	b.endRun()
	return b.runBaked()
}

// hotfixed runs the staged program if everything speaks for it. It tells whether the boot
// is over with that, and with which exit code.
func (b *boot) hotfixed() (code int, over bool) {
	if !b.mustPrepare() {
		b.saysBaked(slot.NoHotfix, "no-pointer")
		return 0, false
	}
	if err := b.listen(); err != nil {
		b.refuse(reasonUnprepared, err)
		return 0, false
	}
	choice, err := b.prepared()
	var asked *launch.AskedError
	switch {
	case errors.As(err, &asked):
		return b.stopped(launch.ExitAfter(asked.Signal), err.Error()), true
	case err != nil:
		b.refuse(reasonUnprepared, err)
		return 0, false
	}
	b.event.Reason, b.event.Target = choice.reason, choice.target
	b.tidied = true // by prepare
	if choice.digest == "" {
		b.event.Level = levelOfChoice(choice)
		if levelOfReason(choice.decided) != event.Information {
			b.event.Problem = "the pointer is not followed: " + string(choice.decided)
		}
		return 0, false
	}
	return b.runStaged(choice)
}

// mustPrepare tells whether there is anything to do before the program runs. It costs a
// few looks at the disk.
func (b *boot) mustPrepare() bool {
	for _, path := range []string{b.settings.pointer, b.settings.signedPointer} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return b.settings.check || b.tree().Unfinished() || b.slot().Leftover()
}

// listen takes the signals from here on: none is to end this process while it has
// children, and none is to be lost.
func (b *boot) listen() (err error) {
	if b.settings.wrapped {
		if b.wrapper, err = launch.FindWrapper(); err != nil {
			return err
		}
	}
	b.signals = launch.Listen(b.wrapper)
	_, err = os.Stat("/proc/self/fd") // programs are executed through it
	return err
}

// runStaged starts the staged program, if it is the one that was chosen and a start of it
// can be counted, and sees to its end.
func (b *boot) runStaged(choice choice) (code int, over bool) {
	ctx, cancel := clock.WithTimeout(context.Background(), b.clock, b.left())
	defer cancel()
	program, err := b.slot().Open(ctx, choice.digest)
	if err != nil {
		b.refuse(reasonOfOpening(err), err)
		return 0, false
	}
	defer program.Close()
	trial, err := b.slot().BeginTrial(ctx, program.Manifest, b.clock.Now())
	if err != nil {
		b.refuse(reasonOfCounting(err), err)
		return 0, false
	}
	if asked := b.signals.Asked(); asked != 0 { // the last moment to heed it without a start
		b.endTrial(trial, slot.GivenBack)
		return b.stopped(launch.ExitAfter(asked), fmt.Sprintf("asked to end by the signal %q", asked)), true
	}
	return b.supervise(program, trial)
}

func (b *boot) supervise(program slot.Program, trial slot.Trial) (code int, over bool) {
	b.event.Path = b.settings.staged
	b.event.Measure("before", b.clock.Since(b.began))
	run, err := launch.Program{
		Path: b.settings.staged, Arguments: b.program, File: program.File, Clock: b.clock,
		Environment: []string{variable("staged") + "=" + b.settings.staged},
	}.Start(b.signals)
	program.Close()
	if err != nil {
		b.neverStarted(trial, err)
		return 0, false
	}
	b.run = run
	return b.judge(trial, run.Wait(context.Background(), b.settings.deadline))
}

// neverStarted: a program that did not run has shown nothing. Where there was not enough
// of something, the start does not count either.
func (b *boot) neverStarted(trial slot.Trial, err error) {
	ending := slot.Unconfirmed
	if launch.Scarce(err) {
		ending = slot.GivenBack
	}
	b.endTrial(trial, ending)
	b.fallBack(fmt.Sprintf("it could not be started: %v", err))
}

// judge says what the end of the staged program means.
func (b *boot) judge(trial slot.Trial, exit launch.Exit) (code int, over bool) {
	ending := slot.Unconfirmed
	switch {
	case exit.End == launch.Stopped:
		ending = slot.GivenBack
	case exit.End == launch.Exited && exit.Code == 0:
		ending = slot.Confirmed
	}
	trial = b.endTrial(trial, ending)
	b.event.Exit = &exit.Code
	switch {
	case exit.End == launch.Stopped:
		b.run.LeaveRest()
		return b.stopped(exit.Code, exit.Says+" after it was asked to"), true
	case exit.End == launch.Exited && (exit.Code == 0 || trial.Confirmed):
		b.run.LeaveRest()
		return b.over(exit.Code, outcomeRan), true
	case exit.End != launch.Exited && trial.Confirmed:
		b.markBad(trial.SHA256)
		b.fallBack(exit.Says)
	default:
		b.fallBack(exit.Says + " before it was confirmed")
	}
	return 0, false
}

func (b *boot) endTrial(trial slot.Trial, ending slot.Ending) slot.Trial {
	ended, err := b.slot().EndTrial(context.Background(), trial, ending)
	if err != nil {
		b.warn("the end of the trial is not kept: " + err.Error())
	}
	return ended
}

func (b *boot) markBad(digest string) {
	if err := b.slot().MarkBad(digest); err != nil {
		b.warn("it could not be marked bad, so the next boot tries it again: " + err.Error())
	}
}

// fallBack: the staged program has failed, and the baked one runs in the same boot.
func (b *boot) fallBack(why string) {
	b.event.Outcome, b.event.Level, b.event.Problem = outcomeFellBack, event.Warning, why
	b.warn(fmt.Sprintf("%s: %s; the baked program runs instead", b.settings.staged, why))
}

// endRun: the baked program runs alone.
func (b *boot) endRun() {
	if b.run == nil {
		return
	}
	if err := b.run.EndRest(context.Background()); err != nil {
		b.warn("what the staged program has started can't be ended: " + err.Error())
	}
	b.run = nil
}

// refuse: the staged program is not started.
func (b *boot) refuse(reason slot.Reason, err error) {
	b.event.Reason, b.event.Level, b.event.Problem = string(reason), event.Warning, oneLine(err)
	b.saysBaked(reason, b.event.Problem)
}

func (b *boot) saysBaked(reason slot.Reason, details string) {
	b.warn(fmt.Sprintf("%s: %s (%s)", b.settings.baked, reason, details))
}

// left is what is left of the budget.
func (b *boot) left() time.Duration { return b.settings.budget - b.clock.Since(b.began) }

// stopped ends a boot that somebody has asked to end: the baked program does not run.
func (b *boot) stopped(code int, why string) int {
	b.event.Problem, b.event.Exit = why, &code
	return b.over(code, outcomeStopped)
}

// over ends a boot whose program has run.
func (b *boot) over(code int, outcome string) int {
	b.event.Outcome = outcome
	b.safely("launch", func() { b.record(b.event) })
	b.exportMetrics(b.event)
	b.finish()
	return code
}

// finish says so to the shell that would run the baked program else.
func (b *boot) finish() {
	if b.wrapper != nil {
		b.wrapper.Finish(b.signals, b.clock)
	}
}

// runBaked leaves the baked program to the shell, or makes this process that program: its
// signals, its exit code and its place under the supervisor are its own, and there is
// nothing to fall back to.
func (b *boot) runBaked() int {
	if b.event.Outcome == "" {
		b.event.Outcome = outcomeRan
	}
	b.event.Path = b.settings.baked
	b.safely("launch", func() { b.record(b.event) })
	b.exportMetrics(b.event)
	return b.launchBaked()
}

// launchBaked is also what remains to be done after a mistake.
func (n *node) launchBaked() int {
	if n.settings.wrapped {
		return exitDone
	}
	n.flushed()
	baked := launch.Program{Path: n.settings.baked, Arguments: n.program, Clock: n.clock}
	err := baked.Replace()
	n.warn(fmt.Sprintf("the baked program can't be run: %v", err))
	n.safely("launch", func() {
		e := n.event("launch")
		e.Level, e.Outcome, e.Path, e.Problem = event.Error, outcomeFailed, n.settings.baked, oneLine(err)
		n.record(e)
	})
	return launch.ExitOf(err)
}
