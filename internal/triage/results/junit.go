package results

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// junit reads JUnit XML in its many dialects. There is no binding schema: what is read of an element is what the
// writers in use put there, and what isn't known is passed over.
// https://github.com/testmoapp/junitxml lists the common ground; surefire adds reruns:
// https://maven.apache.org/surefire/maven-surefire-plugin/examples/rerun-failing-tests.html
func (f *file) junit() error {
	j := junit{file: f, xml: scanner{in: f.in, line: 1, limit: f.limits.Message}}
	err := j.run()
	if told := j.end(err); told != nil {
		return told
	}
	var syntax *malformed
	switch {
	case err == nil && j.lost != nil:
		return j.lost
	case err == nil, errors.Is(err, errStop):
		return err
	case errors.As(err, &syntax):
		return f.problem(syntax.line, syntax.reason, nil)
	}
	return f.broken(j.xml.line, err)
}

type junit struct {
	*file
	xml     scanner
	suites  []suite
	open    *junitCase
	into    *buffer // where text goes; nil: nowhere
	intoEnd int     // depth at which it stops
	key     *string // of a <property> whose value is its text
	value   *buffer
	rooted  bool
	lost    *Problem // the first suite that has less than it declares
}

// suite is an open <testsuite>.
type suite struct {
	name       string
	last       string // its own name
	attributes attributes
	unread     bool // it has output of its own, which belongs to no case
	declared   counts
	found      counts // also in the suites inside
	line       int
}

// junitCase is an open <testcase>.
type junitCase struct {
	Case
	attributes attributes
	results    int // elements that say how it ended
	failure    *buffer
	output     *buffer
	seen       observed
	rerun      *junitCase // the attempt that is open inside
	depth      int
}

