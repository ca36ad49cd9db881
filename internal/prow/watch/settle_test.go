package watch_test

import (
	"fmt"
	"testing"
	"time"

	"salve/internal/prow/finding"
)

// TestWhatComesAndGoesIsToldOnce: the better is told when it has stayed so, and what holds is in the report at once.
func TestWhatComesAndGoesIsToldOnce(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.options.Settle = 30 * time.Second
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(3 * time.Second)
		w.expect("blind C5", "blind GitHub", "new ALERT A2", "new WARN A1")
		w.remove("a")
		w.pass(20 * time.Second)
		if w.lastTold.Reached(finding.Info) {
			t.Error("what is gone is in the report")
		}
		w.pod("default", "a")
		w.pass(5 * time.Second)
		if !w.lastTold.Reached(finding.Alert) {
			t.Error("what is back is not in the report")
		}
		w.expect()
		w.remove("a")
		w.pod("test-pods", "a")
		w.pass(28 * time.Second)
		w.expect()
		w.pass(10 * time.Second)
		w.expect("gone ALERT A2", "gone WARN A1")
	})
}

// poll is what one poll says: of rule B3 a severity, or empty for UNKNOWN.
func poll(severity finding.Severity) (finding.List, []finding.Verdict) {
	verdict := finding.Verdict{Rule: "B3", Severity: severity}
	switch severity { //nolint:exhaustive // of the others there is no finding
	case "":
		verdict.Severity, verdict.Reason = finding.Unknown, "rate limit"
	case finding.Warn, finding.Alert:
		return finding.List{{Rule: "B3", Severity: severity, Message: "drift"}}, []finding.Verdict{verdict}
	}
	return nil, []finding.Verdict{verdict}
}

// TestWhatIsToldOfPolls is so what flickers: what gets better has to be so in two polls, one after the other.
func TestWhatIsToldOfPolls(t *testing.T) {
	const ok, warn, alert, unknown = finding.OK, finding.Warn, finding.Alert, finding.Severity("")
	for name, test := range map[string]struct {
		polls []finding.Severity
		want  []string
	}{
		"a share around its bound": {[]finding.Severity{warn, alert, warn, alert, warn, alert, warn, warn},
			[]string{"new WARN B3", "worse ALERT B3", "better WARN B3"}},
		"a finding that comes and goes": {[]finding.Severity{warn, ok, warn, ok, warn, ok, ok},
			[]string{"new WARN B3", "gone WARN B3"}},
		"a source that answers every other poll": {[]finding.Severity{ok, unknown, ok, unknown, ok, unknown, ok, ok},
			[]string{"blind B3", "sees B3"}},
		"what eases, and is gone then": {[]finding.Severity{alert, ok, warn, ok, ok, ok},
			[]string{"new ALERT B3", "better WARN B3", "gone WARN B3"}},
		"what gets worse again meanwhile": {[]finding.Severity{alert, ok, alert, warn, alert, ok},
			[]string{"new ALERT B3"}},
		"what nobody sees any more stays": {[]finding.Severity{alert, unknown, unknown, unknown},
			[]string{"new ALERT B3", "blind B3"}},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) {
				asked := 0
				w.options.Settle, w.options.Every = 30*time.Second, time.Minute
				w.options.Poller = pollerFunc(func() (finding.List, []finding.Verdict) {
					asked++
					return poll(test.polls[min(asked, len(test.polls))-1])
				})
				w.run()
				w.pass(time.Duration(len(test.polls)-1)*time.Minute + 50*time.Second)
				var got []string
				for _, change := range w.changes() {
					if change != "blind C5" && change != "blind GitHub" && change != "sees GitHub" {
						got = append(got, change)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(test.want) {
					t.Errorf("told %q, want %q", got, test.want)
				}
			})
		})
	}
}

// TestAGateIsOfWhatHolds and not of what was told.
func TestAGateIsOfWhatHolds(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		w.options.Settle = time.Hour
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(5 * time.Second)
		w.remove("a")
		w.pod("test-pods", "a")
		w.pass(10 * time.Second)
		w.stop()
		<-w.done
		if w.last.Reached(finding.Warn) {
			t.Errorf("at its end the watch has %+v", w.last.Findings)
		}
		for _, change := range w.changes() {
			if change == "gone ALERT A2" {
				t.Error("told too soon")
			}
		}
	})
}
