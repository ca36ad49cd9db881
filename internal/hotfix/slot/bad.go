//go:build linux

package slot

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"salve/internal/hotfix/disk"
)

// MarkBad keeps the program of a digest from being chosen on this node again. A
// mark is an empty file whose name is the digest. It holds for this program alone:
// a new target has a digest of its own.
func (s Slot) MarkBad(digest string) error {
	folder, name, err := s.open()
	if err != nil {
		return err
	}
	defer folder.Close()
	if _, err := folder.Make(name+badSuffix, 0o755); err != nil {
		return err
	}
	marks, err := folder.Enter(name + badSuffix)
	if err != nil {
		return err
	}
	defer marks.Close()
	if err := marks.Create(digest, strings.NewReader(""), 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return marks.Flush()
}

func (s Slot) bad(folder *disk.Folder, digest string) bool {
	_, err := folder.Lstat(filepath.Base(s.Staged) + badSuffix + "/" + digest)
	return !errors.Is(err, fs.ErrNotExist)
}
