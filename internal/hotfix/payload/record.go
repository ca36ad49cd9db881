//go:build linux

package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"salve/internal/hotfix/disk"
)

// stage is how far a swap has come. It decides what the next one does who finds
// its record.
type stage string

const (
	preparing   stage = "preparing"    // new files are being written; no name has changed: take it back
	ready       stage = "ready"        // names are being changed: finish it
	takingBack  stage = "taking-back"  // it could not be finished: take it back
	rollingBack stage = "rolling-back" // somebody asked to: take it back, and remember
	applied     stage = "applied"      // nothing is open
	rolledBack  stage = "rolled-back"  // nothing is open, and this version is not wanted
)

// record is a swap, written before what it speaks of is done.
type record struct {
	SchemaVersion int       `json:"schemaVersion"`
	Version       string    `json:"version"`
	Stage         stage     `json:"stage"`
	Time          time.Time `json:"time"`
	Source        string    `json:"source"`
	Kept          string    `json:"kept"` // the folder of the previous files
	Files         []change  `json:"files"`
	Folders       []string  `json:"folders"` // that are made for them, the outer before the inner
}

// change is one file's part in a swap.
type change struct {
	Path     string      `json:"path"`
	Mode     fs.FileMode `json:"mode"`
	SHA256   string      `json:"sha256"`
	Previous *previous   `json:"previous"` // null where there was no file
}

// previous is the file that was replaced; its contents are kept under Name.
type previous struct {
	Name   string      `json:"name"`
	Mode   fs.FileMode `json:"mode"`
	User   int         `json:"user"`
	Group  int         `json:"group"`
	SHA256 string      `json:"sha256"`
}

// The files of the state folder.
const (
	openRecord    = "swap.json"    // there while a swap is under way
	appliedRecord = "applied.json" // the last swap that was finished
	recordLimit   = 4 << 20        // bytes
	recordVersion = 1
)

func (r record) write(state *disk.Folder, name string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return state.Replace(name, bytes.NewReader(append(raw, '\n')), 0o600)
}

// advance writes down that an open swap has come to a stage.
func (r *record) advance(state *disk.Folder, to stage) error {
	r.Stage = to
	return r.write(state, openRecord)
}

// readRecord gives a record, or nil where there is none.
func readRecord(state *disk.Folder, name string) (*record, error) {
	raw, err := state.Read(name, recordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if r.SchemaVersion != recordVersion {
		return nil, fmt.Errorf("%s: schema version %d is not known here", name, r.SchemaVersion)
	}
	return &r, nil
}
