package cli

import (
	"slices"
	"strings"

	"salve/engine"
	"salve/internal/report"
)

// next are the commands that may follow a result. A rehearsal's world ends with
// the process: its runs can be read, and not be resumed.
func (e *invocation) next(result engine.Result) report.Next {
	next := report.Next{}
	if result.Unrecorded {
		return report.Next{Explain: e.typed("runs show", result.Run)}
	}
	if result.Run != "" {
		next.Explain = e.typed("explain", result.Run)
	}
	if e.scenario != "" {
		if e.verb != act {
			next.Act = e.app.actCommand()
		}
		return next
	}
	if result.Run != "" {
		next.Resume = e.typed("resume", result.Run)
	}
	next.Act = e.app.actCommand()
	if e.planFile != "" {
		next.Act = e.app.boundCommand(e.planFile)
	}
	return next
}

// boundCommand is actCommand for a command that wrote a plan: it executes that.
func (a *app) boundCommand(planFile string) string {
	var words []string
	given := a.actWords()
	for i := 0; i < len(given); i++ {
		name, value, joined := strings.Cut(given[i], "=")
		switch {
		case name == "--output" || name == "-o" || name == "--plan":
			if !joined && i+1 < len(given) {
				i++
				value = given[i]
			}
			if name != "--plan" && value == planFile {
				words = append(words, "--plan", planFile)
			}
		case given[i] == "-o"+planFile:
			words = append(words, "--plan", planFile)
		default:
			words = append(words, given[i])
		}
	}
	return shell(words)
}

// typed is a command about a run, with the flags that lead back to its journal
// and, for resume, to its cloud.
func (e *invocation) typed(command, run string) string {
	words := append(append([]string{"salve"}, strings.Fields(command)...), run)
	return shell(append(words, e.wayBack(command, nil)...))
}

// approving is the command that approves a plan.
func (s *journalFlags) approving(run, digest string) []string {
	return append([]string{"salve", "approve", run, "--plan", digest}, s.wayBack("approve", nil)...)
}

// typed are the flags that lead to the same cloud again.
func (c *cloudFlags) typed() []string {
	var words []string
	for _, flag := range []struct{ name, value, otherwise string }{
		{"cloud", c.name, "public"}, {"arm-endpoint", c.endpoint, ""}, {"arm-audience", c.audience, ""},
		{"authority-host", c.authority, ""}, {"arm-ca", c.ca, ""}, {"kubeconfig", c.kubeconfig, ""},
		{"context", c.context, ""},
	} {
		if flag.value != flag.otherwise && flag.value != "" {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	return words
}

// actCommand is the command that was typed, made to act where it only looked.
func (a *app) actCommand() string { return shell(a.actWords()) }

func (a *app) actWords() []string {
	words := slices.Clone(a.arguments)
	for i, word := range words {
		if word == string(plan) || word == string(check) {
			words[i] = string(act)
			break
		}
	}
	words = slices.DeleteFunc(words, func(word string) bool {
		return word == "--dry-run" || strings.HasPrefix(word, "--dry-run=")
	})
	if dry, err := parseBool(a.lookup, "DRY_RUN"); err == nil && dry {
		words = append(words, "--dry-run=false")
	}
	return append([]string{"salve"}, words...)
}

// shell writes words so that a shell reads them as they are.
func shell(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\$&|;<>()*?[]{}~#!`") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted = append(quoted, word)
	}
	return strings.Join(quoted, " ")
}