func (j *junit) run() error {
	for {
		t, err := j.xml.next()
		switch {
		case errors.Is(err, io.EOF) && !j.rooted:
			return j.xml.malformed("no element")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch t.kind {
		case startToken:
			err = j.start(t)
		case endToken:
			err = j.close(t)
		case textToken:
			if j.into != nil {
				_, _ = j.into.Write(t.text)
				j.observe(t.line, t.text)
			}
		}
		if err != nil {
			return err
		}
	}
}

// end gives a case that the break cut through, if it is known already that it failed.
func (j *junit) end(err error) error {
	c := j.open
	if err == nil || errors.Is(err, errStop) || c == nil {
		return nil
	}
	defer c.seen.end()
	if c.rerun != nil {
		c.rerun.Notes = append(c.rerun.Notes, "cut off: the file breaks inside this case")
		if told := j.give(c.rerun); told != nil {
			return told
		}
	}
	if c.results == 0 || !c.Outcome.Failed() {
		return nil
	}
	c.Notes = append(c.Notes, "cut off: the file breaks inside this case")
	return j.give(c)
}

func (j *junit) start(t token) error {
	if len(j.xml.open) == 1 && t.name != "testsuites" && t.name != "testsuite" {
		return j.xml.malformed("the root element <%s> is not JUnit's", t.name)
	}
	j.rooted = true
	switch t.name {
	case "testsuites", "testsuite":
		if j.open != nil {
			return j.xml.malformed("<%s> inside the <testcase> of line %d", t.name, j.open.Origin.Line)
		}
		j.openSuite(t)
	case "testcase":
		if j.open != nil {
			return j.xml.malformed("<testcase> inside the <testcase> of line %d", j.open.Origin.Line)
		}
		j.open = j.newCase(t)
		j.count(counts{cases: 1})
	case "property":
		j.property(t)
	case "failure", "error", "skipped":
		if j.open != nil && j.open.rerun == nil {
			j.result(j.open, t)
		}
	case "flakyFailure", "flakyError", "rerunFailure", "rerunError":
		if j.open != nil && j.open.rerun == nil {
			j.openRerun(t)
		}
	case "system-out", "system-err":
		j.openOutput()
	}
	return nil
}

func (j *junit) close(t token) error {
	depth := len(j.xml.open)
	if j.into != nil && depth < j.intoEnd {
		j.into = nil
		if j.key != nil {
			value, _ := j.value.text()
			j.attribute(*j.key, strings.TrimSpace(value.Head))
			j.key = nil
		}
	}
	if j.open != nil && j.open.rerun != nil {
		if depth > j.open.rerun.depth {
			// The text of an attempt goes on after what is nested in it.
			if t.name == "system-out" || t.name == "system-err" {
				j.into, j.intoEnd = j.open.rerun.failure, j.open.rerun.depth+1
				j.open.rerun.seen.separate()
			}
			return nil
		}
		rerun := j.open.rerun
		j.open.rerun = nil
		return j.give(rerun)
	}
	switch t.name {
	case "testsuites", "testsuite":
		last := len(j.suites) - 1
		if s := j.suites[last]; s.unread {
			j.noteAt(t.line, fmt.Sprintf("output of suite %q belongs to no case and is not kept", s.name))
		}
		j.closeSuite()
	case "testcase":
		c := j.open
		j.open = nil
		return j.give(c)
	}
	return nil
}

// openSuite takes the properties of the suites around over: they hold for what is inside.
func (j *junit) openSuite(t token) {
	s := suite{last: t.attrs["name"], declared: declared(t), line: t.line}
	if len(j.suites) > 0 {
		above := j.suites[len(j.suites)-1]
		s.name, s.attributes.list = above.name, slices.Clone(above.attributes.list)
	}
	// The name of <testsuites> is that of the tool or of the run, which changes.
	if name, _ := clean(t.attrs["name"]); t.name == "testsuite" && name != "" {
		s.name = strings.TrimPrefix(s.name+"/"+name, "/")
		s.name, _ = cut(s.name, j.limits.Message)
	}
	j.suites = append(j.suites, s)
	if host := t.attrs["hostname"]; host != "" {
		j.attribute("hostname", host)
	}
}

func (j *junit) newCase(t token) *junitCase {
	c := &junitCase{failure: j.buffer(), output: j.buffer(), seen: j.observed(), depth: len(j.xml.open) - 1}
	c.Outcome = Pass
	c.Origin = Place{j.path, t.line}
	if len(j.suites) > 0 {
		within := j.suites[len(j.suites)-1]
		c.Suite, c.attributes.list = within.name, slices.Clone(within.attributes.list)
	}
	for _, name := range slices.Sorted(maps.Keys(t.attrs)) {
		value := j.short(&c.Case, t.attrs[name])
		switch name {
		case "name":
			c.Name = value
		case "classname":
			c.Class = value
		case "file":
			c.File = value
		case "line":
			c.Line, _ = strconv.Atoi(value)
		case "time":
			c.Duration = seconds(value)
		case "status", "result":
			var known bool
			if c.Outcome, known = outcomeOfStatus(value); !known {
				c.Notes = append(c.Notes, fmt.Sprintf("status %q is not known: the elements inside tell the outcome", value))
			}
		case "timestamp":
			c.Ended, _ = time.Parse(time.RFC3339, value) // without a zone it says nothing that can be compared
		case "assertions", "id", "duration", "class":
		default: // pytest and others write what a test records as attributes
			c.attributes.set(name, value, j.limits.Attributes)
		}
	}
	return c
}

// outcomeOfStatus reads GoogleTest's and others' word for it.
func outcomeOfStatus(status string) (outcome Outcome, known bool) {
	switch strings.ToLower(status) {
	case "disabled", "skipped", "notrun", "ignored", "pending", "suppressed":
		return Skip, true
	case "failed", "fail", "failure":
		return Fail, true
	case "errored", "error", "aborted", "broken", "crashed", "timeout", "timedout":
		return Error, true
	case "", "passed", "pass", "success", "ok", "run", "completed":
		return Pass, true
	}
	return Pass, false
}

// seconds reads a time as writers put it: "1,234.5" is one as well.
func seconds(value string) time.Duration {
	n, err := strconv.ParseFloat(strings.ReplaceAll(value, ",", ""), 64)
	if err != nil || n < 0 || n > 1e9 || n != n {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// result is one of possibly several: the worst is the outcome, and the first of that kind has the message.
func (j *junit) result(c *junitCase, t token) {
	outcome := map[string]Outcome{"failure": Fail, "error": Error, "skipped": Skip}[t.name]
	c.results++
	if outcome.Failed() {
		j.count(counts{failed: 1})
	}
	if c.results == 1 || outcome.severity() > c.Outcome.severity() {
		c.Outcome = outcome
		c.Message, c.Type = j.short(&c.Case, t.attrs["message"]), j.short(&c.Case, t.attrs["type"])
	}
	if c.Attempt == 0 && outcome.Failed() {
		c.Attempt = j.seen.next(&c.Case) // before the reruns that follow
	}
	j.into, j.intoEnd = c.failure, len(j.xml.open)
	c.seen.message(t)
}

// openRerun begins another attempt of the open case: a flaky… came before the pass, a rerun… after the failure.
func (j *junit) openRerun(t token) {
	rerun := &junitCase{Case: j.open.Case, failure: j.buffer(), output: j.buffer(), seen: j.observed(),
		depth: len(j.xml.open) - 1}
	rerun.attributes.list = slices.Clone(j.open.attributes.list)
	rerun.Notes, rerun.Duration, rerun.Origin.Line = nil, seconds(t.attrs["time"]), t.line
	rerun.results, rerun.Outcome = 1, Fail
	if strings.HasSuffix(t.name, "Error") {
		rerun.Outcome = Error
	}
	rerun.Message, rerun.Type = j.short(&rerun.Case, t.attrs["message"]), j.short(&rerun.Case, t.attrs["type"])
	rerun.Attempt = j.seen.next(&rerun.Case)
	j.open.rerun = rerun
	j.count(counts{failed: 1})
	j.into, j.intoEnd = rerun.failure, len(j.xml.open)
	rerun.seen.message(t)
}

func (j *junit) openOutput() {
	switch {
	case j.open != nil && j.open.rerun != nil:
		j.into = j.open.rerun.output
		j.open.rerun.seen.separate()
	case j.open != nil:
		j.into = j.open.output
		j.open.seen.separate()
	default:
		if len(j.suites) > 0 {
			j.suites[len(j.suites)-1].unread = true
		}
		return
	}
	j.intoEnd = len(j.xml.open)
}

// observe tells of a text of the open case; the value of a property is none.
func (j *junit) observe(line int, text []byte) {
	switch {
	case j.open == nil || j.key != nil:
	case j.open.rerun != nil:
		j.open.rerun.seen.text(line, text)
	default:
		j.open.seen.text(line, text)
	}
}

// property is an attribute of the case or of the suite that it stands in.
func (j *junit) property(t token) {
	name, value := t.attrs["name"], t.attrs["value"]
	if _, has := t.attrs["value"]; has || j.into != nil {
		j.attribute(name, value)
		return
	}
	j.key = &name
	j.value = &buffer{limit: 2 * j.limits.Message, budget: j.budget}
	j.into, j.intoEnd = j.value, len(j.xml.open)
}

func (j *junit) attribute(name, value string) {
	to := &j.suites[len(j.suites)-1].attributes
	c := &Case{}
	if j.open != nil {
		to, c = &j.open.attributes, &j.open.Case
	}
	to.set(j.short(c, name), j.short(c, value), j.limits.Attributes)
}

// give ends a case.
func (j *junit) give(c *junitCase) error {
	failure, output := 0, 0
	c.Failure, failure = c.failure.text()
	c.Output, output = c.output.text()
	c.Notes = append(c.Notes, replacedNote(failure+output)...)
	c.Observation = c.seen.end()
	c.Attributes = c.attributes.list
	if c.attributes.dropped > 0 {
		c.Notes = append(c.Notes, counted(c.attributes.dropped, "1 attribute left out", "%d attributes left out"))
	}
	if c.results > 1 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d results in one case: the worst counts", c.results))
	}
	if c.Message == "" && c.Outcome != Pass {
		c.Message, _ = cut(firstLine(c.Failure.Head), j.limits.Message)
	}
	if c.Attempt == 0 {
		c.Attempt = j.seen.next(&c.Case)
	}
	return j.emit(c.Case)
}

// firstLine is the first that isn't blank.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
