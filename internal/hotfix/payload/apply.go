//go:build linux

package payload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"time"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/protect"
)

// Status is where a version of the scripts stands on this node.
type Status string

// The statuses.
const (
	Absent     Status = "absent"      // another version is in place, or none
	Applied    Status = "applied"     // it is in place
	RolledBack Status = "rolled-back" // it was in place, and somebody took it back
)

// Status tells where a version stands by the last swap that was finished. It only
// reads.
func (t Tree) Status(version string) (Status, error) {
	state, err := disk.Open(t.State, t.Trace)
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return "", err
	}
	defer state.Close()
	last, err := readRecord(state, appliedRecord)
	switch {
	case err != nil:
		return "", err
	case last == nil || last.Version != version:
		return Absent, nil
	case last.Stage == rolledBack:
		return RolledBack, nil
	}
	return Applied, nil
}

// Release says which version a payload is.
type Release struct {
	Version string
	Source  string
	Time    time.Time // now, for the record
}

// Apply puts all files of a payload in place, or none: after an error, and after a
// crash and the next Settle, either all are the old ones or all the new ones. A
// version that is in place already must not be applied again: its previous files
// would be its own.
func (t Tree) Apply(ctx context.Context, release Release, payload Payload) error {
	state, err := t.openState()
	if err != nil {
		return err
	}
	defer state.Close()
	if _, err := t.recover(state); err != nil {
		return err
	}
	protected, err := t.survey()
	if err != nil {
		return err
	}
	swap, standing, err := t.plan(release, payload, protected)
	if err != nil {
		return err
	}
	if err := swap.advance(state, preparing); err != nil {
		return err
	}
	err = t.prepare(ctx, state, swap, payload, standing)
	if err == nil {
		err = swap.advance(state, ready)
	}
	if err != nil {
		swap.Stage = preparing
		return errors.Join(err, t.drop(state, swap))
	}
	return t.finishOrTakeBack(state, swap, protected)
}

// plan looks at what is there and says what is to change. It changes nothing.
func (t Tree) plan(release Release, payload Payload, protected *protect.Map) (*record, []*standing, error) {
	swap := &record{
		SchemaVersion: recordVersion, Version: release.Version, Source: release.Source,
		Time: release.Time.UTC(), Kept: keptIn(release.Version), Folders: []string{},
	}
	found := make([]*standing, len(payload.Files))
	for i, file := range payload.Files {
		if err := t.check(protected, file.Path); err != nil {
			return nil, nil, err
		}
		folders, err := t.missing(file.Path)
		if err != nil {
			return nil, nil, err
		}
		for _, folder := range folders {
			if !slices.Contains(swap.Folders, folder) {
				swap.Folders = append(swap.Folders, folder)
			}
		}
		if found[i], err = t.inspect(file.Path); err != nil {
			return nil, nil, err
		}
		one := change{Path: file.Path, Mode: file.Mode, SHA256: digestOf(file.Content)}
		if old := found[i]; old != nil {
			one.Previous = &previous{
				Name: strconv.Itoa(i), Mode: old.mode, User: old.user, Group: old.group, SHA256: digestOf(old.content),
			}
		}
		swap.Files = append(swap.Files, one)
	}
	return swap, found, nil
}

// prepare writes the new files beside the old ones, and copies of these, with their
// names on the disk: what is ready can be finished or taken back after a power cut.
func (t Tree) prepare(ctx context.Context, state *disk.Folder, swap *record, payload Payload, found []*standing) error {
	if err := t.makeFolders(swap.Folders); err != nil {
		return err
	}
	if err := state.Clear(swap.Kept); err != nil {
		return err
	}
	if _, err := state.Make(swap.Kept, 0o700); err != nil {
		return err
	}
	kept, err := state.Enter(swap.Kept)
	if err != nil {
		return err
	}
	defer kept.Close()
	for i, one := range swap.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if one.Previous != nil {
			if err := putFile(kept, one.Previous.Name, found[i].content, 0o600, 0, 0); err != nil {
				return fmt.Errorf("keep %s: %w", one.Path, err)
			}
		}
		if err := t.writeNew(one, payload.Files[i].Content); err != nil {
			return fmt.Errorf("write %s: %w", one.Path, err)
		}
	}
	return kept.Flush()
}

func (t Tree) makeFolders(folders []string) error {
	for _, one := range folders {
		outer, name, err := t.reach(one)
		if err != nil {
			return err
		}
		_, err = outer.Make(name, 0o755)
		outer.Close()
		if err != nil {
			return fmt.Errorf("make %s: %w", one, err)
		}
	}
	return nil
}

// writeNew writes a new file beside the old one, and reads it again: what is
// renamed later is what was checked.
func (t Tree) writeNew(one change, content []byte) error {
	folder, name, err := t.reach(one.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	part := unfinished(name)
	if err := folder.Remove(part); err != nil {
		return err
	}
	if err := putFile(folder, part, content, one.Mode, 0, 0); err != nil {
		return err
	}
	if err := folder.Flush(); err != nil {
		return err
	}
	written, err := t.inspect(path.Join(path.Dir(one.Path), part))
	switch {
	case err != nil:
		return err
	case !written.is(one.SHA256, one.Mode):
		return fmt.Errorf("it does not read as it was written: %w", fs.ErrInvalid)
	}
	return nil
}
