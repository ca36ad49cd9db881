package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"

	"salve/internal/recordable"
)

// headFile holds the newest head of the open run's record beside its lease. It is
// written in place with each append and never synced: a killed process leaves what
// it wrote, and a power cut an older head, or a torn one that reads as none. After a
// power cut the head in the lease's own file counts, which is older and as true.
type headFile struct{ file diskFile }

func headPath(lease string) string { return lease + ".head" }

// openHead opens the file beside a lease, and makes it where there is none.
func openHead(d disk, lease string) (*headFile, error) {
	file, err := d.Open(headPath(lease), creating)
	if errors.Is(err, fs.ErrExist) {
		file, err = d.Open(headPath(lease), writing)
	}
	if err != nil {
		return nil, err
	}
	return &headFile{file}, nil
}

// write puts a head in the place of the one before. What a longer one leaves behind
// the line feed is never read.
func (h *headFile) write(open OpenRun) error {
	raw, err := json.Marshal(open)
	if err != nil {
		return err
	}
	_, err = h.file.WriteAt([]byte(hash(raw)+" "+string(raw)+"\n"), 0)
	return err
}

// Close closes the file of a lease that has one.
func (h *headFile) Close() error {
	if h == nil {
		return nil
	}
	return h.file.Close()
}

// readHead reads the head beside a lease; not found where none can be read.
func readHead(d disk, lease string) (open OpenRun, found bool) {
	raw, _ := readBounded(d, headPath(lease), maxLease) // what was not read whole has another hash
	line, _, whole := bytes.Cut(raw, []byte{'\n'})
	sum, body, _ := bytes.Cut(line, []byte{' '})
	if !whole || string(sum) != hash(body) || recordable.UnmarshalStrict(body, &open) != nil {
		return OpenRun{}, false
	}
	return open, true
}
