package results

import (
	"fmt"
	"strconv"
)

// MissingCases says that a suite of JUnit has less than it declares: what wrote it lost the rest. It lies behind a
// [Problem] that has the place of the suite.
type MissingCases struct {
	Suite           string
	Declared, Found int // cases; equal where only failures are missing
}

func (m *MissingCases) Error() string {
	return fmt.Sprintf("suite %q declares %d cases and has %d", m.Suite, m.Declared, m.Found)
}

// counts are of a suite, as it declares or has them. Failed are results, of which a case may have several.
type counts struct{ cases, failed int }

func declared(t token) counts {
	number := func(name string) int {
		n, err := strconv.Atoi(t.attrs[name])
		if err != nil || n < 0 || n > 1e9 {
			return 0
		}
		return n
	}
	// @web/test-runner counts a failure as an error as well.
	return counts{number("tests"), max(number("failures"), number("errors"))}
}

// count adds what stands in the innermost suite.
func (j *junit) count(more counts) {
	if len(j.suites) > 0 {
		found := &j.suites[len(j.suites)-1].found
		found.cases += more.cases
		found.failed += more.failed
	}
}

// closeSuite compares what a suite declares with what stands in it and in those inside, which some writers count in
// and some don't. More than is declared is no loss.
func (j *junit) closeSuite() {
	last := len(j.suites) - 1
	s := j.suites[last]
	j.suites = j.suites[:last]
	j.count(s.found)
	missing := &MissingCases{s.name, s.declared.cases, s.found.cases}
	reason := missing.Error()
	// pytest counts subtests, which are no cases: https://github.com/pytest-dev/pytest-subtests
	subtests := s.last == "pytest" && s.found.cases > 0
	switch {
	case j.lost != nil:
		return
	case !subtests && s.declared.cases > s.found.cases:
	case s.declared.failed > s.found.failed:
		missing.Declared = missing.Found
		reason = fmt.Sprintf("suite %q declares %d failures or errors and has %d",
			s.name, s.declared.failed, s.found.failed)
	default:
		return
	}
	j.lost = j.problem(s.line, reason, missing)
}
