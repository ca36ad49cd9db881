//go:build linux

package main

import (
	"context"
	"strconv"
	"strings"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/event"
)

// runFetch fetches what today's decision names, and prints the event.
func (n *node) runFetch() int {
	ctx := context.Background()
	limited, cancel := clock.WithTimeout(ctx, n.clock, n.settings.budget)
	defer cancel()
	e := n.event("fetch")
	n.recoverScripts(limited, &e)
	pointer, decision := n.decide(ctx)
	n.fetchNow(limited, pointer, decision, &e)
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

// fetch brings and stages until ctx ends, which is the budget's end, and writes what
// came of it into the event. What has failed before is put off.
func (n *node) fetch(ctx context.Context, pointer hotfix.Pointer, decision hotfix.Decision, e *event.Event) {
	n.update(ctx, pointer, decision, &update{node: n, event: e, waits: true})
}

// fetchNow is fetch for somebody who waits for it: nothing is put off.
func (n *node) fetchNow(ctx context.Context, pointer hotfix.Pointer, decision hotfix.Decision, e *event.Event) {
	n.update(ctx, pointer, decision, &update{node: n, event: e})
}

func (n *node) update(ctx context.Context, pointer hotfix.Pointer, decision hotfix.Decision, u *update) {
	e := u.event
	e.Outcome, e.Reason, e.Target, e.Decision = outcomeNothingToDo, string(decision.Reason), decision.Wanted(), &decision
	e.Level = worse(e.Level, levelOfDecision(decision))
	u.plan(pointer, decision)
	if u.settled() {
		n.clearLeftovers()
		return
	}
	release, err := n.slot().Lock(ctx)
	if err != nil {
		u.failed(err)
		return
	}
	defer release()
	if err := n.slot().Tidy(); err != nil {
		n.warn("what an earlier fetch left is still there: " + err.Error())
	}
	for _, one := range u.parts {
		u.bring(ctx, one)
	}
}

// clearLeftovers removes what a killed fetch has left, unless another one is at it.
func (n *node) clearLeftovers() {
	if !n.slot().Leftover() {
		return
	}
	release, locked, err := n.slot().TryLock()
	if err == nil && locked {
		defer release()
		err = n.slot().Tidy()
	}
	if err != nil {
		n.warn("what an earlier fetch left is still there: " + err.Error())
	}
}

// badPayload is a payload that is invalid.
type badPayload struct{ err error }

func (e *badPayload) Error() string { return e.err.Error() }
func (e *badPayload) Unwrap() error { return e.err }

func oneLine(err error) string { return plain(err.Error()) }

// plain is a text on one line, and nothing that a terminal would obey: a server or a package manager may have said it.
func plain(text string) string {
	return strings.Map(func(character rune) rune {
		if !strconv.IsPrint(character) {
			return '\uFFFD'
		}
		return character
	}, strings.Join(strings.Fields(text), " "))
}
