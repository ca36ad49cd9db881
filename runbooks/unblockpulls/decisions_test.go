package unblockpulls

import (
	"strings"
	"testing"

	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/runbook"
)

// TestNoStrays: an alarm decides whatever another rule lacks; without one, whatever a rule lacks is unknown, though it
// found something less bad.
// given is what rules found.
type given struct {
	strays   []string
	verdicts []finding.Verdict
	found    finding.List
}

func (g given) health() health {
	seen := health{Strays: g.strays}
	for _, verdict := range g.verdicts {
		seen.Verdicts = append(seen.Verdicts, ruleVerdictOf(verdict, g.found))
	}
	return seen
}

func TestNoStrays(t *testing.T) {
	verdicts := func(last finding.Verdict) []finding.Verdict {
		return []finding.Verdict{
			{Rule: stray.Stray, Severity: finding.OK}, {Rule: stray.Canary, Severity: finding.Warn},
			{Rule: stray.Podless, Severity: finding.Info}, {Rule: stray.Agree, Severity: finding.OK}, last,
		}
	}
	lack := finding.Lack{Reason: "not seen"}
	for rule, row := range map[string]struct {
		seen   given
		answer runbook.Answer
		says   string
	}{
		"all is well": {given{verdicts: verdicts(finding.Verdict{Rule: stray.Storm, Severity: finding.OK})},
			runbook.AnswerHolds, "no alarm of A1, A2, A3, A4"},
		"an alarm, though something is not seen": {given{
			verdicts: verdicts(finding.Verdict{Rule: stray.Storm, Severity: finding.Alert, Lack: lack}),
			found:    finding.List{{Rule: stray.Storm, Severity: finding.Alert, Message: "a storm"}},
		}, runbook.AnswerDoesNotHold, "A4 is ALERT: a storm"},
		"a severity that nobody knows": {given{verdicts: verdicts(finding.Verdict{Rule: stray.Storm, Severity: "odd"})},
			runbook.AnswerDoesNotHold, "A4 is odd"},
		"a rule that can't be asked": {given{
			verdicts: verdicts(finding.Verdict{Rule: stray.Storm, Severity: finding.Unknown, Lack: lack})},
			runbook.AnswerUnknown, "A4 unknown: not seen"},
		"a rule that warns, and lacks something": {given{
			verdicts: verdicts(finding.Verdict{Rule: stray.Storm, Severity: finding.Warn, Lack: lack})},
			runbook.AnswerUnknown, "A4 unknown: not seen"},
		"a rule that was not asked": {given{verdicts: verdicts(finding.Verdict{})[:3]}, runbook.AnswerUnknown,
			"3 of the rules"},
		"sources that disagree, about one job only": {given{
			verdicts: verdicts(finding.Verdict{Rule: stray.Agree, Severity: finding.Warn}),
			found:    finding.List{{Rule: stray.Agree, Severity: finding.Warn, Message: "1 ProwJob elsewhere"}},
		}, runbook.AnswerUnknown, "P4 unknown: 1 ProwJob elsewhere"},
		"strays that stand, without an alarm": {given{strays: []string{"a", "b", "c"},
			verdicts: verdicts(finding.Verdict{Rule: stray.Storm, Severity: finding.OK})}, runbook.AnswerDoesNotHold,
			"3 pods of Prow"},
	} {
		if got := noStrays(row.seen.health()); got.Answer != row.answer || !strings.Contains(got.Reason, row.says) {
			t.Errorf("%s: %s: %s", rule, got.Answer, got.Reason)
		}
	}
}
