package replay

import (
	"encoding/xml"
	"fmt"
	"io"
)

// The JUnit document, as far as the systems that read it agree on it.
type (
	junit struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []*group `xml:"testsuite"`
	}
	group struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testcase `xml:"testcase"`
		Out      string     `xml:"system-out,omitempty"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure,omitempty"`
		Error   *message `xml:"error,omitempty"`
		Out     string   `xml:"system-out,omitempty"`
	}
	message struct {
		Text string `xml:"message,attr"`
	}
)

// JUnit writes a suite: a test suite for each runbook and one for triage, a test case for each record. What diverged is
// a failure, what could not be replayed an error.
func (s *Suite) JUnit(w io.Writer) error {
	all := &junit{Name: "salve replay"}
	groups := map[string]*group{}
	for _, one := range s.Cases {
		name := one.Result.Runbook
		switch {
		case one.Triage != nil:
			name = "triage"
		case name == "":
			name = "unreadable"
		}
		in := groups[name]
		if in == nil {
			in = &group{Name: name}
			groups[name] = in
			all.Suites = append(all.Suites, in)
			for _, guard := range s.NeverRefused[name] {
				in.Out += fmt.Sprintf("warning: no record saw guard %s refuse\n", guard)
			}
		}
		in.add(one)
	}
	for _, in := range all.Suites {
		all.Tests, all.Failures, all.Errors = all.Tests+in.Tests, all.Failures+in.Failures, all.Errors+in.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return fmt.Errorf("writing JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (g *group) add(one Case) {
	g.Tests++
	row := testcase{Class: g.Name, Name: one.Name}
	for _, remark := range one.Result.Remarks {
		row.Out += "remark: " + remark + "\n"
	}
	switch {
	case one.Err != "":
		g.Errors++
		row.Error = &message{one.Err}
	case one.Verdict() == Diverged:
		g.Failures++
		row.Failure = &message{one.Reason()}
	case one.Verdict() != Same:
		g.Errors++
		row.Error = &message{string(one.Verdict()) + ": " + one.Reason()}
	}
	g.Cases = append(g.Cases, row)
}
