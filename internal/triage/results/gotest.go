package results

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// event is a line of go test -json: https://pkg.go.dev/cmd/test2json, and the build's of go help buildjson.
type event struct {
	Time        moment
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
	Key, Value  string
}

// moment is a time that doesn't matter enough to refuse an event over it.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(text []byte) error {
	if err := m.Time.UnmarshalJSON(text); err != nil {
		m.Time = time.Time{}
	}
	return nil
}

// known tells an event from any other JSON that a test prints.
func (e event) known() bool {
	switch e.Action {
	case "start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "attr", "artifacts":
		return e.Package != "" || e.Test != ""
	case "build-output", "build-fail":
		return e.ImportPath != ""
	}
	return false
}

// goTest reads the events of many packages, which may come mixed.
func (f *file) goTest() error {
	g := goTest{file: f, packages: map[string]*goPackage{}, builds: map[string]*goBuild{}, stray: f.buffer()}
	err := g.run()
	if errors.Is(err, errStop) {
		return err
	}
	if told := g.end(); told != nil {
		return told
	}
	return err
}

type goTest struct {
	*file
	line     int
	packages map[string]*goPackage // that have not ended
	open     int                   // their tests
	builds   map[string]*goBuild   // by import path
	stray    *buffer               // lines that are no events: standard error between them
	strays   int
}

// goPackage is a package that runs.
type goPackage struct {
	tests  map[string]*goCase
	output *buffer
	seen   observed
	line   int
	failed bool // a test of it did
}

// goBuild is the build of one package, which may make several fail.
type goBuild struct {
	output *buffer
	line   int
	failed bool
	told   bool // a package that it made fail was given
}

// goCase is a test that runs.
type goCase struct {
	Case
	attributes attributes
	output     *buffer
	seen       observed
	invalid    bool // its output was no UTF-8 or had NULs, which are replaced before it is known where
}

func (g *goTest) run() error {
	for {
		line, long, err := g.readLine()
		if len(line) > 0 {
			g.line++
			if told := g.take(line, long); told != nil {
				return told
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return g.broken(g.line, err)
		}
	}
}

// readLine reads a line; of one that is too long it gives the beginning.
func (g *goTest) readLine() (line []byte, long bool, err error) {
	line, err = g.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, false, err
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		var piece []byte
		piece, err = g.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > g.limits.Line; !long {
			line = append(line, piece...)
		}
	}
	return line, long, err
}

func (g *goTest) take(line []byte, long bool) error {
	var e event
	trimmed := withoutNUL(line)
	invalid := !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0
	if len(trimmed) == 0 {
		return nil
	}
	if long || trimmed[0] != '{' || json.Unmarshal(trimmed, &e) != nil || !e.known() {
		if g.strays == 0 {
			g.noteAt(g.line, "a line that is no event of go test -json (the first one)")
		}
		g.strays++
		_, _ = g.stray.Write(line)
		return nil
	}
	if e.Action == "build-output" || e.Action == "build-fail" {
		return g.build(e)
	}
	p, err := g.pkg(e.Package)
	if err != nil {
		return err
	}
	if e.Test == "" {
		return g.ofPackage(p, e, invalid)
	}
	c, err := g.test(p, e)
	if err != nil {
		return err
	}
	c.invalid = c.invalid || invalid
	c.Ended = e.Time.Time
	return g.ofTest(p, c, e)
}

func (g *goTest) pkg(name string) (*goPackage, error) {
	p := g.packages[name]
	if p == nil {
		if len(g.packages) >= g.limits.Open {
			return nil, g.problem(g.line, fmt.Sprintf("more than %d packages run at once", g.limits.Open), nil)
		}
		p = &goPackage{tests: map[string]*goCase{}, output: g.buffer(), seen: g.observed(), line: g.line}
		g.packages[name] = p
	}
	return p, nil
}

// test is the open one, begun by its first event: "run" may be missing, as gotestsum's own data show.
func (g *goTest) test(p *goPackage, e event) (*goCase, error) {
	if c := p.tests[e.Test]; c != nil {
		return c, nil
	}
	if g.open >= g.limits.Open {
		return nil, g.problem(g.line, fmt.Sprintf("more than %d tests run at once", g.limits.Open), nil)
	}
	c := &goCase{output: g.buffer(), seen: g.observed()}
	c.Origin = Place{g.path, g.line}
	c.Name, c.Suite = g.short(&c.Case, e.Test), g.short(&c.Case, e.Package)
	p.tests[e.Test] = c
	g.open++
	if parent := p.tests[e.Test[:max(0, strings.LastIndexByte(e.Test, '/'))]]; parent != nil {
		parent.Subtests = true
	}
	return c, nil
}

func (g *goTest) ofTest(p *goPackage, c *goCase, e event) error {
	switch e.Action {
	case "output":
		_, _ = io.WriteString(c.output, e.Output)
		c.seen.string(g.line, e.Output)
	case "attr":
		c.attributes.set(g.short(&c.Case, e.Key), g.short(&c.Case, e.Value), g.limits.Attributes)
	case "pass", "bench":
		return g.give(p, e.Test, Pass, e.Elapsed)
	case "skip":
		return g.give(p, e.Test, Skip, e.Elapsed)
	case "fail":
		p.failed = true
		return g.give(p, e.Test, Fail, e.Elapsed)
	}
	return nil
}

func (g *goTest) give(p *goPackage, test string, outcome Outcome, elapsed float64) error {
	c := p.tests[test]
	delete(p.tests, test)
	g.open--
	c.Outcome, c.Duration = outcome, duration(elapsed)
	c.Attempt = g.seen.next(&c.Case)
	return g.emitCase(c)
}

