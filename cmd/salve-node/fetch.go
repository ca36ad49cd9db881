package main

import (
	"context"
	"strings"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
	"salve/internal/hotfix/payload"
	"salve/internal/hotfix/slot"
)

// runFetch fetches what today's decision names, and prints the event.
func (n *node) runFetch() int {
	ctx := context.Background()
	limited, cancel := clock.WithTimeout(ctx, n.clock, n.settings.budget)
	defer cancel()
	e := n.event("fetch")
	n.recoverScripts(limited, &e)
	pointer, decision := n.decide(ctx)
	n.fetch(limited, pointer, decision, &e)
	n.record(e)
	n.answer(e)
	return n.strictly(e)
}

// strictly gives the exit code of fetch and check.
func (n *node) strictly(e event.Event) int {
	if n.settings.strict && e.Level != event.Information {
		return exitFailed
	}
	return exitDone
}

// recoverScripts finishes or takes back what a killed process left open of its scripts.
// The lock tells it from what another process is just doing.
func (n *node) recoverScripts(ctx context.Context, e *event.Event) {
	if !n.tree().Unfinished() {
		return
	}
	version, err := n.settleLocked(ctx)
	if err != nil {
		e.Level, e.Problem = event.Error, oneLine(err)
		n.warn("an unfinished change of scripts is still open: " + err.Error())
	} else if version != "" {
		n.warn("an unfinished change of scripts is settled, that of version " + version)
	}
}

func (n *node) settleLocked(ctx context.Context) (version string, err error) {
	release, err := n.slot().Lock(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return n.tree().Recover()
}

// fetch brings and stages until ctx ends, which is the budget's end, and writes
// what came of it into the event.
func (n *node) fetch(ctx context.Context, pointer hotfix.Pointer, decision hotfix.Decision, e *event.Event) {
	e.Outcome, e.Reason, e.Target, e.Decision = outcomeNothingToDo, string(decision.Reason), decision.Wanted(), &decision
	e.Level = worse(e.Level, levelOfDecision(decision))
	if !decision.Installs() {
		return
	}
	update := update{node: n, pointer: pointer, program: e, scripts: &event.Scripts{Outcome: outcomeNothingToDo}}
	if decision.Scripts.Target != nil {
		update.scripts.Target = *decision.Scripts.Target
		e.Scripts = update.scripts
	}
	if update.alreadyDone() {
		return
	}
	release, err := n.slot().Lock(ctx)
	if err != nil {
		update.failed(err)
		return
	}
	defer release()
	if err := n.slot().Tidy(); err != nil {
		n.warn("what an earlier fetch left is still there: " + err.Error())
	}
	update.fetchProgram(ctx)
	update.fetchScripts(ctx)
}

// update is one fetch: the program, the scripts, or both. Neither waits for the
// other's success.
type update struct {
	node    *node
	pointer hotfix.Pointer
	program *event.Event // its target is empty when no program is wanted
	scripts *event.Scripts
}

// alreadyDone tells whether all is in place, without taking the lock.
func (r *update) alreadyDone() bool {
	return r.programInPlace() && r.scriptsInPlace()
}

// programInPlace tells whether nothing is to be done about the program.
func (r *update) programInPlace() bool {
	if r.program.Target == "" {
		return true
	}
	target, err := hotfix.ParseVersion(r.program.Target)
	if err != nil {
		return r.programFailed(err)
	}
	staged, err := r.node.slot().Current(target)
	switch {
	case err != nil:
		return r.programFailed(err)
	case staged:
		r.program.Outcome = outcomeAlreadyStaged
	}
	return staged
}

// programFailed notes an error; it is always true, for nothing is left to do.
func (r *update) programFailed(err error) bool {
	r.program.Outcome, r.program.Problem = outcomeOf(err), oneLine(err)
	r.program.Level = worse(r.program.Level, levelOf(r.program.Outcome))
	return true
}

// scriptsInPlace tells whether nothing is to be done about the scripts.
func (r *update) scriptsInPlace() bool {
	if r.scripts.Target == "" {
		return true
	}
	status, err := r.node.tree().Status(r.scripts.Target)
	switch {
	case err != nil:
		return r.scriptsFailed(err)
	case status == payload.Applied:
		r.scripts.Outcome = outcomeAlreadyApplied
	case status == payload.RolledBack:
		r.scripts.Outcome = outcomeRolledBack
	}
	return status != payload.Absent
}

func (r *update) scriptsFailed(err error) bool {
	r.scripts.Outcome, r.scripts.Problem = outcomeOf(err), oneLine(err)
	r.program.Level = worse(r.program.Level, levelOf(r.scripts.Outcome))
	return true
}

// failed notes an error that concerns all that is wanted.
func (r *update) failed(err error) {
	if r.program.Target != "" {
		r.programFailed(err)
	}
	if r.scripts.Target != "" {
		r.scriptsFailed(err)
	}
}

func (r *update) fetchProgram(ctx context.Context) {
	if r.programInPlace() {
		return
	}
	began := r.node.clock.Now()
	if err := r.bringProgram(ctx); err != nil {
		r.programFailed(err)
	} else {
		r.program.Outcome = outcomeStaged
	}
	r.program.Measure("program", r.node.clock.Since(began))
}

func (r *update) bringProgram(ctx context.Context) error {
	target, err := hotfix.ParseVersion(r.program.Target)
	if err != nil {
		return err
	}
	folder, remove, err := r.node.slot().Scratch()
	if err != nil {
		return err
	}
	defer remove()
	file, err := r.node.fetcher().Program(ctx, r.pointer, target, folder)
	if err != nil {
		return err
	}
	r.program.Source = file.Source
	_, err = r.node.slot().Stage(ctx, slot.Candidate{
		Path: file.Path, Target: target, Source: file.Source, Time: r.node.clock.Now(),
	})
	return err
}

func (r *update) fetchScripts(ctx context.Context) {
	if r.scriptsInPlace() {
		return
	}
	began := r.node.clock.Now()
	if err := r.bringScripts(ctx); err != nil {
		r.scriptsFailed(err)
	} else {
		r.scripts.Outcome = outcomeApplied
	}
	r.program.Measure("scripts", r.node.clock.Since(began))
}

func (r *update) bringScripts(ctx context.Context) error {
	target, err := hotfix.ParseVersion(r.scripts.Target)
	if err != nil {
		return err
	}
	folder, remove, err := r.node.slot().Scratch()
	if err != nil {
		return err
	}
	defer remove()
	file, err := r.node.fetcher().Scripts(ctx, r.pointer, target, folder)
	if err != nil {
		return err
	}
	r.scripts.Source = file.Source
	files, err := payload.Read(ctx, file.Path, r.node.settings.allow)
	if err != nil {
		return &badPayload{err}
	}
	return r.node.tree().Apply(ctx, payload.Release{
		Version: r.scripts.Target, Source: file.Source, Time: r.node.clock.Now(),
	}, files)
}

// badPayload is a payload that is invalid.
type badPayload struct{ err error }

func (e *badPayload) Error() string { return e.err.Error() }
func (e *badPayload) Unwrap() error { return e.err }

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
