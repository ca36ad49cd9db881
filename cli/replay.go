package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"salve/internal/pipeline/entrypoint"
	"salve/internal/pipeline/rollout"
	"salve/internal/report"
	"salve/internal/report/replay"
	"salve/journal"
	"salve/kube"
	"salve/runbook"
	"salve/runbooks/armdeployment"
	"salve/runbooks/deploymentstack"
	"salve/runbooks/helmrelease"
	"salve/runbooks/mirrorimage"
	"salve/runbooks/registerproviders"
)

// replayFlags are what is asked of a replay.
type replayFlags struct {
	journalFlags
	set    []string
	expect string
	junit  string
	record bool
}

func newReplay(a *app) *cobra.Command {
	asked := &replayFlags{journalFlags: journalFlags{role: kube.Reader}}
	command := &cobra.Command{
		Use:   "replay RUN|FILE...",
		Short: "Make the decisions of past runs and the verdicts of past triages again",
		Long: `Make every decision of a run again from what its journal holds, guard by guard, with the
runbook as it is now. Nothing is asked of any cluster or cloud. The answer is: the same; or the
first decision that comes out different, with the guard and the input that make the difference.
What the record lacks is said, and never taken for a default. A program that recorded the run
itself must decide as it did, byte for byte; otherwise the replay is void.

Of a triage, FILE is what salve triage --evidence wrote: each verdict is made again from it, with
the thresholds of this program, or others (--set).

Exit codes: 0 the same; 1 a decision or verdict diverges; 3 the record lacks what one takes; 4 void.`,
		Example: `  # Would today's guards decide as they did?
  salve replay 20261122-021300-4f1a2b
  # And with another threshold?
  salve replay 20261122-021300-4f1a2b --set failureThreshold=5
  # Write an incident file, for the ticket and for the tests of the runbook
  salve replay --record 20261122-021300-4f1a2b wedged.incident.gz
  # Replay each file and each journal of a folder
  salve replay --expect testdata/incidents --junit replay.xml
  # Would the verdicts of a triage be others with another threshold?
  salve replay rollout.triage.gz --set risk-ratio=3`,
		RunE: func(command *cobra.Command, arguments []string) error {
			switch {
			case asked.record:
				return a.recordIncident(command, asked, arguments)
			case asked.expect != "":
				return a.replayFolder(command.Context(), asked, arguments)
			case asked.junit != "":
				return usage("--junit is for --expect")
			case len(arguments) == 0:
				return usage("requires a run or an incident file. hint: salve runs list")
			}
			return a.replayAll(command, asked, arguments)
		},
	}
	asked.addFlags(command.Flags())
	command.Flags().StringArrayVar(&asked.set, "set", nil,
		"`INPUT=VALUE`: ask what the guards would say with another input, such as failureThreshold=5, or what a triage "+
			"would with another threshold (repeatable)")
	command.Flags().StringVar(&asked.expect, "expect", "",
		"replay every incident file, triage record and journal in this `DIR` and below; each must decide as recorded")
	command.Flags().StringVar(&asked.junit, "junit", "", "write the results of --expect to this `FILE` as JUnit")
	command.Flags().BoolVar(&asked.record, "record", false,
		"write the run RUN to the incident file FILE, compressed when its name ends in .gz")
	return command
}

