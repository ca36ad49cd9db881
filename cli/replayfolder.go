package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"salve/internal/report/replay"
	"salve/internal/triage/record"
	triage "salve/internal/triage/replay"
	"salve/journal"
)

// recordFolder collects what is to be replayed in a folder: incident files, records of triages, and journals. A file
// that is clearly none of these is passed over, and named. One that may be a damaged one is replayed, which says what
// is wrong with it.
type recordFolder struct {
	app        *app
	root       string
	settings   []replay.Setting
	items      []replay.Item
	passedOver []string
}

// read walks through the folder. Hidden folders are passed over, as are the leases beside the runs of a journal.
func (f *recordFolder) read(ctx context.Context) error {
	root, err := filepath.EvalSymlinks(f.root) // a link is not walked through
	if err != nil {
		return err
	}
	f.root = root
	return filepath.WalkDir(f.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.root, path)
		hidden := name != "." && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && hidden:
			f.passedOver = append(f.passedOver, name+string(filepath.Separator))
			return fs.SkipDir
		case entry.IsDir() && name != "." && ofJournal(path):
			return fs.SkipDir
		case entry.IsDir():
			return f.addJournal(ctx, name, path)
		case hidden:
			f.passedOver = append(f.passedOver, name)
			return nil
		}
		f.addFile(name, path)
		return nil
	})
}

// ofJournal tells whether a folder is one that a journal has in it.
func ofJournal(path string) bool {
	base := filepath.Base(path)
	return (base == "runs" || base == "leases") && isJournal(filepath.Dir(path))
}

// isJournal tells whether a folder is a journal: at least one run of it has a record.
func isJournal(folder string) bool {
	records, err := filepath.Glob(filepath.Join(escaped(folder), "runs", "*", "journal.jsonl"))
	return err == nil && len(records) > 0
}

// escaped is a path as a pattern that matches it alone.
func escaped(path string) string { return patternSigns.ReplaceAllString(path, `\$0`) }

var patternSigns = regexp.MustCompile(`[\\*?\[]`)

// addJournal adds the runs of a folder, if it is a journal.
func (f *recordFolder) addJournal(ctx context.Context, name, path string) error {
	if !isJournal(path) {
		return nil
	}
	kept, err := f.app.inFolder(path)
	if err != nil {
		return err
	}
	runs, err := kept.Runs(ctx)
	if err != nil {
		return fmt.Errorf("listing the journal at %s: %w", path, err)
	}
	for _, run := range runs {
		f.items = append(f.items, f.runItem(ctx, kept, filepath.Join(name, run), run))
	}
	return nil
}

func (f *recordFolder) runItem(ctx context.Context, kept *journal.Location, name, run string) replay.Item {
	var unseen string
	return replay.Item{
		Name: name,
		Read: func() (*journal.History, error) {
			history, notSeen, err := wholeHistory(ctx, kept, run)
			unseen = notSeen
			return history, err
		},
		Options: func(history *journal.History) replay.Options {
			options := f.app.replayOptions(history, f.settings)
			if unseen != "" {
				options.Remarks = []string{unseen}
			}
			return options
		},
	}
}

// addFile adds a file of whichever kind it says that it is, or that its name does.
func (f *recordFolder) addFile(name, path string) {
	head, err := headOf(path)
	if err == nil && filepath.Base(name) == "journal.jsonl" {
		err = errors.New("a record without its journal: --expect takes a folder with runs/RUN/journal.jsonl in it")
	}
	switch {
	case err != nil:
		f.items = append(f.items, replay.Item{Name: name, Read: func() (*journal.History, error) { return nil, err }})
	case head == nil || !isRecord(name, head):
		f.passedOver = append(f.passedOver, name)
	case isTriage(head) || namedAs(name, ".triage"):
		f.items = append(f.items, replay.Item{Name: name, Triage: func() (triage.Result, error) {
			raw, err := readRegular(path, record.MaxSize)
			if err != nil {
				return triage.Result{}, err
			}
			return replayTriage(path, raw, f.settings)
		}})
	default:
		f.items = append(f.items, replay.Item{
			Name: name,
			Read: func() (*journal.History, error) {
				raw, err := readRegular(path, journal.MaxIncident)
				if err != nil {
					return nil, err
				}
				return incidentOf(path, raw)
			},
			Options: func(history *journal.History) replay.Options { return f.app.replayOptions(history, f.settings) },
		})
	}
}

// isRecord tells whether a file is, or may be a damaged, incident file or record of a triage: by its name, or by what
// it begins with. What was compressed and can't be unpacked may be one.
func isRecord(name string, head []byte) bool {
	if namedAs(name, ".incident") || namedAs(name, ".triage") || isTriage(head) {
		return true
	}
	if strings.HasSuffix(name, ".gz") || bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		reader, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return true
		}
		// The head is only the beginning: that it ends too soon is expected.
		if head, _ = io.ReadAll(io.LimitReader(reader, headSize)); len(head) == 0 {
			return true
		}
	}
	return ofRecords.Match(head)
}

// ofRecords are the first line of our files, and the lines of a record, whatever else is wrong with them.
var ofRecords = regexp.MustCompile(`(?m)^.{0,4}"kind":\s*"salve\.(incident|triage)|` +
	`^.{0,200}"sum":\s*"[0-9a-f]{8}.{0,200}"entry":`)

// namedAs tells whether a file's name says what it is, compressed or not.
func namedAs(name, ending string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ending)
}

// headOf is the beginning of a file; nil of what is no file.
func headOf(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, headSize))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return append([]byte{}, head...), nil
}
