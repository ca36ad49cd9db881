package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"salve/internal/hotfix"
	"salve/internal/hotfix/prepublish"
	"salve/internal/hotfix/trust"
	"salve/internal/report"
)

// resolveRequest is what the user asked of salve hotfix resolve.
type resolveRequest struct {
	pointer, versions, before string
	nodes, current            string
	each                      bool
}

func newHotfixResolve(a *app) *cobra.Command {
	asked := &resolveRequest{}
	command := &cobra.Command{
		Use:   "resolve --pointer FILE (--versions FILE | --nodes FILE)",
		Short: "Say which nodes of a fleet get what by a pointer",
		Long: `Say which nodes get what by a pointer, decided as nodes decide. The versions are
those that nodes have now, one a line and node. With --diff OLD only what changes
from that pointer is shown: review a change by its effect.

Who is drawn for a canary is decided by the ID of the node. A file of --nodes has
that, and the version behind it, one node a line:

  kubectl get nodes -o jsonpath='{range .items[*]}{.status.nodeInfo.systemUUID}{"\n"}{end}' |
    salve hotfix resolve --pointer pointer.json --current 202604.01.0 --nodes -`,
		Example: `  # What each version gets, and what changes with the new pointer
  salve hotfix resolve --pointer pointer.json --diff old.json --versions fleet.txt
  # Which nodes a canary is for
  salve hotfix resolve --pointer pointer.json --nodes nodes.txt --each`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case asked.pointer == "" || asked.versions == "" && asked.nodes == "":
				return usage("--pointer and --versions are needed, or --nodes instead of the latter")
			case asked.versions != "" && asked.nodes != "":
				return usage("--versions and --nodes are two lists of one fleet: give one of them")
			case asked.nodes == "" && (asked.current != "" || asked.each):
				return usage("--current and --each belong to --nodes")
			case asked.each && asked.before != "":
				return usage("--each shows what each node gets, and not what changes: leave out --diff")
			}
			return a.resolveHotfixes(asked)
		},
	}
	flags := command.Flags()
	flags.StringVar(&asked.pointer, "pointer", "", "the pointer `FILE`")
	flags.StringVar(&asked.versions, "versions", "", "a `FILE` of versions, one a line; - reads them from the input")
	flags.StringVar(&asked.nodes, "nodes", "",
		"a `FILE` of nodes, one a line: the ID and the version; - reads them from the input")
	flags.StringVar(&asked.current, "current", "", "the `VERSION` of nodes that have none in the list")
	flags.BoolVar(&asked.each, "each", false, "show what each node gets, by its ID")
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
	// Canaries and Each are given where nodes are known by their IDs.
	Canaries []prepublish.Share     `json:"canaries,omitempty"`
	Each     []prepublish.Placement `json:"each,omitempty"`
}

func (a *app) resolveHotfixes(asked *resolveRequest) error {
	fleet, err := asked.fleet()
	if err != nil {
		return err
	}
	for _, file := range []string{asked.pointer, asked.before} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return usage("%v", err)
		}
		// What can't be read is what nodes can't read either, and has its reason.
		if raw, err := hotfix.ReadRegular(file, trust.MaxBundle); err == nil {
			if err := refuseSigned(file, raw); err != nil {
				return err
			}
		}
	}
	answer := resolved{Document: report.NewDocument("hotfix-resolution"), Nodes: fleet.Nodes()}
	rule := prepublish.RuleOf(asked.pointer)
	if pointer, err := hotfix.ReadPointer(asked.pointer); err == nil {
		answer.Canaries = prepublish.Shares(fleet, pointer)
	}
	if asked.each {
		answer.Each = prepublish.Place(fleet, rule)
	}
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
	if asked.each {
		return a.printEach(answer)
	}
	return a.printResolved(answer)
}

func (r *resolveRequest) fleet() (prepublish.Fleet, error) {
	name, path, read := "--versions", r.versions, prepublish.ReadFleet
	if r.nodes != "" {
		name, path = "--nodes", r.nodes
		read = func(in io.Reader) (prepublish.Fleet, error) { return prepublish.ReadNodes(in, r.current) }
	}
	fleet, err := readList(path, read)
	if err != nil {
		return prepublish.Fleet{}, usage("%s: %v", name, err)
	}
	return fleet, nil
}

func (a *app) printEach(answer resolved) error {
	rows := make([][]string, 0, len(answer.Each))
	for _, one := range answer.Each {
		rows = append(rows, []string{one.Node, clipped(one.Current), orDash(one.Target), orDash(one.Scripts),
			reasonOf(one.Effect)})
	}
	heading := []string{"NODE", "CURRENT", "PROGRAM", "SCRIPTS", "REASON"}
	if err := report.Table(a.stdout, a.width(), heading, rows); err != nil {
		return err
	}
	return a.printShares(answer, "\n"+report.Count(answer.Nodes, "node", "nodes"))
}

// printShares is the last line, and what canaries reach.
func (a *app) printShares(answer resolved, last string) error {
	fmt.Fprintf(a.stdout, "%s.\n", last)
	for _, share := range answer.Canaries {
		fmt.Fprintf(a.stdout, "The canary %s takes %s percent: %d of %s of base %s.\n", share.Target, share.Percent,
			share.Takes, report.Count(share.Nodes, "node", "nodes"), share.Base)
		if share.Unknown > 0 {
			fmt.Fprintf(a.stdout, "%s without an ID can't be drawn for it. hint: give --nodes instead of --versions\n",
				report.Count(share.Unknown, "node", "nodes"))
		}
	}
	return nil
}

func reasonOf(effect prepublish.Effect) string {
	switch {
	case effect.Canary:
		return string(effect.Reason) + " (canary)"
	case effect.Refused != "" && effect.Refused != effect.Reason:
		return string(effect.Reason) + " (canary: " + string(effect.Refused) + ")"
	}
	return string(effect.Reason)
}

func (a *app) printResolved(answer resolved) error {
	heading := []string{"BASE", "NODES", "VERSIONS", "SUCH AS", "PROGRAM", "SCRIPTS", "REASON"}
	var rows [][]string
	for _, group := range answer.Groups {
		rows = append(rows, []string{orDash(group.Base), strconv.Itoa(group.Nodes), strconv.Itoa(group.Versions),
			clipped(group.Example), orDash(group.Target), orDash(group.Scripts), reasonOf(group.Effect)})
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
	return a.printShares(answer, last)
}

func inWords(effect prepublish.Effect) string {
	words := string(effect.Reason)
	if effect.Target != "" {
		words = effect.Target
	}
	if effect.Canary {
		words += " (canary)"
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

func readList(path string, read func(io.Reader) (prepublish.Fleet, error)) (prepublish.Fleet, error) {
	var in io.Reader = os.Stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return prepublish.Fleet{}, err
		}
		defer file.Close()
		in = file
	}
	return read(in)
}
