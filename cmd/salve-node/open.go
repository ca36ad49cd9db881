//go:build linux

package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/pflag"

	"salve/internal/hotfix/event"
)

// openly runs a command that fails open. A panic in it is an event, not the end of
// a boot.
func (n *node) openly(chosen command, flags *pflag.FlagSet) (code int) {
	ended := n.safely(chosen.name, func() {
		if n.understand(chosen, flags) {
			code = chosen.run(n)
		}
	})
	if !ended {
		return chosen.instead(n)
	}
	return code
}

// understand takes what it can from the environment and the arguments; false means
// that help was all that was asked for. Of launch with a program it never is.
func (n *node) understand(chosen command, flags *pflag.FlagSet) bool {
	own := n.arguments[1:]
	if chosen.name == "launch" {
		own, n.program = split(own)
	}
	help, warnings := parseLeniently(flags, own)
	if help && n.program == nil {
		n.help(n.stdout)
		return false
	}
	warnings = append(warnings, fromEnvironment(flags, n.lookup)...)
	warnings = append(warnings, n.settings.correct()...)
	if chosen.name != "prepare" { // launch, whose flags it gets, has said so
		n.warn(warnings...)
	}
	return true
}

// safely runs a part of a command, and tells whether it came to its end.
func (n *node) safely(command string, part func()) (ended bool) {
	defer func() {
		if problem := recover(); problem != nil {
			e := n.event(command)
			e.Level, e.Outcome, e.Problem = event.Error, outcomePanic, fmt.Sprintf("%v\n%s", problem, debug.Stack())
			n.warn(fmt.Sprintf("%s: a mistake in salve-node itself: %v", command, problem))
			n.record(e)
		}
	}()
	part()
	return true
}

func (n *node) doNothing() int { return exitDone }

func (n *node) printBaked() int {
	fmt.Fprintln(n.stdout, n.settings.baked)
	return exitDone
}
