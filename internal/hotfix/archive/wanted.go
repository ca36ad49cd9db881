package archive

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// ErrNotInside says that a package does not hold the file that was wanted.
var ErrNotInside = errors.New("the package does not hold it")

const (
	// unpackedFactor bounds all that a package unpacks to, by the size that the wanted
	// file may have: a program is most of its package.
	unpackedFactor = 4
	// maxMembers bounds how many files, folders and the rest of it a package has.
	maxMembers = 100_000
)

// Wanted is one regular file of a package.
type Wanted struct {
	// Name is the file's path inside the package, or, without a slash, its last
	// element.
	Name string
	// Limit is how large it may be, in bytes, as any other file of the package.
	Limit int64
}

func (w Wanted) byPath() bool { return strings.Contains(w.Name, "/") }

func (w Wanted) is(entry string) bool {
	entry = path.Clean("/" + entry)
	if w.byPath() {
		return entry == path.Clean("/"+w.Name)
	}
	return path.Base(entry) == w.Name
}

// member is what an archive says of one of its entries. Owners, modes, and where
// links lead are of no interest: nothing but the content of a regular file is taken.
type member struct {
	name    string
	size    int64
	regular bool
}

// taking is one search through a package, to its end: only a package that could be
// read to its end is whole, and only then it is known that the file came once.
type taking struct {
	Wanted
	out     io.Writer
	members int
	seen    bool // something has come under the wanted path
	taken   bool
}

// accept looks at one entry of the package, and takes its content if it is the one
// that is wanted.
func (t *taking) accept(one member, content io.Reader) error {
	if t.members++; t.members > maxMembers {
		return fmt.Errorf("%w: the package has more than %d files", ErrTooLarge, maxMembers)
	}
	switch {
	case slices.Contains(strings.Split(one.name, "/"), ".."):
		return fmt.Errorf("the package has a file whose path goes up: %.200q", one.name)
	case one.size > t.Limit:
		return fmt.Errorf("%.200q has %d bytes: %w", one.name, one.size, ErrTooLarge)
	case !t.is(one.name):
		return nil
	case t.byPath() && t.seen:
		return fmt.Errorf("the package holds %s twice", t.Name) // whatever each of the two is
	}
	t.seen = true
	switch {
	case !one.regular:
		return nil
	case t.taken:
		return fmt.Errorf("the package holds %s twice", t.Name)
	}
	t.taken = true
	if _, err := io.CopyN(t.out, content, one.size); err != nil {
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
