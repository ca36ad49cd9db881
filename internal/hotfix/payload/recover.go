//go:build linux

package payload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/protect"
)

// Unfinished tells whether a swap is open: one that was cut off, or one that
// another process is at. It costs one look at the disk.
func (t Tree) Unfinished() bool {
	_, err := os.Lstat(filepath.Join(t.State, openRecord))
	return !errors.Is(err, fs.ErrNotExist)
}

// Recover finishes or takes back a swap that was cut off. It says which version
// that was, and "" when nothing was open.
func (t Tree) Recover() (version string, err error) {
	state, err := t.openState()
	if err != nil {
		return "", err
	}
	defer state.Close()
	return t.recover(state)
}

func (t Tree) recover(state *disk.Folder) (version string, err error) {
	swap, err := readRecord(state, openRecord)
	if err != nil || swap == nil {
		return "", err
	}
	protected, err := t.survey()
	if err != nil {
		return swap.Version, err
	}
	switch swap.Stage {
	case preparing:
		err = t.drop(state, swap)
	case ready:
		err = t.finishOrTakeBack(state, swap, protected)
	case takingBack:
		err = t.takeBack(state, swap, protected)
	case rollingBack:
		_, err = t.rollBack(state, swap, protected)
	default:
		err = fmt.Errorf("%s: the stage %q is not known here", openRecord, swap.Stage)
	}
	return swap.Version, err
}

// finishOrTakeBack changes the names; if one can't be changed, all are changed
// back. The error says why it was taken back.
func (t Tree) finishOrTakeBack(state *disk.Folder, swap *record, protected *protect.Map) error {
	err := t.finish(state, swap, protected)
	if err == nil {
		return nil
	}
	if backErr := swap.advance(state, takingBack); backErr != nil {
		return errors.Join(err, backErr) // the record says ready: the next one tries again
	}
	return errors.Join(err, t.takeBack(state, swap, protected))
}

// finish makes the new files count. It may be repeated from any point. What a place is
// may have changed since it was planned: something was mounted, or this is a record
// that another version of salve-node has made.
func (t Tree) finish(state *disk.Folder, swap *record, protected *protect.Map) error {
	for _, one := range swap.Files {
		if err := t.check(protected, one.Path); err != nil {
			return err
		}
		if err := t.exchange(one); err != nil {
			return fmt.Errorf("%s: %w", one.Path, err)
		}
	}
	done := *swap
	done.Stage = applied
	if err := done.write(state, appliedRecord); err != nil {
		return err
	}
	if err := keepOnly(state, swap.Kept); err != nil {
		return err
	}
	return state.Remove(openRecord)
}

// keepOnly removes the previous files of earlier swaps.
func keepOnly(state *disk.Folder, kept string) error {
	names, err := state.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, keptPrefix) && name != kept {
			if err := state.Clear(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchange renames a new file to its place, unless that was done already.
func (t Tree) exchange(one change) error {
	folder, name, err := t.reach(one.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	err = folder.Rename(unfinished(name), name)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	found, err := t.inspect(one.Path)
	if err == nil && !found.is(one.SHA256, one.Mode) {
		err = errors.New("its new contents are gone")
	}
	return err
}

// drop takes back a swap of which no name has been changed.
func (t Tree) drop(state *disk.Folder, swap *record) error {
	return errors.Join(t.removeNew(swap), t.removeFolders(swap), t.close(state, swap))
}

// takeBack puts the previous files back.
func (t Tree) takeBack(state *disk.Folder, swap *record, protected *protect.Map) error {
	if err := t.removeNew(swap); err != nil {
		return err
	}
	if _, err := t.restore(state, swap, protected); err != nil {
		return err
	}
	return errors.Join(t.removeFolders(swap), t.close(state, swap))
}

// close forgets a swap that came to nothing.
func (t Tree) close(state *disk.Folder, swap *record) error {
	if err := state.Clear(swap.Kept); err != nil {
		return err
	}
	return state.Remove(openRecord)
}

// removeNew removes what was written and never counted.
func (t Tree) removeNew(swap *record) error {
	for _, one := range swap.Files {
		folder, name, err := t.reach(one.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = folder.Remove(unfinished(name))
		folder.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFolders removes the folders that were made, unless somebody uses them.
func (t Tree) removeFolders(swap *record) error {
	for _, one := range slices.Backward(swap.Folders) {
		outer, name, err := t.reach(one)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		_ = outer.Remove(name) // what isn't empty stays
		outer.Close()
	}
	return nil
}

// restore puts back the previous files, the last first; one that resists keeps no
// other from it. It may be repeated from any point. A file that somebody else has
// changed since is left as it is and named, and so is one that is protected.
func (t Tree) restore(state *disk.Folder, swap *record, protected *protect.Map) (left []string, err error) {
	var problems []error
	for _, one := range slices.Backward(swap.Files) {
		if t.check(protected, one.Path) != nil {
			left = append(left, one.Path)
			continue
		}
		found, err := t.inspect(one.Path)
		old := one.Previous
		switch {
		case err != nil:
			problems = append(problems, err)
		case old == nil && found == nil:
		case old != nil && found.is(old.SHA256, old.Mode):
		case found != nil && !found.is(one.SHA256, one.Mode):
			left = append(left, one.Path)
		default:
			if err := t.putBack(state, swap.Kept, one); err != nil {
				problems = append(problems, fmt.Errorf("put back %s: %w", one.Path, err))
			}
		}
	}
	return left, errors.Join(problems...)
}

func (t Tree) putBack(state *disk.Folder, keptIn string, one change) error {
	folder, name, err := t.reach(one.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if one.Previous == nil {
		return folder.Remove(name)
	}
	kept, err := state.Enter(keptIn)
	if err != nil {
		return err
	}
	defer kept.Close()
	content, err := kept.Read(one.Previous.Name, maxPrevious)
	if err != nil {
		return err
	}
	if digestOf(content) != one.Previous.SHA256 {
		return errors.New("what was kept of it is damaged")
	}
	part := unfinished(path.Base(one.Path))
	if err := folder.Remove(part); err != nil {
		return err
	}
	if err := putFile(folder, part, content, one.Previous.Mode, one.Previous.User, one.Previous.Group); err != nil {
		return err
	}
	return folder.Rename(part, name)
}
