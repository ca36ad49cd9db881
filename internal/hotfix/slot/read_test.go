//go:build linux

package slot

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"

	"salve/internal/hotfix/hotfixtest"
)

// TestADiskThatCannotBeReadIsTheProblem, not a program of the wrong kind: no real file fails amid its contents.
func TestADiskThatCannotBeReadIsTheProblem(t *testing.T) {
	image := hotfixtest.Image(t, hotfixtest.Behaviour{Version: "202604.01.2"})
	for name, good := range map[string]int{"at its beginning": 0, "in its header": 40, "in its segments": 100} {
		t.Run(name, func(t *testing.T) {
			disk := damaged{bytes.NewReader(image), int64(good)}
			if err := checkProgram(disk, int64(len(image))); !errors.Is(err, syscall.EIO) {
				t.Errorf("checking gave %v", err)
			}
			digest, err := digestOf(io.NewSectionReader(disk, 0, int64(len(image))))
			if digest != "" || !errors.Is(err, syscall.EIO) {
				t.Errorf("the digest is %q, %v", digest, err)
			}
		})
	}
}

// damaged is a disk that has only so many good bytes.
type damaged struct {
	disk io.ReaderAt
	good int64
}

func (d damaged) ReadAt(to []byte, at int64) (int, error) {
	room := max(0, d.good-at)
	if int64(len(to)) <= room {
		return d.disk.ReadAt(to, at)
	}
	n, err := d.disk.ReadAt(to[:room], at)
	return n, errors.Join(syscall.EIO, err)
}
