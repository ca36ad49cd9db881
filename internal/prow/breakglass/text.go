package breakglass

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Text writes a plan for people. Whatever manifests say is printed without what steers a terminal.
func (p Plan) Text(out io.Writer) error {
	w := &writer{}
	w.line("PREPARED, NOT EXECUTED. Apply %s, commit %s, by hand:", p.Revision, p.Commit)
	if p.Protector != "" {
		w.line("")
		w.line("!!! branchprotector: %s", p.Protector)
	}
	if len(p.Missing) > 0 {
		w.line("")
		w.line("!!! THIS PLAN IS NOT WHOLE. The revision has more, which nothing below applies:")
		for _, item := range p.Missing {
			w.line("  - %s", item)
		}
	}
	w.list("Cannot be told", p.Unknown)
	for _, job := range p.Jobs {
		w.list(fmt.Sprintf("Job %s (%s) deploys what it needs itself", job.Name, job.At), job.Needs)
	}
	for _, merge := range p.Merge {
		w.list(fmt.Sprintf("Who may merge into %s (%s)", merge.Branch, merge.At), merge.Says)
	}
	w.resources(p.Stages)
	w.reverts(p)
	stays := "Stays, for the revision does not have it, and apply removes nothing"
	if len(p.Missing) > 0 {
		stays = "Stays, for what was read of the revision does not have it, and apply removes nothing"
	}
	w.list(stays, p.Kept)
	for _, way := range p.Stated {
		said := way.Lacks
		if len(said) == 0 {
			said = []string{"proven"}
		}
		w.list(fmt.Sprintf("Break-glass file: %s (%s)", way.Name, way.At), said)
	}
	w.line("")
	w.line("Commands%s:", by(p.Way))
	why := ""
	for _, command := range p.Commands {
		if command.Why != why {
			why = command.Why
			w.line("  # %s", why)
		}
		if command.Optional {
			w.line("  # %s", command.Text)
			continue
		}
		w.line("  %s", command.Text)
	}
	_, err := io.WriteString(out, w.String())
	return err
}

func by(way string) string {
	if way == "" {
		return ""
	}
	return " of " + way
}

type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) {
	w.WriteString(printable(fmt.Sprintf(format, args...)) + "\n")
}

func (w *writer) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	w.line("")
	w.line("%s:", title)
	for _, item := range items {
		w.line("  - %s", item)
	}
}

func (w *writer) resources(stages []Stage) {
	for i, stage := range stages {
		w.line("")
		w.line("%d. %s", i+1, stage.Name)
		for _, file := range stage.Files {
			if file.Incomplete != "" {
				w.line("  %s (not understood whole: no command)", file.Path)
			} else {
				w.line("  %s", file.Path)
			}
			for _, resource := range file.Resources {
				w.line("    %-7s %s", resource.Change, resource.id())
			}
		}
	}
}

func (w *writer) reverts(p Plan) {
	var said []string
	for _, r := range p.Reverts {
		line := fmt.Sprintf("%s (%s): %s → %s", r.Component, r.Workload, orNone(r.Now), orNone(r.Then))
		if len(r.Besides) > 0 {
			line += "; " + strings.Join(r.Besides, "; ")
		}
		said = append(said, line)
	}
	w.list("What it reverts: components", said)
	w.list("What it reverts besides", p.Objects)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// printable leaves out what steers a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}
