package main

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/pflag"

	"salve/journal"
)

func addJournal(flags *pflag.FlagSet, folder *string) {
	flags.StringVar(folder, "journal", "", "folder of the journal (default: "+shownFolder()+")")
}

func shownFolder() string {
	if runtime.GOOS == "darwin" {
		return "~/Library/Application Support/salve/journal"
	}
	return "$XDG_STATE_HOME/salve/journal or ~/.local/state/salve/journal"
}

// openJournal gives the journal in a folder; empty is the user's own.
func (a *app) openJournal(folder string) (*journal.File, error) {
	if folder != "" {
		return journal.NewFile(folder), nil
	}
	if state := a.lookup("XDG_STATE_HOME"); filepath.IsAbs(state) && runtime.GOOS != "darwin" {
		return journal.NewFile(filepath.Join(state, "salve", "journal")), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, usage("there is no home folder for the journal; name a folder with --journal")
	}
	if runtime.GOOS == "darwin" {
		return journal.NewFile(filepath.Join(home, "Library", "Application Support", "salve", "journal")), nil
	}
	return journal.NewFile(filepath.Join(home, ".local", "state", "salve", "journal")), nil
}
