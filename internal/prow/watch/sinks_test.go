package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"salve/internal/clock"
	"salve/internal/prow/finding"
	"salve/internal/prow/stray"
	"salve/internal/prow/watch"
)

// aReport has each kind of change. Names come from clusters: some steer a terminal.
func aReport() watch.Report {
	blind := finding.Lack{Reason: "pods are not seen:\n\x1b[2Jconnection refused"}
	astray := finding.Finding{Rule: "A1", Severity: finding.Alert, Message: "3 pods in \x1b[31mdefault",
		Subject: finding.Subject{Namespace: "default"}, Evidence: []string{"default/a\x07"}, Mend: "roll back"}
	warned := astray
	warned.Rule, warned.Severity = "A3", finding.Warn
	verdict := func(rule string) watch.Change {
		return watch.Change{What: watch.Blinded, Verdict: finding.Verdict{Rule: rule, Severity: finding.Unknown, Lack: blind}}
	}
	return watch.Report{
		At: time.Date(2019, time.February, 5, 8, 47, 3, 0, time.UTC), Findings: finding.List{astray, warned},
		Verdicts: []finding.Verdict{{Rule: "A1", Severity: finding.Alert, Findings: 1},
			{Rule: "A2", Severity: finding.Unknown, Lack: blind},
			{Rule: "C5", Severity: finding.Unknown, Lack: finding.Lack{Reason: "needs --manifests", NotGiven: true}}},
		Counts: stray.Counts{Pods: 40, Strays: 3, Jobs: 30, Pending: 20},
		Changes: []watch.Change{
			{What: watch.Appeared, Finding: astray}, {What: watch.Worsened, Finding: astray, Was: finding.Warn},
			verdict("A2"), verdict("A5"), {What: watch.Sighted, Verdict: finding.Verdict{Rule: "A4", Severity: finding.OK}},
			{What: watch.Eased, Finding: warned, Was: finding.Alert}, {What: watch.Cleared, Finding: warned, Was: finding.Warn},
		},
	}
}