func (g *goTest) emitCase(c *goCase) error {
	var replaced int
	c.Output, replaced = c.output.text()
	c.Notes = append(c.Notes, replacedNote(replaced)...)
	if c.invalid {
		c.Notes = append(c.Notes, "bytes that are no UTF-8, or NULs, replaced by U+FFFD")
	}
	c.Observation = c.seen.end()
	c.Attributes = c.attributes.list
	if c.attributes.dropped > 0 {
		c.Notes = append(c.Notes, counted(c.attributes.dropped, "1 attribute left out", "%d attributes left out"))
	}
	if c.Outcome != Pass {
		g.explain(&c.Case)
	}
	return g.emit(c.Case)
}

// explain takes message, text and place of a failure out of the output.
func (g *goTest) explain(c *Case) {
	found := failureIn(c.Output)
	c.Message, _ = cut(cmp.Or(found.message, c.Message), g.limits.Message)
	c.File, c.Line, c.Failure = found.file, found.line, found.text
}

func duration(elapsed float64) time.Duration {
	if elapsed < 0 || elapsed > 1e9 {
		return 0
	}
	return time.Duration(elapsed * float64(time.Second))
}

func (g *goTest) ofPackage(p *goPackage, e event, invalid bool) error {
	switch e.Action {
	case "output":
		_, _ = io.WriteString(p.output, e.Output)
		p.seen.string(g.line, e.Output)
		return nil
	case "pass", "skip", "fail":
		return g.closePackage(p, e, invalid)
	}
	return nil
}

// closePackage ends the tests that have no end of their own, and gives the package itself where no test says why it
// failed: a build, TestMain, a panic between tests, a timeout.
func (g *goTest) closePackage(p *goPackage, e event, invalid bool) error {
	delete(g.packages, e.Package)
	if e.Action == "fail" {
		if err := g.abandon(p, Error, "no result: the package ended first"); err != nil {
			return err
		}
	} else if err := g.abandon(p, Skip, "no result, though the package passed: not counted as a pass"); err != nil {
		return err
	}
	if e.Action != "fail" || p.failed {
		p.output.text() // gives the bytes back
		p.seen.end()
		return nil
	}
	c := g.newPackageCase(e.Package, p)
	c.invalid, c.Duration, c.Ended = invalid, duration(e.Elapsed), e.Time.Time
	if build := g.builds[e.FailedBuild]; build != nil {
		build.told = true
		c.quote(build.output, build.line)
	} else if g.strays > 0 { // before Go 1.24 builds told of their failures beside the events
		c.quote(g.stray, p.line)
		c.Notes = append(c.Notes, "with lines that stood between the events")
	}
	c.Attempt = g.seen.next(&c.Case)
	return g.emitCase(c)
}

// newPackageCase is a package that failed by itself.
func (g *goTest) newPackageCase(name string, p *goPackage) *goCase {
	c := &goCase{output: p.output, seen: p.seen}
	c.Suite, c.Origin, c.Outcome = g.short(&c.Case, name), Place{g.path, p.line}, Error
	return c
}

// quote adds what is kept of a text that several packages share.
func (c *goCase) quote(text *buffer, line int) {
	text.copyTo(c.output)
	c.seen.separate()
	text.copyTo(writer(func(p []byte) { c.seen.text(line, p) }))
}

// writer makes a writer of what takes bytes.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// abandon gives the open tests of a package, which have no result.
func (g *goTest) abandon(p *goPackage, outcome Outcome, why string) error {
	for _, name := range slices.Sorted(maps.Keys(p.tests)) {
		p.tests[name].Notes = append(p.tests[name].Notes, why)
		p.tests[name].Unfinished = true
		if outcome.Failed() {
			p.tests[name].Message = why
		}
		if err := g.give(p, name, outcome, 0); err != nil {
			return err
		}
	}
	return nil
}

// build keeps what the builds of failing packages said. Their number is that of packages.
func (g *goTest) build(e event) error {
	b := g.builds[e.ImportPath]
	if b == nil {
		if len(g.builds) >= g.limits.Open {
			return g.problem(g.line, fmt.Sprintf("more than %d builds fail", g.limits.Open), nil)
		}
		b = &goBuild{output: g.buffer(), line: g.line}
		g.builds[e.ImportPath] = b
	}
	b.failed = b.failed || e.Action == "build-fail"
	_, _ = io.WriteString(b.output, e.Output)
	return nil
}

// end is where the events end: a package without an end was killed, or the file was cut.
func (g *goTest) end() error {
	for _, name := range slices.Sorted(maps.Keys(g.packages)) {
		p := g.packages[name]
		if err := g.abandon(p, Error, "no result: the events end first"); err != nil {
			return err
		}
		if p.failed {
			p.seen.end()
			continue
		}
		c := g.newPackageCase(name, p)
		c.Message, c.Attempt = "no result: the events end first", g.seen.next(&c.Case)
		c.Unfinished = true
		if err := g.emitCase(c); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(g.builds)) {
		b := g.builds[path]
		if !b.failed || b.told {
			continue
		}
		c := g.newPackageCase(path, &goPackage{output: g.buffer(), seen: g.observed(), line: b.line})
		c.quote(b.output, b.line)
		c.Attempt = g.seen.next(&c.Case)
		if err := g.emitCase(c); err != nil {
			return err
		}
	}
	if g.strays > 0 {
		g.noteAt(g.line, counted(g.strays, "1 line is no event of go test -json", "%d lines are no events of go test -json"))
	}
	return nil
}
