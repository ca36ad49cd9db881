//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/fetch"
	"salve/internal/hotfix/payload"
	"salve/internal/hotfix/postpone"
	"salve/internal/hotfix/slot"
)

// update is one fetch: the program, the scripts, or both.
type update struct {
	node  *node
	event *event.Event
	// waits: what has failed before is put off.
	waits bool
	parts []*part
}

// part is the program or the scripts. Neither waits for the other's success.
type part struct {
	what   string // as the memory of failures has it
	target hotfix.Version
	// asked is what a failure is remembered by; to know it costs reading some files.
	asked func() postpone.Asked
	// What the event says of it.
	outcome, source, problem *string
	// inPlace gives an outcome when there is nothing to be done.
	inPlace func() (outcome string, err error)
	bring   func(ctx context.Context, from *fetch.Fetcher, folder string) error
	brought string // the outcome then

	remembered, off bool
	before          postpone.Failure
}

// plan lists what a decision wants.
func (u *update) plan(pointer hotfix.Pointer, decision hotfix.Decision) {
	n := u.node
	if decision.Target != nil {
		one := &part{outcome: &u.event.Outcome, source: &u.event.Source, problem: &u.event.Problem, brought: outcomeStaged}
		one.inPlace = func() (string, error) { return n.programInPlace(one.target) }
		one.bring = func(ctx context.Context, from *fetch.Fetcher, folder string) error {
			return n.bringProgram(ctx, from, pointer, one, folder)
		}
		u.want(one, "program", *decision.Target, pointer, n.fetcher().ProgramSource)
	}
	if decision.Scripts.Target != nil {
		scripts := &event.Scripts{Outcome: outcomeNothingToDo, Target: *decision.Scripts.Target}
		u.event.Scripts = scripts
		one := &part{outcome: &scripts.Outcome, source: &scripts.Source, problem: &scripts.Problem, brought: outcomeApplied}
		one.inPlace = func() (string, error) { return n.scriptsInPlace(one.target) }
		one.bring = func(ctx context.Context, from *fetch.Fetcher, folder string) error {
			return n.bringScripts(ctx, from, pointer, one, folder)
		}
		u.want(one, "scripts", *decision.Scripts.Target, pointer, n.fetcher().ScriptsSource)
	}
}

func (u *update) want(one *part, what, target string, pointer hotfix.Pointer,
	source func(hotfix.Pointer, hotfix.Version) string) {
	var err error
	if one.target, err = hotfix.ParseVersion(target); err != nil {
		u.note(one, err)
		return
	}
	one.what = what
	one.asked = sync.OnceValue(func() postpone.Asked {
		return postpone.Asked{What: what, Target: target, Source: source(pointer, one.target), Pointer: pointer.Digest()}
	})
	u.parts = append(u.parts, one)
}

// settled tells whether there is nothing to be done, without taking the lock.
func (u *update) settled() bool {
	settled := true
	for _, one := range u.parts {
		settled = (u.isInPlace(one) || u.isPutOff(one)) && settled
	}
	return settled
}

func (u *update) isInPlace(one *part) bool {
	outcome, err := one.inPlace()
	if err != nil {
		u.note(one, err)
		return true // nothing is left to do about it
	}
	if outcome != "" {
		*one.outcome = outcome
	}
	return outcome != ""
}

// isPutOff tells whether it has failed before, and is not to be tried at this boot.
func (u *update) isPutOff(one *part) bool {
	if !u.waits || one.remembered {
		return one.off
	}
	one.remembered = true
	if one.before, one.off = u.node.memory().Find(one.asked()); one.off {
		*one.outcome = outcomePostponed
		*one.problem = fmt.Sprintf("until %s, after failing %d times: %s: %s",
			one.before.Until.UTC().Format(time.RFC3339), one.before.Failures, one.before.Outcome, one.before.Problem)
		u.event.Level = worse(u.event.Level, event.Warning)
	}
	return one.off
}

// note writes an error into the event.
func (u *update) note(one *part, err error) {
	*one.outcome, *one.problem = outcomeOf(err), oneLine(err)
	u.event.Level = worse(u.event.Level, levelOf(*one.outcome))
}

// failed notes an error that concerns all that is wanted.
func (u *update) failed(err error) {
	for _, one := range u.parts {
		if !u.isPutOff(one) {
			u.note(one, err)
		}
	}
}

// bring fetches one part, unless that has been done meanwhile, and remembers a failure.
func (u *update) bring(ctx context.Context, one *part) {
	if u.isInPlace(one) || u.isPutOff(one) {
		return
	}
	began := u.node.clock.Now()
	err := u.attempt(ctx, one)
	if err != nil {
		u.note(one, err)
	} else {
		*one.outcome = one.brought
	}
	u.event.Measure(one.what, u.node.clock.Since(began))
	if err := u.remember(one, err); err != nil {
		u.node.warn("what came of it is not remembered: " + err.Error())
	}
}

func (u *update) attempt(ctx context.Context, one *part) error {
	folder, remove, err := u.node.slot().Scratch()
	if err != nil {
		return err
	}
	defer remove()
	from := u.node.settings.fetch
	from.Budget, from.Clock = u.node.settings.budget, u.node.clock
	if one.before.Failures > 0 {
		from.Tries = 1 // what has failed for the whole of a budget is not worth another one
	}
	return one.bring(ctx, fetch.New(from), folder)
}

// remember writes down what would be the same at the next boot. What is read from the
// node's own files costs nothing to look at again, and a lock is let go.
func (u *update) remember(one *part, err error) error {
	outcome := fetch.Outcome(*one.outcome)
	switch {
	case err == nil:
		return u.node.memory().Forget(one.what)
	case outcome == fetch.Busy || outcome.ByConfiguration():
		return nil
	}
	return u.node.memory().Failed(one.asked(), *one.outcome, *one.problem)
}

func (n *node) memory() postpone.Memory {
	return postpone.Memory{Path: filepath.Join(n.settings.state, "postponed.json"), Clock: n.clock}
}

func (n *node) programInPlace(target hotfix.Version) (outcome string, err error) {
	staged, err := n.slot().Current(target)
	if staged {
		outcome = outcomeAlreadyStaged
	}
	return outcome, err
}

func (n *node) scriptsInPlace(target hotfix.Version) (outcome string, err error) {
	switch status, err := n.tree().Status(target.String()); {
	case err != nil:
		return "", err
	case status == payload.Applied:
		return outcomeAlreadyApplied, nil
	case status == payload.RolledBack:
		return outcomeRolledBack, nil
	}
	return "", nil
}

func (n *node) bringProgram(ctx context.Context, from *fetch.Fetcher, pointer hotfix.Pointer, one *part,
	folder string) error {
	file, err := from.Program(ctx, pointer, one.target, folder)
	if err != nil {
		return err
	}
	*one.source = file.Source
	_, err = n.slot().Stage(ctx, slot.Candidate{
		Path: file.Path, Target: one.target, Source: file.Source, Time: n.clock.Now(),
	})
	return err
}

func (n *node) bringScripts(ctx context.Context, from *fetch.Fetcher, pointer hotfix.Pointer, one *part,
	folder string) error {
	file, err := from.Scripts(ctx, pointer, one.target, folder)
	if err != nil {
		return err
	}
	*one.source = file.Source
	files, err := payload.Read(ctx, file.Path, n.settings.allow)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return &badPayload{err}
	}
	return n.tree().Apply(ctx, payload.Release{
		Version: one.target.String(), Source: file.Source, Time: n.clock.Now(),
	}, files)
}
