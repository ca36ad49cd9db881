package archive

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// ErrNotInside says that a package does not hold the file that was wanted.
var ErrNotInside = errors.New("the package does not hold it")

// unpackedFactor bounds all that a package unpacks to, by the size that the wanted
// file may have: a program is most of its package.
const unpackedFactor = 4

// Wanted is one regular file of a package.
type Wanted struct {
	// Name is the file's path inside the package, or, without a slash, its last
	// element.
	Name string
	// Limit is how large it may be, in bytes.
	Limit int64
}

func (w Wanted) is(entry string) bool {
	entry = path.Clean("/" + entry)
	if strings.Contains(w.Name, "/") {
		return entry == path.Clean("/"+w.Name)
	}
	return path.Base(entry) == w.Name
}

// taking is one search through a package, to its end: only a package that could be
// read to its end is whole, and only then it is known that the file came once.
type taking struct {
	Wanted
	out   io.Writer
	taken bool
}

// accept gives one regular file of the package.
func (t *taking) accept(entry string, size int64, content io.Reader) error {
	switch {
	case !t.is(entry):
		return nil
	case t.taken:
		return fmt.Errorf("the package holds %s twice", t.Name)
	case size > t.Limit:
		return fmt.Errorf("%s has %d bytes: %w", t.Name, size, ErrTooLarge)
	}
	t.taken = true
	if _, err := io.CopyN(t.out, content, size); err != nil {
		return fmt.Errorf("unpacking %s: %w", t.Name, err)
	}
	return nil
}

func (t *taking) finish() error {
	if !t.taken {
		return fmt.Errorf("%s: %w", t.Name, ErrNotInside)
	}
	return nil
}
