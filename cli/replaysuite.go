package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"salve/internal/report"
	"salve/internal/report/replay"
	"salve/internal/triage/record"
	triage "salve/internal/triage/replay"
	"salve/journal"
)

// garbagePercent lets a folder of records have five times the memory that it holds: some 100 MiB.
const garbagePercent = 400

// replayFolder replays every incident file and triage record of a folder: the regression suite of runbooks and triage.
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
		items = append(items, a.replayItem(name, path, settings))
		return nil
	})
	switch {
	case err != nil:
		return usage("--expect: %v", err)
	case len(items) == 0:
		return usage("--expect %s: no incident file there. "+
			"hint: salve replay --record RUN FILE, or salve triage PATH --evidence FILE", asked.expect)
	}
	// Records are decoded and thrown away: with the default, collecting them takes half of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(garbagePercent))
	return a.answerSuite(replay.RunSuite(items), asked.junit)
}

// replayItem is one file of a folder, of whichever kind it says that it is.
func (a *app) replayItem(name, path string, settings []replay.Setting) replay.Item {
	item := replay.Item{
		Name:    name,
		Options: func(history *journal.History) replay.Options { return a.replayOptions(history, settings) },
	}
	if isTriage(headOf(path)) {
		item.Triage = func() (triage.Result, error) {
			raw, err := readRegular(path, record.MaxSize)
			if err != nil {
				return triage.Result{}, err
			}
			return replayTriage(path, raw, settings)
		}
		return item
	}
	item.Read = func() (*journal.History, error) {
		raw, err := readRegular(path, journal.MaxIncident)
		if err != nil {
			return nil, err
		}
		return incidentOf(path, raw)
	}
	return item
}

// headOf is the beginning of a regular file; nothing of what can't be read, which reading all of it will tell.
func headOf(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, headSize))
	if err != nil {
		return nil
	}
	return head
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
