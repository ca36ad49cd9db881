package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"salve/internal/report"
	"salve/internal/report/replay"
	"salve/journal"
)

// garbagePercent lets a folder of records have five times the memory that it holds: some 100 MiB.
const garbagePercent = 400

// replayFolder replays every incident file of a folder: the regression suite of the runbooks.
func (a *app) replayFolder(asked *replayFlags, arguments []string) error {
	settings, err := parseSettings(asked.set)
	switch {
	case err != nil:
		return err
	case len(arguments) > 0:
		return usage("--expect replays what is in its folder: leave %q out", arguments[0])
	}
	var items []replay.Item
	err = filepath.WalkDir(asked.expect, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && path != asked.expect && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir() || strings.HasPrefix(entry.Name(), "."):
			return nil
		}
		name, err := filepath.Rel(asked.expect, path)
		if err != nil {
			return err
		}
		items = append(items, replay.Item{
			Name: name, Read: func() (*journal.History, error) { return readIncident(path) },
			Options: func(history *journal.History) replay.Options { return a.replayOptions(history, settings) },
		})
		return nil
	})
	switch {
	case err != nil:
		return usage("--expect: %v", err)
	case len(items) == 0:
		return usage("--expect %s: no incident file there. hint: salve replay --record RUN FILE", asked.expect)
	}
	// Records are decoded and thrown away: with the default, collecting them takes half of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	return a.answerSuite(replay.RunSuite(items), asked.junit)
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
