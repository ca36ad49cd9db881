package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/clock"
	"salve/internal/console"
	"salve/internal/hotfix"
	"salve/internal/hotfix/fleetstatus"
	"salve/internal/report"
)

// statusRequest is what the user asked of salve hotfix status.
type statusRequest struct{ target, since string }

func newHotfixStatus(a *app) *cobra.Command {
	asked := &statusRequest{}
	command := &cobra.Command{
		Use:   "status DIR…",
		Short: "Say what a hotfix came to on many nodes, from their events",
		Long: `Say what a hotfix came to, from the events of nodes that were collected: how many run
it, how many fell back and why, which have problems. DIR has a folder for each node, by
its name, with the node's events or its state folder (/var/lib/salve-node) in it; or it
is a single node's state folder.

Each node counts by its last boot; its problems are those of all boots about the same
version. --target and --since leave out others.

Exit codes: 0 nothing stops the rollout, 1 something does, 2 wrong usage, 3 nothing that
was seen does, and some nodes could not be seen.`,
		Example: `  # What a version came to on the nodes whose events were collected
  salve hotfix status collected --target 202604.01.3 --since 24h`,
		Args: cobra.MatchAll(func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usage("%s takes the folders that events were collected in", command.CommandPath())
			}
			return nil
		}),
		RunE: func(command *cobra.Command, arguments []string) error {
			return a.hotfixStatus(command.Context(), arguments, asked)
		},
	}
	flags := command.Flags()
	flags.StringVar(&asked.target, "target", "", "look at boots about this `VERSION` alone")
	flags.StringVar(&asked.since, "since", "",
		"look at boots since this `TIME` alone: 2027-04-01T12:00:00Z, or 24h ago")
	return command
}

// hotfixStatus is the document of salve hotfix status.
type hotfixStatus struct {
	report.Document
	fleetstatus.Status
	// Stops: something stops the rollout.
	Stops bool `json:"stops"`
}

func (r *statusRequest) asked(now time.Time) (fleetstatus.Asked, error) {
	asked := fleetstatus.Asked{Target: r.target, Now: now}
	if r.target != "" {
		version, err := hotfix.ParseVersion(r.target)
		if err != nil {
			return fleetstatus.Asked{}, usage("--target: %v", err)
		}
		asked.Target = version.String()
	}
	if r.since == "" {
		return asked, nil
	}
	ago, notAgo := time.ParseDuration(r.since)
	at, notAt := time.Parse(time.RFC3339, r.since)
	switch {
	case notAgo == nil && ago > 0:
		asked.Since = now.Add(-ago)
	case notAt == nil:
		asked.Since = at
	default:
		return fleetstatus.Asked{}, usage(
			"--since: %.40q is neither a time such as 2027-04-01T12:00:00Z nor a duration such as 24h", r.since)
	}
	return asked, nil
}

func (a *app) hotfixStatus(ctx context.Context, dirs []string, request *statusRequest) error {
	asked, err := request.asked(clock.Real{}.Now())
	if err != nil {
		return err
	}
	status, err := fleetstatus.Read(ctx, dirs, asked)
	if err != nil {
		return usage("%v", err)
	}
	answer := hotfixStatus{report.NewDocument("hotfix-status"), status, len(status.Problems) > 0}
	if a.json() {
		err = a.document(answer)
	} else {
		err = a.printStatus(status)
	}
	if err != nil {
		return err
	}
	return verdictOfRollout(status)
}

// verdictOfRollout says whether a rollout may go on.
func verdictOfRollout(status fleetstatus.Status) error {
	troubled := map[string]bool{}
	for _, problem := range status.Problems {
		troubled[problem.Node] = true
	}
	switch unread := status.Files.Unread; {
	case len(troubled) > 0:
		return fmt.Errorf(
			"%s of %d has problems that stop the rollout. hint: salve-node status on that node shows its events",
			report.Count(len(troubled), "node", "nodes"), status.Nodes)
	case status.Nodes == 0:
		return &unseenError{fmt.Errorf("no node was found: a folder for each is expected, with its events in it")}
	case len(status.Unseen) > 0:
		return &unseenError{fmt.Errorf("of %s no boot was seen", report.Count(len(status.Unseen), "node", "nodes"))}
	case unread > 0:
		return &unseenError{fmt.Errorf("%s can't be read", report.Count(unread, "file", "files"))}
	}
	return nil
}

func (a *app) printStatus(status fleetstatus.Status) error {
	if err := a.printGroups(status.Groups); err != nil {
		return err
	}
	if err := a.printProblems(status.Problems); err != nil {
		return err
	}
	const most = 20
	if unseen := status.Unseen; len(unseen) > 0 {
		shown := plain(strings.Join(unseen[:min(len(unseen), most)], ", "))
		if more := len(unseen) - most; more > 0 {
			shown += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(a.stdout, "No boot was seen of %s.\n", shown)
	}
	files := status.Files
	fmt.Fprintf(a.stdout, "%s, %s.\n", report.Count(status.Nodes, "node", "nodes"),
		report.Count(files.Events, "event", "events"))
	if files.Torn+files.Foreign+files.Unread == 0 {
		return nil
	}
	fmt.Fprintf(a.stdout, "Left out: %d torn, %d foreign, %d that can't be read.\n", files.Torn, files.Foreign,
		files.Unread)
	for _, file := range files.Named[:min(len(files.Named), most)] {
		fmt.Fprintf(a.stdout, "  %s: %s\n", plain(file.Path), plain(file.Problem))
	}
	return nil
}

func (a *app) printGroups(groups []fleetstatus.Group) error {
	if len(groups) == 0 {
		return nil
	}
	states := slices.DeleteFunc(fleetstatus.States(), func(state fleetstatus.State) bool {
		return !slices.ContainsFunc(groups, func(one fleetstatus.Group) bool { return one.States[state] > 0 })
	})
	heading := []string{"BASE", "TARGET", "NODES"}
	for _, state := range states {
		heading = append(heading, strings.ToUpper(string(state)))
	}
	var rows, causes [][]string
	for _, group := range groups {
		row := []string{orDash(group.Base), orDash(plain(group.Target)), strconv.Itoa(group.Nodes)}
		for _, state := range states {
			row = append(row, strconv.Itoa(group.States[state]))
		}
		rows = append(rows, row)
		for _, cause := range group.Causes {
			causes = append(causes, []string{orDash(plain(group.Target)), orDash(string(cause.State)), strconv.Itoa(cause.Nodes),
				plain(cause.Says)})
		}
	}
	if err := report.Table(a.stdout, a.width(), heading, rows); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	if len(causes) == 0 {
		return nil
	}
	if err := report.Table(a.stdout, a.width(), []string{"TARGET", "STATE", "NODES", "BECAUSE"}, causes); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	return nil
}

func (a *app) printProblems(problems []fleetstatus.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	rows := make([][]string, 0, len(problems))
	for _, one := range problems {
		rows = append(rows, []string{plain(one.Node), orDash(plain(one.Target)), one.Problem, strconv.Itoa(one.Times),
			one.Time.UTC().Format(time.RFC3339), orDash(plain(one.Says))})
	}
	heading := []string{"NODE", "TARGET", "PROBLEM", "TIMES", "LAST", "SAYS"}
	if err := report.Table(a.stdout, a.width(), heading, rows); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	return nil
}

// plain is a text that came from a node, on one line, and nothing that a terminal would obey.
func plain(text string) string {
	return console.Visible(strings.Join(strings.Fields(text), " "))
}
