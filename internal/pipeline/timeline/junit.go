package timeline

import (
	"encoding/xml"
	"fmt"
	"io"

	"salve/journal"
)

// suites is JUnit's document, as far as the systems that read it agree on it.
type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []*suite `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
	Began    string     `xml:"timestamp,attr"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr"`
	Failure *problem `xml:"failure,omitempty"`
	Error   *problem `xml:"error,omitempty"`
	Skipped *problem `xml:"skipped,omitempty"`
}

type problem struct {
	Message string `xml:"message,attr"`
}

// JUnit writes a run's steps as test cases, those of a resource group as a suite. A
// step that failed is a failure, one of which nobody knows what became of it an
// error, and one that was left out or never began is skipped. Where the work was done by other runs, the steps are
// theirs.
func JUnit(w io.Writer, history *journal.History, parts ...Part) error {
	c, err := readWhole(history, parts)
	if err != nil {
		return err
	}
	all := suites{Name: history.Header.Target.Name, Time: seconds(c.ended.Sub(c.began).Seconds())}
	groups, times := map[string]*suite{}, map[string]float64{}
	for _, at := range c.steps {
		group := groups[at.group]
		if group == nil {
			group = &suite{Name: at.group, Began: c.began.UTC().Format("2006-01-02T15:04:05")}
			groups[at.group] = group
			all.Suites = append(all.Suites, group)
		}
		times[at.group] += at.took().Seconds()
		group.Time = seconds(times[at.group])
		group.add(at)
	}
	for _, group := range all.Suites {
		all.Tests += group.Tests
		all.Failures += group.Failures
		all.Errors += group.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	_, err = io.WriteString(w, "\n")
	return err
}

func (s *suite) add(at *step) {
	one := testcase{Class: at.group, Name: at.name, Time: seconds(at.took().Seconds())}
	switch at.result {
	case journal.Failure:
		one.Failure = &problem{at.reason}
		s.Failures++
	case journal.Unknown:
		one.Error = &problem{at.reason}
		s.Errors++
	case journal.Skipped:
		one.Skipped = &problem{at.reason}
		s.Skipped++
	case "":
		one.Skipped = &problem{"it did not begin"}
		s.Skipped++
	default: // done
	}
	s.Tests++
	s.Cases = append(s.Cases, one)
}

func seconds(value float64) string { return fmt.Sprintf("%.3f", value) }
