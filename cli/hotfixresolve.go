package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"salve/internal/hotfix/prepublish"
	"salve/internal/report"
)

// resolveRequest is what the user asked of salve hotfix resolve.
type resolveRequest struct{ pointer, versions, before string }

func newHotfixResolve(a *app) *cobra.Command {
	asked := &resolveRequest{}
	command := &cobra.Command{
		Use:   "resolve --pointer FILE --versions FILE",
		Short: "Say which nodes of a fleet get what by a pointer",
		Long: `Say which nodes get what by a pointer, decided as nodes decide. The versions are
those that nodes have now, one a line and node. With --diff OLD only what changes
from that pointer is shown: review a change by its effect.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asked.pointer == "" || asked.versions == "" {
				return usage("--pointer and --versions are needed")
			}
			return a.resolveHotfixes(asked)
		},
	}
	flags := command.Flags()
	flags.StringVar(&asked.pointer, "pointer", "", "the pointer `FILE`")
	flags.StringVar(&asked.versions, "versions", "", "a `FILE` of versions, one a line; - reads them from the input")
	flags.StringVar(&asked.before, "diff", "", "the pointer `FILE` before the change")
	return command
}

// resolved is the document of salve hotfix resolve.
type resolved struct {
	report.Document
	Nodes   int                 `json:"nodes"`
	Groups  []prepublish.Group  `json:"groups,omitempty"`
	Changed *int                `json:"changedNodes,omitempty"`
	Changes []prepublish.Change `json:"changes,omitempty"`
}

func (a *app) resolveHotfixes(asked *resolveRequest) error {
	fleet, err := readFleet(asked.versions)
	if err != nil {
		return usage("--versions: %v", err)
	}
	for _, file := range []string{asked.pointer, asked.before} {
		if _, err := os.Stat(file); file != "" && err != nil {
			return usage("%v", err)
		}
	}
	answer := resolved{Document: report.NewDocument("hotfix-resolution"), Nodes: fleet.Nodes()}
	rule := prepublish.RuleOf(asked.pointer)
	if asked.before == "" {
		answer.Groups = prepublish.Resolve(fleet, rule)
	} else {
		answer.Changes = prepublish.Differ(fleet, prepublish.RuleOf(asked.before), rule)
		changed := 0
		for _, change := range answer.Changes {
			changed += change.Nodes
		}
		answer.Changed = &changed
	}
	if a.json() {
		return a.document(answer)
	}
	return a.printResolved(answer)
}

func (a *app) printResolved(answer resolved) error {
	heading := []string{"BASE", "NODES", "VERSIONS", "SUCH AS", "PROGRAM", "SCRIPTS", "REASON"}
	var rows [][]string
	for _, group := range answer.Groups {
		rows = append(rows, []string{orDash(group.Base), strconv.Itoa(group.Nodes), strconv.Itoa(group.Versions),
			clipped(group.Example), orDash(group.Target), orDash(group.Scripts), string(group.Reason)})
	}
	last := report.Count(answer.Nodes, "node", "nodes")
	if answer.Changed != nil {
		heading = []string{"BASE", "NODES", "VERSIONS", "SUCH AS", "BEFORE", "AFTER"}
		for _, change := range answer.Changes {
			rows = append(rows, []string{orDash(change.Base), strconv.Itoa(change.Nodes), strconv.Itoa(change.Versions),
				clipped(change.Example), inWords(change.Before), inWords(change.After)})
		}
		last = fmt.Sprintf("Something changes for %d of %s", *answer.Changed, last)
	}
	if len(rows) > 0 {
		if err := report.Table(a.stdout, a.width(), heading, rows); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout)
	}
	_, err := fmt.Fprintf(a.stdout, "%s.\n", last)
	return err
}

func inWords(effect prepublish.Effect) string {
	words := string(effect.Reason)
	if effect.Target != "" {
		words = effect.Target
	}
	if effect.Scripts != "" {
		words += ", scripts " + effect.Scripts
	}
	return words
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// clipped shows a version that came from outside and may be none.
func clipped(text string) string {
	const enough = 40
	if len(text) > enough {
		return strconv.Quote(text[:enough]) + "…"
	}
	return text
}

func readFleet(path string) (prepublish.Fleet, error) {
	var in io.Reader = os.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return prepublish.Fleet{}, err
		}
		defer file.Close()
		in = file
	}
	return prepublish.ReadFleet(in)
}
