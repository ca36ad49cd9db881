//go:build linux

package payload

import (
	"errors"

	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/protect"
)

// ErrNothingApplied means that there is no payload to take back.
var ErrNothingApplied = errors.New("no scripts have been put in place here, or they were taken back already")

// RolledBackTo says what a rollback did.
type RolledBackTo struct {
	Version string   // that was taken back
	Left    []string // files that somebody else had changed since, and that stay so
}

// Rollback puts back the files that the last payload replaced, and removes those
// that it added. Its version is not applied here again.
func (t Tree) Rollback() (RolledBackTo, error) {
	state, err := t.openState()
	if err != nil {
		return RolledBackTo{}, err
	}
	defer state.Close()
	if _, err := t.recover(state); err != nil {
		return RolledBackTo{}, err
	}
	last, err := readRecord(state, appliedRecord)
	switch {
	case err != nil:
		return RolledBackTo{}, err
	case last == nil || last.Stage == rolledBack:
		return RolledBackTo{}, ErrNothingApplied
	}
	protected, err := t.survey()
	if err != nil {
		return RolledBackTo{}, err
	}
	if err := last.advance(state, rollingBack); err != nil {
		return RolledBackTo{}, err
	}
	left, err := t.rollBack(state, last, protected)
	return RolledBackTo{Version: last.Version, Left: left}, err
}

// rollBack may be repeated from any point.
func (t Tree) rollBack(state *disk.Folder, swap *record, protected *protect.Map) (left []string, err error) {
	if err := t.removeNew(swap); err != nil {
		return nil, err
	}
	if left, err = t.restore(state, swap, protected); err != nil {
		return nil, err
	}
	if err := t.removeFolders(swap); err != nil {
		return left, err
	}
	done := *swap
	done.Stage = rolledBack
	if err := done.write(state, appliedRecord); err != nil {
		return left, err
	}
	return left, t.close(state, swap)
}
