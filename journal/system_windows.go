package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// lockFile takes the lock on an open file without waiting. ours is false while another holds it. What is locked is a
// byte far behind the end: on Windows nobody else could read the content otherwise.
func lockFile(file *os.File) (ours bool, err error) {
	const behind = 1 << 30 // OffsetHigh: of units of 4 GiB
	err = windows.LockFileEx(windows.Handle(file.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: behind})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// syncNames does nothing: Windows refuses to flush a folder that is open for reading, and NTFS journals its names.
func syncNames(*os.File) error { return nil }

// namesOf is one: the names of a file are not among what Windows says of it by its name.
func namesOf(fs.FileInfo) uint64 { return 1 }

// ownersAlone tells why a file is not its owner's alone, and what to do about that: mode bits say nothing on Windows,
// its access control list does. The system's own accounts and administrators may read every file anyway.
func ownersAlone(path string, _ fs.FileInfo) (hint string, err error) {
	hint = fmt.Sprintf("icacls %q /inheritance:r /grant:r %%USERNAME%%:F", path)
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", fmt.Errorf("reading the user of this process: %w", err)
	}
	security, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", fmt.Errorf("reading its access control list: %w", err)
	}
	owner, _, err := security.Owner()
	if err != nil {
		return "", fmt.Errorf("reading its owner: %w", err)
	}
	if !trusted(owner, user.User.Sid) {
		return "run Salve as that user, or set SALVE_JOURNAL_KEY_FILE to a key file of your own",
			fmt.Errorf("forbidden: it belongs to %s, want %s", owner, user.User.Sid)
	}
	list, _, err := security.DACL()
	if err != nil {
		return "", fmt.Errorf("reading its access control list: %w", err)
	}
	if list == nil { // no list at all: everybody may do everything
		return hint, errors.New("forbidden: it has no access control list")
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return "", fmt.Errorf("reading its access control list: %w", err)
		}
		if entry.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE {
			continue // it takes rights away, or is of a kind that files don't have
		}
		if sid := (*windows.SID)(unsafe.Pointer(&entry.SidStart)); !trusted(sid, user.User.Sid) {
			return hint, fmt.Errorf("forbidden: its access control list lets %s at it", sid)
		}
	}
	return "", nil
}

// trusted is a user who may read every file of this user anyway.
func trusted(sid, user *windows.SID) bool {
	return sid.Equals(user) || sid.IsWellKnown(windows.WinLocalSystemSid) ||
		sid.IsWellKnown(windows.WinBuiltinAdministratorsSid)
}
