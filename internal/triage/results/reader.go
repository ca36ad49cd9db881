package results

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Limits bound what is kept. A zero means the default.
type Limits struct {
	Message    int // bytes of a message, a name, a value
	Text       int // bytes of a failure's text and of an output, half of them head and half tail
	Open       int // cases that run at the same time
	OpenBytes  int // of texts of cases that run at the same time
	Attributes int // of a case
	Line       int // bytes of a line of go test -json
	Files      int // of all folders
}

func (l Limits) orDefault() Limits {
	for _, limit := range []struct {
		is        *int
		otherwise int
	}{
		{&l.Message, 4 << 10}, {&l.Text, 64 << 10}, {&l.Open, 200_000}, {&l.OpenBytes, 64 << 20},
		{&l.Attributes, 128}, {&l.Line, 1 << 20}, {&l.Files, 100_000},
	} {
		if *limit.is <= 0 {
			*limit.is = limit.otherwise
		}
	}
	return l
}

// Reader reads results.
type Reader struct {
	Stdin  io.Reader // what "-" stands for
	Limits Limits
	Note   func(Note) // told what is noteworthy about a file as a whole; may be nil
	// Observer sees the texts of all cases before they are shortened; may be nil.
	Observer Observer
}

// errStop is the consumer's wish, and no problem.
var errStop = errors.New("stopped")

// Cases gives each case of the paths, folders in order of their names. An error is a [Problem], and reading goes on
// with the next file: only the end of the context ends it all.
func (r Reader) Cases(ctx context.Context, paths ...string) iter.Seq2[Case, error] {
	r.Limits = r.Limits.orDefault()
	return func(yield func(Case, error) bool) {
		w := walk{reader: r, yield: yield, files: r.Limits.Files}
		for _, path := range paths {
			if err := w.path(ctx, path); err != nil {
				return
			}
		}
	}
}

// walk is one pass over the paths. Its functions' errors mean: stop.
type walk struct {
	reader Reader
	yield  func(Case, error) bool
	files  int
}

func (w *walk) refuse(p *Problem) error {
	if !w.yield(Case{}, p) {
		return errStop
	}
	return nil
}

func (w *walk) path(ctx context.Context, path string) error {
	if path == "-" {
		if w.reader.Stdin == nil {
			return w.refuse(&Problem{Place: Place{File: "-"}, Reason: "no standard input"})
		}
		return w.stream(ctx, "standard input", w.reader.Stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return w.refuse(unreadable(path, err))
	}
	switch {
	case info.IsDir():
		return w.folder(ctx, path)
	case !info.Mode().IsRegular() && !inherited(path): // a pipe that nobody writes to can't even be opened
		return w.refuse(&Problem{Place: Place{File: path}, Reason: "not a regular file; use - for standard input"})
	}
	return w.file(ctx, path)
}

// inherited says whether a path names what was opened already: standard input, or what a shell substitutes.
func inherited(path string) bool {
	path = filepath.ToSlash(filepath.Clean(path))
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// folder reads what lies below a folder, which may be a symbolic link itself. Links inside may lead anywhere, and a
// pipe may never end: they are counted.
func (w *walk) folder(ctx context.Context, root string) error {
	passed := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		path = filepath.Join(root, filepath.FromSlash(path))
		switch {
		case err != nil:
			return w.refuse(unreadable(path, err))
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			passed++
			return nil
		case w.files == 0:
			reason := fmt.Sprintf("more than %d files: the rest is not read", w.reader.Limits.Files)
			if err := w.refuse(&Problem{Place: Place{File: path}, Reason: reason}); err != nil {
				return err
			}
			return fs.SkipAll
		}
		w.files--
		return w.file(ctx, path)
	})
	if passed > 0 && w.reader.Note != nil {
		w.reader.Note(Note{Place{File: root}, counted(passed, "1 symbolic link, pipe or device inside is not read",
			"%d symbolic links, pipes or devices inside are not read")})
	}
	return err
}

func (w *walk) file(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return w.refuse(unreadable(path, err))
	}
	defer file.Close()
	return w.stream(ctx, path, file)
}

func (w *walk) stream(ctx context.Context, path string, in io.Reader) error {
	err := w.reader.parse(path, untilDone{ctx, in}, func(c Case) error {
		if !w.yield(c, nil) {
			return errStop
		}
		return nil
	})
	var problem *Problem
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errStop):
		return errStop
	case !errors.As(err, &problem):
		problem = unreadable(path, err)
	}
	return errors.Join(w.refuse(problem), ctx.Err())
}

// parse reads one stream of any kind.
func (r Reader) parse(path string, in io.Reader, emit func(Case) error) error {
	plain, err := decompress(in)
	if err != nil {
		return unreadable(path, err)
	}
	text, unknown := decode(plain)
	what, reason := sniff(text)
	if reason != "" {
		return &Problem{Place: Place{File: path}, Reason: reason}
	}
	f := file{path: path, in: text, limits: r.Limits, emit: emit, note: r.Note, observer: r.Observer,
		budget: &budget{r.Limits.OpenBytes}, seen: attempts{}}
	if unknown != "" && what == kindJUnit {
		f.noteAt(1, fmt.Sprintf("encoding %.40q is not known: bytes that are no ASCII or UTF-8 become U+FFFD", unknown))
	}
	switch what {
	case kindJUnit:
		return f.junit()
	case kindGoTest:
		return f.goTest()
	case kindLog:
		return f.log()
	}
	return f.problem(0, fmt.Sprintf("kind %q has no reader", what), nil)
}

// file is what the readers of all formats share.
type file struct {
	path     string
	in       *bufio.Reader
	limits   Limits
	emit     func(Case) error
	note     func(Note)
	observer Observer
	budget   *budget
	seen     attempts
}

func (f *file) buffer() *buffer { return &buffer{limit: f.limits.Text, budget: f.budget} }

func (f *file) problem(line int, reason string, err error) *Problem {
	return &Problem{Place: Place{f.path, line}, Reason: reason, Err: err}
}

func (f *file) noteAt(line int, text string) {
	if f.note != nil {
		f.note(Note{Place{f.path, line}, text})
	}
}

// short is a name, a value or a message as a case carries it.
func (f *file) short(c *Case, s string) string {
	s, long := cut(s, f.limits.Message)
	if long {
		c.Notes = append(c.Notes, fmt.Sprintf("a text is cut to %d bytes", f.limits.Message))
	}
	s, replaced := clean(s)
	c.Notes = append(c.Notes, replacedNote(replaced)...)
	return s
}

func unreadable(path string, err error) *Problem {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // the place says the path
	}
	return &Problem{Place: Place{File: path}, Reason: "can't be read: " + err.Error(), Err: err}
}

// untilDone ends reading when the context does.
type untilDone struct {
	ctx context.Context
	in  io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.in.Read(p)
}
