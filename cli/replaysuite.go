package cli

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"salve/internal/report"
	"salve/internal/report/replay"
)

// garbagePercent lets a folder of records have five times the memory that it holds: some 100 MiB.
const garbagePercent = 400

// replayFolder replays every incident file, record of a triage and journal of a folder: the regression suite of
// runbooks and triage.
func (a *app) replayFolder(ctx context.Context, asked *replayFlags, arguments []string) error {
	settings, err := parseSettings(asked.set)
	switch {
	case err != nil:
		return err
	case len(arguments) > 0:
		return usage("--expect replays what is in its folder: leave %q out", arguments[0])
	}
	folder := &recordFolder{app: a, root: asked.expect, settings: settings}
	err = folder.read(ctx)
	switch {
	case err != nil:
		return usage("--expect: %v", err)
	case len(folder.items) == 0:
		return usage("--expect %s: no incident file, triage record or journal there%s. hint: salve replay --record RUN "+
			"FILE, or salve triage PATH --evidence FILE, or a folder with runs/RUN/journal.jsonl", asked.expect,
			inBrackets(report.PassedOver(folder.passedOver)))
	}
	// Records are decoded and thrown away: with the default, collecting them takes half of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	suite := replay.RunSuite(folder.items)
	suite.PassedOver = folder.passedOver
	return a.answerSuite(suite, asked.junit)
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// answerSuite prints what a suite came to, and writes it as JUnit.
func (a *app) answerSuite(suite *replay.Suite, junit string) error {
	if suite.Failed() > 0 {
		a.exit = exitFailed
	}
	if junit != "" {
		if err := writeWhole(junit, func(file *os.File) error { return suite.JUnit(file) }); err != nil {
			return fmt.Errorf("writing %s: %w", junit, err)
		}
	}
	if a.json() {
		return a.document(report.Replays{Document: report.NewDocument("replay"), Suite: *suite})
	}
	return report.ReplaySuite(a.stdout, a.width(), suite)
}
