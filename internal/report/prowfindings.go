package report

import (
	"fmt"
	"io"
	"strings"

	"salve/internal/prow/finding"
)

// ProwFindings writes what rules about a Prow instance found, the evidence and the mend
// below each, and then what the rules came to. Lines are wrapped at width columns; 0 is
// no limit.
func ProwFindings(out io.Writer, width int, found finding.List, verdicts []finding.Verdict) error {
	if err := found.Validate(); err != nil {
		return err
	}
	s := &textWriter{width: width}
	for _, f := range found.Printable() {
		s.finding(f)
	}
	s.ruleVerdicts(verdicts)
	return s.flush(out)
}

func (s *textWriter) finding(f finding.Finding) {
	head := pad(string(f.Severity), len(finding.Unknown)) + "  " + f.Rule
	for _, part := range []string{f.Position.String(), f.Subject.String()} {
		if part != "" && !strings.Contains(f.Message, part) && !strings.Contains(part, f.Message) {
			head += "  " + part
		}
	}
	s.line("%s", head)
	s.hang("    ", f.Message)
	for _, evidence := range f.Evidence {
		s.hang("    seen  ", evidence)
	}
	if f.Mend != "" {
		s.hang("    mend  ", f.Mend)
	}
}

// ruleVerdicts counts rules, and says which could not be asked, and why.
func (s *textWriter) ruleVerdicts(verdicts []finding.Verdict) {
	counts := map[finding.Severity]int{}
	lacking := map[string][]string{}
	var reasons []string
	for _, v := range verdicts {
		counts[v.Severity]++
		if v.Reason == "" {
			continue
		}
		if lacking[v.Reason] == nil {
			reasons = append(reasons, v.Reason)
		}
		lacking[v.Reason] = append(lacking[v.Reason], v.Rule)
	}
	s.line("%s", countsOf(len(verdicts), counts))
	for _, reason := range reasons {
		s.hang("    "+string(finding.Unknown)+"  ", fmt.Sprintf("%s: %s", strings.Join(lacking[reason], ", "), reason))
	}
}

// ProwVerdicts is the last line in words.
func ProwVerdicts(verdicts []finding.Verdict) string {
	counts := map[finding.Severity]int{}
	for _, v := range verdicts {
		counts[v.Severity]++
	}
	return countsOf(len(verdicts), counts)
}

func countsOf(rules int, counts map[finding.Severity]int) string {
	var words []string
	for _, severity := range []finding.Severity{finding.Alert, finding.Warn, finding.Unknown, finding.Info, finding.OK} {
		if counts[severity] > 0 {
			words = append(words, fmt.Sprintf("%d %s", counts[severity], severity))
		}
	}
	return Count(rules, "rule", "rules") + ": " + strings.Join(words, ", ") + "."
}
