package history

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
)

const (
	suffix          = ".jsonl"
	maximumFiles    = 1 << 20
	maximumProblems = 20 // of one file
)

// Problem is a file or line that was left out. Line is 0 for a whole file.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// line is an entry as it was read.
type line struct {
	Entry  Entry  `json:"entry"`
	Digest []byte `json:"digest"` // of what it says
}

// content is all that was read from a file, or what the cache has of it.
type content struct {
	Lines    []line    `json:"lines"`
	Problems []Problem `json:"problems,omitempty"`
	failed   bool      // the file could not be read to its end: another time it may be
}

// file is one of the folder, by its path from there.
type file struct {
	name     string
	size     int64
	modified int64 // nanoseconds since 1970
}

// list gives the regular files of a folder and of the folders in it, by name. Links are not followed: a repository may
// have one to anything.
func list(ctx context.Context, folder fs.FS) (files []file, err error) {
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case entry.IsDir() && (strings.Count(name, "/") > 0 || name != "." && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !entry.Type().IsRegular() || path.Ext(name) != suffix:
			return nil
		case len(files) == maximumFiles:
			return fmt.Errorf("more than %d files: put those of past months together", maximumFiles)
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // put together with others meanwhile
		}
		if err == nil {
			files = append(files, file{name, info.Size(), info.ModTime().UnixNano()})
		}
		return err
	})
	return files, err
}

// readFile reads all lines of a file. What can't be read is a problem of its own.
func readFile(folder fs.FS, name string, g Grouping) content {
	var c content
	opened, err := folder.Open(name)
	if err != nil {
		c.problem(name, 0, err.Error())
		c.failed = true
		return c
	}
	defer opened.Close()
	c.read(opened, name, g)
	return c
}

func (c *content) read(r io.Reader, name string, g Grouping) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		raw, whole, err := readLine(lines)
		for piece := range pieces(raw) {
			if read, wrong := parse(piece, g); wrong == nil && whole {
				c.Lines = append(c.Lines, read)
			} else {
				c.problem(name, number, reason(wrong, whole, errors.Is(err, io.EOF)))
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			c.problem(name, number, err.Error())
			c.failed = true
			return
		}
	}
}

// pieces parts a line where entries begin: one follows another in the same line where files were put together of which
// the first lacked its last line's end. No text can hold what they begin with: its quotes would have backslashes.
func pieces(raw []byte) iter.Seq[[]byte] {
	const begin = `{"format":"`
	return func(yield func([]byte) bool) {
		for raw = bytes.TrimSpace(raw); len(raw) > 0; {
			end := len(raw)
			if next := bytes.Index(raw[1:], []byte(begin)); next >= 0 {
				end = next + 1
			}
			if !yield(raw[:end]) {
				return
			}
			raw = raw[end:]
		}
	}
}

// readLine reads to the end of the line, and keeps no more of it than a line may have.
func readLine(r *bufio.Reader) (raw []byte, whole bool, err error) {
	for whole = true; ; {
		part, err := r.ReadSlice('\n')
		if whole = whole && len(raw)+len(part) <= maximumLine; whole {
			raw = append(raw, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return raw, whole, err
		}
	}
}

func reason(err error, whole, last bool) string {
	switch {
	case !whole:
		return fmt.Sprintf("a line of more than %d bytes", maximumLine)
	case last:
		return "the last line was not written to its end: " + err.Error()
	}
	return err.Error()
}

func (c *content) problem(name string, number int, text string) {
	if len(c.Problems) < maximumProblems {
		c.Problems = append(c.Problems, Problem{File: cut(name, maximumID), Line: number, Text: cut(text, maximumID)})
	}
}

// parse reads one line.
func parse(raw []byte, g Grouping) (line, error) {
	var e Entry
	err := json.Unmarshal(raw, &e)
	switch {
	case e.Format != "" && e.Format != Format: // whatever else is wrong: it means something else
		return line{}, fmt.Errorf("format %q is not known, only %s", cut(e.Format, 40), Format)
	case err != nil:
		return line{}, fmt.Errorf("not a line of a history: %w", err)
	}
	if err := e.check(); err != nil {
		return line{}, err
	}
	if e, err = e.bounded(); err != nil {
		return line{}, err
	}
	return line{e.regrouped(g), digest(raw)}, nil
}

// digest is of what a line says, without how often the run was triaged. No text can hold the key: its quotes would have
// backslashes.
func digest(raw []byte) []byte {
	const triaged = `"triaged":`
	raw = bytes.TrimSpace(raw)
	hash := sha256.New()
	if at := bytes.Index(raw, []byte(triaged)); at >= 0 {
		_, _ = hash.Write(raw[:at]) // never fails
		raw = bytes.TrimLeft(raw[at+len(triaged):], "0123456789")
	}
	_, _ = hash.Write(raw)
	return hash.Sum(nil)
}

// open gives a folder's files. One that isn't there yet has none.
func open(folder string) (root *os.Root, missing bool, err error) {
	root, err = os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("opening the history: %w", err)
	}
	return root, false, nil
}