// replayAll replays runs and files.
func (a *app) replayAll(command *cobra.Command, asked *replayFlags, arguments []string) error {
	settings, err := parseSettings(asked.set)
	if err != nil {
		return err
	}
	var all report.Replays
	all.Document = report.NewDocument("replay")
	for i, argument := range arguments {
		one, err := a.replayOne(command, asked, argument, settings)
		if err != nil {
			return err
		}
		all.Cases = append(all.Cases, one)
		a.exit = max(a.exit, exitOfReplay(one.Verdict()))
		if a.json() {
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		if one.Triage != nil {
			err = report.TriageReplayed(a.stdout, a.width(), *one.Triage)
		} else {
			err = report.Replayed(a.stdout, a.width(), one.Result)
		}
		if err != nil {
			return err
		}
	}
	if a.json() {
		return a.document(all)
	}
	return nil
}

// replayOne replays a run of the journal, an incident file, or the record of a triage.
func (a *app) replayOne(
	command *cobra.Command, asked *replayFlags, argument string, settings []replay.Setting,
) (replay.Case, error) {
	one := replay.Case{Name: argument}
	var history *journal.History
	var unseen string
	var err error
	if info, err := os.Stat(argument); err == nil && info.IsDir() {
		return one, usage("%s is a folder. hint: salve replay --expect %s", argument, shell([]string{argument}))
	}
	if isFile(argument) {
		raw, err := readRegular(argument, journal.MaxIncident)
		if err != nil {
			return one, usage("%v", err)
		}
		if isTriage(raw) {
			result, err := replayTriage(argument, raw, settings)
			one.Triage = &result
			return one, err
		}
		if history, err = incidentOf(argument, raw); err != nil {
			return one, err
		}
	} else if history, unseen, err = a.recordedRun(command, asked, argument); err != nil {
		return one, err
	}
	options := a.replayOptions(history, settings)
	if unseen != "" {
		options.Remarks = []string{unseen}
	}
	if one.Result, err = replay.Run(history, options); err != nil {
		return one, usage("%v", err)
	}
	return one, nil
}

func parseSettings(texts []string) ([]replay.Setting, error) {
	var settings []replay.Setting
	for _, text := range texts {
		setting, err := replay.ParseSetting(text)
		if err != nil {
			return nil, usage("--set: %v", err)
		}
		settings = append(settings, setting)
	}
	return settings, nil
}

func exitOfReplay(verdict replay.Verdict) int {
	switch verdict {
	case replay.Same:
		return exitDecided
	case replay.Diverged:
		return exitFailed
	case replay.Unreplayable:
		return exitUndecided
	default:
		return exitNeedsAttention
	}
}

// replayOptions say how the runbook of a record is made again.
func (a *app) replayOptions(history *journal.History, settings []replay.Setting) replay.Options {
	return replay.Options{
		Program: builtFrom().String(), Set: settings,
		Make: func(inputs json.RawMessage) (runbook.Runbook, error) { return a.replayedBook(history, inputs) },
	}
}

// replayedBook makes the runbook of a record, for its decisions alone.
func (a *app) replayedBook(history *journal.History, inputs json.RawMessage) (runbook.Runbook, error) {
	header := history.Header
	switch header.Runbook {
	case rollout.Name:
		return rollout.Replayed(history, inputs, programsFit(nil))
	case entrypoint.Name:
		return entrypoint.Replayed(history, inputs)
	case armdeployment.Name:
		header.Inputs = inputs
		in, err := inputsOf[armdeployment.Inputs](header)
		if err != nil {
			return runbook.Runbook{}, err
		}
		return armdeployment.Replayed(in, header.Target)
	case deploymentstack.Name:
		header.Inputs = inputs
		in, err := inputsOf[deploymentstack.Inputs](header)
		if err != nil {
			return runbook.Runbook{}, err
		}
		return deploymentstack.Replayed(in, header.Target)
	case registerproviders.Name:
		header.Inputs = inputs
		in, err := inputsOf[registerproviders.Inputs](header)
		if err != nil {
			return runbook.Runbook{}, err
		}
		return registerproviders.Replayed(in, header.Target)
	case mirrorimage.Name:
		header.Inputs = inputs
		in, err := inputsOf[mirrorimage.Inputs](header)
		if err != nil {
			return runbook.Runbook{}, err
		}
		return mirrorimage.Replayed(in, header.Target)
	case helmrelease.Name:
		header.Inputs = inputs
		in, err := inputsOf[helmrelease.Inputs](header)
		if err != nil {
			return runbook.Runbook{}, err
		}
		return helmrelease.Replayed(in, header.Target)
	}
	for _, definition := range a.entries() {
		if definition.name() == header.Runbook {
			return definition.replayed(header, inputs)
		}
	}
	return runbook.Runbook{}, fmt.Errorf("run %q is of runbook %q, which this program does not have; "+
		"replay it with the program that has it", header.Run, header.Runbook)
}

// recordedRun reads a run of the journal, whole.
func (a *app) recordedRun(
	command *cobra.Command, asked *replayFlags, run string,
) (history *journal.History, unseen string, err error) {
	kept, err := a.locate(command, &asked.journalFlags, run)
	if err != nil {
		return nil, "", err
	}
	return wholeHistory(command.Context(), kept, run)
}

// isFile tells whether an argument is a file and not a run: no run's name has an ending or a separator.
func isFile(argument string) bool {
	if strings.ContainsAny(argument, `/\.`) {
		return true
	}
	info, err := os.Stat(argument)
	return err == nil && info.Mode().IsRegular()
}

func incidentOf(path string, raw []byte) (*journal.History, error) {
	history, err := journal.ReadIncident(raw)
	if err != nil {
		return nil, &attentionError{fmt.Errorf("%s: %w", path, err)}
	}
	return history, nil
}

// readRegular reads a regular file of at most limit bytes: a pipe or a device might never end.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return readBounded(path, limit)
}

// recordIncident writes a run to an incident file.
func (a *app) recordIncident(command *cobra.Command, asked *replayFlags, arguments []string) error {
	switch {
	case len(arguments) != 2:
		return usage("--record requires a run and a file: salve replay --record RUN FILE")
	case asked.expect != "" || asked.junit != "" || len(asked.set) > 0:
		return usage("--record writes a file and replays nothing: leave --set, --expect and --junit out")
	}
	run, path := arguments[0], arguments[1]
	kept, record, err := a.load(command, &asked.journalFlags, run)
	if err != nil {
		return err
	}
	raw, err := journal.Incident(command.Context(), kept, run)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, ".gz") {
		if raw, err = journal.PackIncident(raw); err != nil {
			return err
		}
	}
	err = writeWhole(path, func(file *os.File) error {
		_, err := file.Write(raw)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	fmt.Fprintf(a.stderr, "%s: %s of run %s in %d bytes. hint: salve replay %s\n", path,
		report.Count(len(record.Entries), "entry", "entries"), run, len(raw), shell([]string{path}))
	return nil
}
