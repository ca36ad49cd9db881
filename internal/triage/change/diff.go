package change

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maximumFiles bounds a change. The largest pull requests that GitHub shows have 3,000 files.
	maximumFiles = 100_000
	// maximumHeader bounds a line outside of hunks, in bytes: Linux allows paths of 4 KiB, and quoting makes four of one.
	maximumHeader = 64 << 10
)

// emptyDiff is an error in a file: whether there is nothing, or a program failed that was to write it, can't be seen.
const emptyDiff = "the diff is empty"

// DiffError says where something is no diff, or not a whole one. Lines count from 1.
type DiffError struct {
	Line   int
	Reason string
}

func (e *DiffError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// ReadDiff reads unified diffs, one after the other, as git diff, git show, git format-patch and GitHub give them, and
// what stands around them: mails, commit messages. Combined diffs of merges count with what they show; git leaves
// files out of them that are as in one parent. It reads as a stream. It fails with *DiffError where there is no file at
// all, where a hunk is not as long as it says, and beyond bounds; with the reader's error otherwise.
func ReadDiff(r io.Reader) (*Change, error) {
	d := &diffReader{lines: bufio.NewReaderSize(r, maximumHeader)}
	if err := d.read(); err != nil {
		return nil, fmt.Errorf("reading a diff: %w", err)
	}
	return &Change{Files: merge(d.files)}, nil
}

// submodule is how git diff --submodule=log begins a submodule.
var submodule = regexp.MustCompile(`^Submodule (.+) [0-9a-f]{7,64}\.{2,3}[0-9a-f]{7,64}(?:$|[ :])`)

type diffReader struct {
	lines  *bufio.Reader
	number int // of the current line
	held   bool
	line   string // without its end; cut at maximumHeader, which whole tells
	whole  bool

	files []File
}

func (d *diffReader) fail(format string, args ...any) error {
	return &DiffError{Line: max(d.number, 1), Reason: fmt.Sprintf(format, args...)}
}

// next moves to the next line, which is false at the end.
func (d *diffReader) next() (bool, error) {
	if d.held {
		d.held = false
		return true, nil
	}
	raw, err := d.lines.ReadSlice('\n')
	if len(raw) == 0 && errors.Is(err, io.EOF) {
		return false, nil
	}
	d.number++
	d.line, d.whole = string(raw), true
	for errors.Is(err, bufio.ErrBufferFull) {
		d.whole = false
		_, err = d.lines.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("after line %d: %w", d.number-1, err)
	}
	d.line = strings.TrimSuffix(strings.TrimSuffix(d.line, "\n"), "\r")
	if d.number > 1 {
		return true, nil
	}
	if strings.HasPrefix(d.line, "\xff\xfe") || strings.HasPrefix(d.line, "\xfe\xff") {
		return false, d.fail("this is UTF-16; write the diff as UTF-8 (git diff --output=FILE)")
	}
	d.line = strings.TrimPrefix(d.line, "\ufeff")
	return true, nil
}

func (d *diffReader) read() error {
	for {
		more, err := d.next()
		switch {
		case err != nil:
			return err
		case !more && d.number == 0:
			return d.fail(emptyDiff)
		case !more && len(d.files) == 0:
			return &DiffError{Line: 1, Reason: "no diff: no line begins a file (diff --git, ---)"}
		case !more:
			return nil
		}
		switch {
		case strings.HasPrefix(d.line, "diff --git "), strings.HasPrefix(d.line, "diff --cc "),
			strings.HasPrefix(d.line, "diff --combined "):
			err = d.file()
		case strings.HasPrefix(d.line, "--- "):
			err = d.plainFile()
		case isHunk(d.line):
			err = d.fail("a hunk of no file")
		case submodule.MatchString(d.line):
			err = d.add(header{merged: submodule.FindStringSubmatch(d.line)[1]})
		}
		if err != nil {
			return err
		}
	}
}

func (d *diffReader) add(h header) error {
	if len(d.files) == maximumFiles {
		return d.fail("more than %d files", maximumFiles)
	}
	f, err := h.file()
	if err != nil {
		return d.fail("%v", err)
	}
	d.files = append(d.files, f)
	return nil
}

// file reads a file that git's header begins, to the first line that is not its.
func (d *diffReader) file() error {
	h, at := header{}, d.number
	if !d.whole {
		return d.fail("a header of more than %d bytes", maximumHeader)
	}
	h.names(d.line)
	for {
		more, err := d.next()
		if err != nil {
			return err
		}
		switch {
		case !more || !h.takes(d.line) && !isHunk(d.line):
			d.held = more
			if err := d.add(h); err != nil {
				var wrong *DiffError
				if errors.As(err, &wrong) {
					wrong.Line = at
				}
				return err
			}
			return nil
		case !d.whole:
			return d.fail("a header of more than %d bytes", maximumHeader)
		case isHunk(d.line):
			err = d.hunk(&h)
		case d.line == "GIT binary patch":
			err = d.binary()
		}
		if err != nil {
			return err
		}
	}
}

// plainFile reads a file of a diff that is not git's. A line of dashes that no +++ follows is text.
func (d *diffReader) plainFile() error {
	h := header{}
	h.takes(d.line)
	more, err := d.next()
	if err != nil || !more {
		return err
	}
	if !strings.HasPrefix(d.line, "+++ ") {
		d.held = true
		return nil
	}
	h.takes(d.line)
	for {
		more, err = d.next()
		if err != nil {
			return err
		}
		if !more || !isHunk(d.line) && !strings.HasPrefix(d.line, `\`) {
			d.held = more
			return d.add(h)
		}
		if isHunk(d.line) {
			if err := d.hunk(&h); err != nil {
				return err
			}
		}
	}
}

// binary passes over the two halves of a binary patch, each a line that says its kind, lines of letters, and an empty
// one.
func (d *diffReader) binary() error {
	for range 2 {
		for {
			more, err := d.next()
			if err != nil {
				return err
			}
			if !more || d.line == "" {
				break
			}
			if strings.HasPrefix(d.line, "diff --") {
				d.held = true
				return nil
			}
		}
	}
	return nil
}

// clean makes a path of a diff fit to be shown.
func clean(path []byte) string {
	if utf8.Valid(path) && bytes.IndexFunc(path, unicode.IsControl) < 0 {
		return string(path)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(string(path), string(utf8.RuneError)))
}
