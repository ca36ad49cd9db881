package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"salve/internal/report"
	"salve/internal/report/replay"
)

// replayFolder replays every incident file of a folder: the regression suite of the runbooks.
func (a *app) replayFolder(asked *replayFlags, arguments []string) error {
	settings, err := parseSettings(asked.set)
	switch {
	case err != nil:
		return err
	case len(arguments) > 0:
		return usage("--expect replays what is in its folder: leave %q out", arguments[0])
	}
	suite := &replay.Suite{}
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
		history, err := readIncident(path)
		if err != nil {
			suite.Fail(name, err)
			return nil
		}
		suite.Add(name, history, a.replayOptions(history, settings))
		return nil
	})
	switch {
	case err != nil:
		return usage("--expect: %v", err)
	case len(suite.Cases) == 0:
		return usage("--expect %s: no incident file there. hint: salve replay --record RUN FILE", asked.expect)
	}
	return a.answerSuite(suite, asked.junit)
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
