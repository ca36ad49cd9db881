//go:build linux

package slot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"salve/internal/clock"
	"salve/internal/hotfix/disk"
	"salve/internal/hotfix/process"
)

// Trial is what a node knows of the staged program from having started it. It lies
// beside it. Systems with two slots do the same: https://rauc.readthedocs.io/,
// https://uapi-group.org/specifications/specs/boot_loader_specification/#boot-counting.
type Trial struct {
	SchemaVersion int    `json:"schemaVersion"`
	SHA256        string `json:"sha256"` // of the program
	Target        string `json:"target"`
	// Trials are the starts that did not end in a confirmation. A start counts as one
	// from before it is made, so that a crash of the machine does too.
	Trials    int       `json:"trials"`
	Stops     int       `json:"stops,omitempty"` // the starts that were given back
	Confirmed bool      `json:"confirmed"`
	Started   time.Time `json:"started"` // the last one; not for any decision: clocks are wrong at a boot
	// The process that watches the trial, while it does.
	Process int    `json:"process,omitempty"`
	Since   uint64 `json:"since,omitempty"`
}

const (
	trialVersion = 1
	trialLimit   = 4 << 10 // bytes
	// maxStops bounds how often a start is given back that somebody has stopped: a
	// program that reboots the machine is stopped too.
	maxStops = 3
	// trialLockTime is how long another process may keep the record. It takes milliseconds.
	trialLockTime = 5 * time.Second
)

// The errors of trials.
var (
	// ErrTrialsUsed means that the program was started as often as it may be without a
	// confirmation.
	ErrTrialsUsed = errors.New("it was started as often as it may be, and not confirmed")
	// ErrNoTrial means that there is no trial to confirm.
	ErrNoTrial = errors.New("no trial of a staged program is running")
)

// Ending is how a trial ended.
type Ending int

// The endings.
const (
	Unconfirmed Ending = iota // unless it was confirmed meanwhile
	Confirmed                 // it did what it had to
	GivenBack                 // it does not count: it was stopped, or could not be started
)

// ReadTrial gives what is known of the staged program; fs.ErrNotExist when it was not
// started yet.
func (s Slot) ReadTrial() (Trial, error) {
	folder, name, err := s.open()
	if err != nil {
		return Trial{}, err
	}
	defer folder.Close()
	return readTrial(folder, name)
}

// BeginTrial counts a start of the staged program, durably, before it is made. A
// program that was confirmed is not counted any more. Of one that has used its trials
// the error is ErrTrialsUsed; after any error the program must not be started.
func (s Slot) BeginTrial(ctx context.Context, staged Manifest, now time.Time) (Trial, error) {
	return s.changeTrial(ctx, func(folder *disk.Folder, name string) (Trial, error) {
		trial, err := trialOf(folder, name, staged)
		if err != nil {
			return Trial{}, err
		}
		if trial.Confirmed {
			return trial, nil
		}
		if trial.used(s.Trials) {
			return Trial{}, ErrTrialsUsed
		}
		trial.Trials++
		trial.Started = now.UTC()
		trial.Process, trial.Since = os.Getpid(), process.Started(os.Getpid())
		return trial, trial.write(folder, name)
	})
}

// EndTrial writes down how a trial ended, and gives the record: it may have been
// confirmed before.
func (s Slot) EndTrial(ctx context.Context, began Trial, ending Ending) (Trial, error) {
	return s.changeTrial(ctx, func(folder *disk.Folder, name string) (Trial, error) {
		trial, err := readTrial(folder, name)
		if err != nil {
			return began, err
		}
		if trial.SHA256 != began.SHA256 || trial.Process == 0 {
			return trial, nil // it was confirmed in an earlier boot, or is another's by now
		}
		trial.Process, trial.Since = 0, 0
		trial.Confirmed = trial.Confirmed || ending == Confirmed
		switch {
		case trial.Confirmed:
			trial.Trials, trial.Stops = 0, 0
		case ending == GivenBack && trial.Stops < maxStops:
			trial.Trials, trial.Stops = trial.Trials-1, trial.Stops+1
		}
		return trial, trial.write(folder, name)
	})
}

// Confirm says that the program whose trial is running does what it has to.
func (s Slot) Confirm(ctx context.Context) (Trial, error) {
	return s.changeTrial(ctx, func(folder *disk.Folder, name string) (Trial, error) {
		trial, err := readTrial(folder, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return Trial{}, ErrNoTrial
		case err != nil:
			return Trial{}, err
		case trial.Confirmed:
			return trial, nil
		case !trial.Running():
			return trial, ErrNoTrial
		}
		trial.Confirmed = true
		return trial, trial.write(folder, name)
	})
}

// Running tells whether the process that watches the trial is alive. One that was
// killed, or the end of the machine, has ended the trial.
func (t Trial) Running() bool {
	return t.Process != 0 && t.Since != 0 && process.Started(t.Process) == t.Since
}

// used tells whether the program may be started no more.
func (t Trial) used(limit int) bool { return !t.Confirmed && t.Trials >= max(limit, 1) }

// trialOf is the record of this program, or a new one.
func trialOf(folder *disk.Folder, name string, staged Manifest) (Trial, error) {
	trial, err := readTrial(folder, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Trial{}, err
	}
	if trial.SHA256 != staged.SHA256 {
		trial = Trial{SchemaVersion: trialVersion, SHA256: staged.SHA256, Target: staged.Target}
	}
	return trial, nil
}

// changeTrial lets one process at a time read and write the record.
func (s Slot) changeTrial(
	ctx context.Context, change func(folder *disk.Folder, name string) (Trial, error),
) (Trial, error) {
	folder, name, err := s.open()
	if err != nil {
		return Trial{}, err
	}
	defer folder.Close()
	unlock, err := lockFolder(ctx, folder)
	if err != nil {
		return Trial{}, fmt.Errorf("lock the record of trials: %w", err)
	}
	defer unlock()
	return change(folder, name)
}

// lockFolder locks the folder itself: a file for it would have to be written, and the
// disk may be full.
func lockFolder(ctx context.Context, folder *disk.Folder) (unlock func(), err error) {
	limited, cancel := context.WithTimeout(ctx, trialLockTime)
	defer cancel()
	self, err := folder.Self()
	if err != nil {
		return nil, err
	}
	const pause = 10 * time.Millisecond
	for {
		err := syscall.Flock(int(self.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = self.Close() }, nil
		}
		again := errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
		if !again || clock.Sleep(limited, clock.Real{}, pause) != nil {
			return nil, errors.Join(err, self.Close())
		}
	}
}

func (t Trial) write(folder *disk.Folder, name string) error {
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return folder.Replace(name+trialSuffix, bytes.NewReader(append(raw, '\n')), 0o644)
}

func readTrial(folder *disk.Folder, name string) (Trial, error) {
	raw, err := folder.Read(name+trialSuffix, trialLimit)
	if err != nil {
		return Trial{}, err
	}
	var t Trial
	if err := json.Unmarshal(raw, &t); err != nil {
		return Trial{}, fmt.Errorf("record of trials: %w", err)
	}
	if t.SchemaVersion != trialVersion || t.SHA256 == "" || t.Trials < 0 || t.Stops < 0 {
		return Trial{}, errors.New("record of trials: it does not have what this version of salve-node writes")
	}
	return t, nil
}