func TestLines(t *testing.T) {
	var out strings.Builder
	if err := (watch.Lines{Out: &out}).Tell(t.Context(), aReport()); err != nil {
		t.Fatal(err)
	}
	want := `2019-02-05T08:47:03Z  new     ALERT    A1  namespace=default: 3 pods in �[31mdefault. hint: roll back
2019-02-05T08:47:03Z  worse   ALERT    A1  namespace=default: 3 pods in �[31mdefault (was WARN). hint: roll back
2019-02-05T08:47:03Z  blind   UNKNOWN  A2, A5  pods are not seen: �[2Jconnection refused
2019-02-05T08:47:03Z  sees    OK       A4
2019-02-05T08:47:03Z  better  WARN     A3  namespace=default: 3 pods in �[31mdefault (was ALERT)
2019-02-05T08:47:03Z  gone    WARN     A3  namespace=default: 3 pods in �[31mdefault
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestWhatIsWorseHasALineOfItsOwn: one reason may lie behind an alarm and behind what is not known.
func TestWhatIsWorseHasALineOfItsOwn(t *testing.T) {
	blind := func(rule string, severity finding.Severity) watch.Change {
		return watch.Change{What: watch.Blinded, Verdict: finding.Verdict{Rule: rule, Severity: severity,
			Lack: finding.Lack{Reason: "pods are not seen"}}}
	}
	report := aReport()
	report.Changes = []watch.Change{blind("A1", finding.Alert), blind("A2", finding.Unknown), blind("A5", finding.Unknown)}
	var out strings.Builder
	if err := (watch.Lines{Out: &out}).Tell(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	want := `2019-02-05T08:47:03Z  blind   ALERT    A1  pods are not seen
2019-02-05T08:47:03Z  blind   UNKNOWN  A2, A5  pods are not seen
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestJSONLines(t *testing.T) {
	var out strings.Builder
	if err := (watch.JSON{Out: &out}).Tell(t.Context(), aReport()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(aReport().Changes) {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	for _, line := range lines {
		if strings.Contains(line, `\u001b`) || strings.Contains(line, `\u0007`) {
			t.Errorf("it steers a terminal: %s", line)
		}
	}
	var first, blind map[string]any
	for line, into := range map[int]*map[string]any{0: &first, 2: &blind} {
		if err := json.Unmarshal([]byte(lines[line]), into); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := first["finding"].(map[string]any)
	if first["change"] != "new" || first["rule"] != "A1" || first["severity"] != "ALERT" || found["evidence"] == nil {
		t.Errorf("%v", first)
	}
	if blind["change"] != "blind" || blind["rule"] != "A2" || blind["severity"] != "UNKNOWN" || blind["finding"] != nil ||
		blind["reason"] != "pods are not seen: �[2Jconnection refused" {
		t.Errorf("%v", blind)
	}
}

// TestMetricsAreLevels: a finding that is gone is 0, and not absent.
func TestMetricsAreLevels(t *testing.T) {
	metrics := watch.NewMetrics()
	scrape := func() string {
		answer := httptest.NewRecorder()
		metrics.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		var lines []string
		for line := range strings.Lines(answer.Body.String()) {
			if strings.HasPrefix(line, "salve_") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	if text := scrape(); strings.Contains(text, "findings") {
		t.Errorf("before the first report: %s", text)
	}
	for _, report := range []watch.Report{aReport(), {At: time.Unix(2_000_000_000, 0), Verdicts: []finding.Verdict{
		{Rule: "A1", Severity: finding.OK}, {Rule: "A2", Severity: finding.OK}}}} {
		if err := metrics.Tell(t.Context(), report); err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted(len(report.Findings) > 0) {
			if text := scrape(); !strings.Contains(text, want+"\n") {
				t.Errorf("%s is not in:\n%s", want, text)
			}
		}
	}
}

func wanted(found bool) []string {
	if found {
		return []string{`salve_prow_findings{rule="A1",severity="ALERT"} 1`, `salve_prow_findings{rule="A1",severity="WARN"} 0`,
			`salve_prow_findings{rule="A3",severity="WARN"} 1`, `salve_prow_findings{rule="A2",severity="ALERT"} 0`,
			`salve_prow_findings{rule="A2",severity="INFO"} 0`, `salve_prow_rule_unknown{rule="A1"} 0`,
			`salve_prow_rule_unknown{rule="A2"} 1`, `salve_prow_rule_not_given{rule="A2"} 0`,
			`salve_prow_rule_unknown{rule="C5"} 0`, `salve_prow_rule_not_given{rule="C5"} 1`, `salve_prow_objects{kind="stray"} 3`,
			`salve_prow_last_evaluation_timestamp_seconds 1.549356423e+09`}
	}
	return []string{`salve_prow_findings{rule="A1",severity="ALERT"} 0`, `salve_prow_findings{rule="A3",severity="WARN"} 0`,
		`salve_prow_rule_unknown{rule="A2"} 0`, `salve_prow_objects{kind="stray"} 0`,
		`salve_prow_last_evaluation_timestamp_seconds 2e+09`}
}

func TestEventsAreOfWhatHurts(t *testing.T) {
	client := fake.NewClientset()
	// A fake gives no names.
	made := []*corev1.Event{}
	client.PrependReactor("create", "events", func(action ktesting.Action) (bool, runtime.Object, error) {
		event, ok := action.(ktesting.CreateAction).GetObject().(*corev1.Event)
		if ok {
			made = append(made, event)
		}
		return true, event, nil
	})
	report := aReport()
	info := watch.Change{What: watch.Appeared, Finding: finding.Finding{Rule: "C4", Severity: finding.Info, Message: "m"}}
	long := watch.Change{What: watch.Appeared, Finding: finding.Finding{Rule: "A4", Severity: finding.Warn,
		Message: strings.Repeat("ä", 2000)}}
	report.Changes = append(report.Changes, info, long)
	sink := watch.Events{Client: client, Namespace: "prow", Clock: clock.Real{}}
	if err := sink.Tell(t.Context(), report); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, event := range made {
		if event.Namespace != "prow" || event.InvolvedObject.Namespace != "prow" || len(event.Message) > 1024 ||
			strings.ContainsAny(event.Message, "\x1b\x07\n") || !strings.HasPrefix(event.GenerateName, "salve-prow-watch-") {
			t.Errorf("%+v", event)
		}
		got = append(got, event.Type+" "+event.Reason+" "+strings.SplitN(event.Message, ":", 2)[0])
	}
	if whole := "new ALERT: namespace=default: 3 pods in �[31mdefault. hint: roll back"; made[0].Message != whole {
		t.Errorf("got %q, want %q", made[0].Message, whole)
	}
	want := []string{"Warning ProwA1 new ALERT", "Warning ProwA1 worse ALERT", "Normal ProwA3 better WARN",
		"Normal ProwA3 gone WARN", "Warning ProwA4 new WARN"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAnEventThatIsRefusedIsSaid and ends nothing: the other sinks are told all the same.
func TestAnEventThatIsRefusedIsSaid(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "events", func(ktesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("events is forbidden")
	})
	inVirtualTime(t, func(w *world) {
		var said []string
		w.options.Warn = func(text string) { said = append(said, text) }
		w.options.Sinks = append([]watch.Sink{watch.Events{Client: client, Namespace: "prow", Clock: clock.Real{}}},
			w.options.Sinks...)
		w.run()
		w.job("a")
		w.pod("default", "a")
		w.pass(10 * time.Second)
		w.expect("blind C5", "blind GitHub", "new ALERT A2", "new WARN A1")
		if len(said) == 0 || !strings.Contains(said[0], "writing an Event: events is forbidden") {
			t.Errorf("it said %q", said)
		}
	})
}

// broken is a standard output that nobody reads.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestALineThatCannotBeWrittenIsSaid(t *testing.T) {
	for name, sink := range map[string]watch.Sink{"text": watch.Lines{Out: broken{}}, "json": watch.JSON{Out: broken{}}} {
		if err := sink.Tell(context.Background(), aReport()); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
