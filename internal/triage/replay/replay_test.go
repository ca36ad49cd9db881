package replay_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/triage"
	"salve/internal/triage/cause"
	"salve/internal/triage/decision"
	"salve/internal/triage/record"
	"salve/internal/triage/replay"
	"salve/internal/triage/triagetest"
)

const program, architecture = "v1 abc", "amd64"

// kept is the record of a triage by evidence, read back.
func kept(t *testing.T, e decision.Evidence) *record.Record {
	t.Helper()
	d, err := decision.Decide(e, triage.Default())
	if err != nil || d.Lacks != "" {
		t.Fatal(err, d.Lacks)
	}
	raw, leftOut, err := record.Write(record.Triage{
		Program: program, Architecture: architecture, Build: "17", Created: triagetest.Noon(), Thresholds: triage.Default(),
		Evidence: e, Examined: e.Examined, Decision: d,
	})
	if err != nil || len(leftOut) > 0 {
		t.Fatal(err, leftOut)
	}
	back, err := record.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func set(t *testing.T, settings ...string) replay.Options {
	t.Helper()
	options := replay.Options{Program: program, Architecture: architecture}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		options.Set = append(options.Set, replay.Setting{Name: name, Value: value})
	}
	return options
}

func again(t *testing.T, r *record.Record, options replay.Options) replay.Result {
	t.Helper()
	result, err := replay.Replay(r, options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestTheSameProgramDecidesEqually, and is checked for it first.
func TestTheSameProgramDecidesEqually(t *testing.T) {
	for name, e := range triagetest.Evidence() {
		r := kept(t, e)
		if result := again(t, r, set(t)); result.Verdict != replay.Same || !result.Checked || result.Reason != "" {
			t.Errorf("%s: %+v", name, result)
		}
		if err := replay.Verify(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestARecordOfAnotherProgramIsNotChecked, and one of another architecture, whose numbers may end otherwise.
func TestARecordOfAnotherProgramIsNotChecked(t *testing.T) {
	for name, row := range map[string]struct {
		options replay.Options
		edit    func(*record.Record)
		why     string
	}{
		"another program": {replay.Options{Program: "v2", Architecture: architecture}, func(*record.Record) {},
			"of another program"},
		"another architecture": {replay.Options{Program: program, Architecture: "arm64"}, func(*record.Record) {},
			"recorded on amd64"},
		"a threshold that this program doesn't have": {set(t), func(r *record.Record) {
			r.Recorded.Thresholds["patience"] = 7
		}, "other thresholds than this program: patience"},
		"a threshold that the record doesn't have": {set(t), func(r *record.Record) {
			delete(r.Recorded.Thresholds, "alias")
		}, "other thresholds than this program: alias"},
	} {
		r := kept(t, triagetest.OutageEvidence())
		row.edit(r)
		result := again(t, r, row.options)
		if result.Checked || !strings.Contains(result.Unchecked, row.why) || result.Verdict != replay.Same {
			t.Errorf("%s: checked %v, %q, %s %s", name, result.Checked, result.Unchecked, result.Verdict, result.Reason)
		}
	}
}

// TestAProgramThatDecidesOtherwiseThanItRecordedIsVoid: whatever is said after it, with other thresholds too.
func TestAProgramThatDecidesOtherwiseThanItRecordedIsVoid(t *testing.T) {
	edit := func(r *record.Record, old, by string) {
		r.Said.Groups[0] = bytes.Replace(r.Said.Groups[0], []byte(old), []byte(by), 1)
		r.Said.Run = bytes.Replace(r.Said.Run, []byte(old), []byte(by), 1)
	}
	for name, row := range map[string]struct {
		edit func(*record.Record)
		want string
	}{
		"another verdict": {func(r *record.Record) {
			r.Said.Groups[0] = bytes.Replace(r.Said.Groups[0], []byte(`"verdict":"known-infrastructure"`),
				[]byte(`"verdict":"new"`), 1)
		}, "group g1-a: this very program decides otherwise than it recorded: verdict: new → known-infrastructure"},
		"another word": {func(r *record.Record) { edit(r, "ask team-a", "ask team-b") }, "group g1-a: this very program"},
		"another sentence on the run": {func(r *record.Record) {
			r.Said.Run = bytes.Replace(r.Said.Run, []byte("scenarios failed"), []byte("scenarios passed"), 1)
		}, "the run: recorded"},
		"a group less":   {func(r *record.Record) { r.Said.Groups = nil }, "it decides on 1 groups, recorded are 0"},
		"other evidence": {func(r *record.Record) { r.Evidence.Observed.Ways[0].Place = "other.go:1" }, ""},
	} {
		r := kept(t, triagetest.OutageEvidence())
		row.edit(r)
		for _, options := range []replay.Options{set(t), set(t, "risk-ratio=30")} {
			result := again(t, r, options)
			if row.want == "" { // a place of a known failure is in no sentence
				if result.Verdict == replay.Void {
					t.Errorf("%s: %s", name, result.Reason)
				}
				continue
			}
			if result.Verdict != replay.Void || !strings.HasPrefix(result.Reason, row.want) || len(result.Groups) > 0 {
				t.Errorf("%s: %s %q with %d groups", name, result.Verdict, result.Reason, len(result.Groups))
			}
			if err := replay.Verify(r); err == nil {
				t.Errorf("%s: verified", name)
			}
		}
	}
}

// TestWhatIfAsksForTheThresholdThatMakesTheDifference.
func TestWhatIfAsksForTheThresholdThatMakesTheDifference(t *testing.T) {
	for rule, row := range map[string]struct {
		evidence decision.Evidence
		set      []string
		verdict  replay.State
		reason   string
		first    string // the first rule of the first group; empty for none
		because  string // the threshold; empty for none
	}{
		"one that makes no difference": {triagetest.OutageEvidence(), []string{"all-reach=0.001"}, replay.Same, "", "", ""},
		"one that takes the verdict away": {triagetest.RegressionEvidence(), []string{"risk-ratio=100"}, replay.Diverged,
			"group g1-c: suspected-change → undecided, because of risk-ratio: 2 → 100; " +
				"first different: this change?: supported → open", "this change?: supported → open", "risk-ratio"},
		"of two, the one that does": {triagetest.RegressionEvidence(), []string{"all-reach=0.001", "risk-ratio=100"},
			replay.Diverged, "", "this change?: supported → open", "risk-ratio"},
		"of two, none alone": {triagetest.SuspectEvidence(), []string{"change-difference=60 %", "all-reach=0"},
			replay.Diverged, "group g1-c: suspected-change → undecided; first different: this change? dose: supports → open",
			"this change? dose: supports → open", ""},
		"one that says it with less confidence": {triagetest.OutageEvidence(), []string{"producers=9"}, replay.Same, "",
			"confidence: high → medium", "producers"},
		"one that has somebody told": {triagetest.OutageEvidence(), []string{"calm=2"}, replay.Same, "", "", ""},
		"one for which the runs were not asked": {triagetest.OutageEvidence(), []string{"baseline=48 h"}, replay.Unreplayable,
			"group g1-a: unreplayable(runs of other changes of more than 24 h before)", "", ""},
		"one that parts what a signature put together": {apart(triagetest.OutageEvidence()), []string{"known-coverage=97 %"},
			replay.Diverged, "", "ways of failing: 2 → 1", "known-coverage"},
	} {
		t.Run(rule, func(t *testing.T) {
			result := again(t, kept(t, row.evidence), set(t, row.set...))
			if result.Verdict != row.verdict || row.reason != "" && result.Reason != row.reason || !result.Checked {
				t.Errorf("%s: %q, checked %v", result.Verdict, result.Reason, result.Checked)
			}
			if len(result.Thresholds) != len(row.set) {
				t.Errorf("thresholds %+v", result.Thresholds)
			}
			g := result.Groups[0]
			if got := first(g); got != row.first {
				t.Errorf("first %q, want %q", got, row.first)
			}
			if got := g.Because; got == nil != (row.because == "") || got != nil && got.Name != row.because {
				t.Errorf("because of %+v, want %q", got, row.because)
			}
		})
	}
}

func first(g replay.Group) string {
	if g.First == nil {
		return ""
	}
	return g.First.String()
}

// apart is an outage of which the history was not asked: its groups may be parted.
func apart(e decision.Evidence) decision.Evidence {
	e.Past = decision.Past{Now: triagetest.Noon(), History: decision.NoHistory, Hours: 24}
	e.Observed.Baselines = nil
	return e
}

// TestGroupsThatAreParted are told with where they come from.
func TestGroupsThatAreParted(t *testing.T) {
	result := again(t, kept(t, apart(triagetest.OutageEvidence())), set(t, "known-coverage=97 %"))
	if len(result.Groups) != 2 || result.Groups[1].Key != "g1-b" ||
		first(result.Groups[1]) != "group: part of g1-a → its own" || result.Groups[1].Failures != 12 {
		t.Errorf("%+v", result.Groups)
	}
	e := apart(triagetest.OutageEvidence())
	e.Observed.Ways[1].Shows[0].InText = 9 // 9 of 12 show it in their own text: they are no part of it
	result = again(t, kept(t, e), set(t, "known-coverage=70 %"))
	if len(result.Groups) != 2 || first(result.Groups[1]) != "group: its own → part of g1-a" {
		t.Errorf("%+v", result.Groups)
	}
}

// TestWithoutEvidenceAllIsUnreplayable, and said so of each group.
func TestWithoutEvidenceAllIsUnreplayable(t *testing.T) {
	r := kept(t, triagetest.OutageEvidence())
	r.Evidence, r.Lacks = nil, "the evidence (left out)"
	result := again(t, r, set(t))
	if result.Verdict != replay.Unreplayable || result.Reason != "unreplayable(the evidence (left out))" ||
		result.Checked || len(result.Groups) != 1 || result.Groups[0].State != replay.Unreplayable ||
		result.Groups[0].Recorded == nil {
		t.Errorf("%+v", result)
	}
	if err := replay.Verify(r); err == nil {
		t.Error("verified")
	}
}

// TestSettingsAreNumbersOfThresholdsThatThereAre.
func TestSettingsAreNumbersOfThresholdsThatThereAre(t *testing.T) {
	for setting, want := range map[string]float64{
		"risk-ratio=3": 3, "Risk-Ratio= 3.5 ": 3.5, "unknown=0.3": 0.3, "unknown=30 %": 0.3, "unknown=7%": 0.07,
		"baseline=12": 12, "baseline=12 h": 12, "order=30min": 30, "escalate-days=14 days": 14, "all-reach=1e-6": 1e-6,
	} {
		options := set(t, setting)
		thresholds, err := replay.Set(triage.Default(), options.Set)
		if got := thresholds.Values()[strings.ToLower(options.Set[0].Name)]; err != nil || got != want {
			t.Errorf("%s: %g, %v", setting, got, err)
		}
	}
	for setting, want := range map[string]string{
		"risk_ratio=3":   `unknown threshold "risk_ratio": did you mean "risk-ratio"?`,
		"watts=3":        `unknown threshold "watts": there are eligible, same-value, `,
		"unknown=20":     "threshold unknown of 2000 %: out of range: want from 0 % to 100 %",
		"unknown=-1%":    "out of range",
		"eligible=2.5":   "out of range: want a whole number from 1 to 1e+06",
		"eligible=0":     "out of range",
		"risk-ratio=nan": "out of range",
		"risk-ratio=inf": "out of range",
		"risk-ratio=":    `threshold risk-ratio of "": want a number, for example 2`,
		"baseline=1 day": `threshold baseline of "1 day": want a number, for example 24 h`,
		"failures=5 h":   `want a number, for example 5`,
	} {
		if _, err := replay.Set(triage.Default(), set(t, setting).Set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}

// TestRecordsOfEachFormatAreReplayed: one file of each version of the format is kept for ever, with the verdicts that
// it has. That today's program decides as it did is not promised: where it doesn't, the expectation is changed here,
// and the file isn't.
func TestRecordsOfEachFormatAreReplayed(t *testing.T) {
	for name, want := range map[string]triage.Verdict{
		"v1-outage.triage": triage.KnownInfrastructure, "v1-regression.triage.gz": triage.SuspectedChange,
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := record.Read(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		result := again(t, r, set(t))
		if result.Verdict != replay.Same || result.Run.Recorded.Verdict != want || result.Run.Now.Verdict != want {
			t.Errorf("%s: %s %s: %+v", name, result.Verdict, result.Reason, result.Run)
		}
	}
}

// TestTheRunHasAVerdictOfItsOwn, which may diverge, or be lacking, where no group does.
func TestTheRunHasAVerdictOfItsOwn(t *testing.T) {
	expected := 10
	short := decision.Evidence{Observed: decision.Observed{
		Counts: triage.Counts{Scenarios: 5, Passed: 5}, Baselines: []*int{&expected}, Omitted: "no scenario failed",
	}}
	result := again(t, kept(t, short), set(t, "alias=0.9", "aborted=40 %"))
	want := "the run: undecided → passed, because of aborted: 90 % → 40 %"
	if result.Verdict != replay.Diverged || result.Reason != want || len(result.LeftOut) > 0 {
		t.Errorf("%s: %q, want %q; left out %q", result.Verdict, result.Reason, want, result.LeftOut)
	}
	fresh := triagetest.FreshEvidence()
	fresh.Past.Occurrences[0].Times = append(fresh.Past.Occurrences[0].Times, triagetest.Noon())
	result = again(t, kept(t, fresh), set(t, "escalate-days=31"))
	want = "the run: unreplayable(how many scenarios the job had in 31 days)"
	if result.Verdict != replay.Unreplayable || result.Reason != want || result.Groups[0].State == replay.Unreplayable {
		t.Errorf("%s: %q, want %q; %+v", result.Verdict, result.Reason, want, result.Groups)
	}
}

// many is a run with more groups than are kept whole, all of them new.
func many() decision.Evidence {
	e := decision.Evidence{
		Observed: decision.Observed{Counts: triage.Counts{Scenarios: 230, Tests: 230, Passed: 20, Failed: 210}},
		Past:     decision.Past{Now: triagetest.Noon(), History: decision.Asked, Hours: 24},
	}
	rows := &cause.Rows{}
	for i := range 230 {
		way := 0
		if i < 210 {
			way = i + 1
			key := fmt.Sprintf("g1-%03d", i)
			e.Observed.Ways = append(e.Observed.Ways, decision.Way{Key: key, Failures: 1, Finished: 1})
			e.Past.Runs = append(e.Past.Runs, decision.Answer{
				Question: decision.Question{Ways: []int{i}}, Spans: []decision.Span{{Runs: 25, Of: 900}},
			})
			e.Past.Occurrences = append(e.Past.Occurrences, decision.Occurrences{
				Key: key, Rule: decision.Rule{Count: 6, Days: 30, Calm: 3},
			})
		}
		rows.Outcomes, rows.Tests = append(rows.Outcomes, cause.Outcome(way)), append(rows.Tests, i)
	}
	e.Observed.Scenarios = decision.Count(rows, nil, triage.Default())
	return e
}

// TestOfVeryManyGroupsTheLastAreComparedByTheirVerdicts.
func TestOfVeryManyGroupsTheLastAreComparedByTheirVerdicts(t *testing.T) {
	r := kept(t, many())
	if result := again(t, r, set(t)); result.Verdict != replay.Same || len(result.Groups) != 210 || !result.Checked {
		t.Errorf("%s %s, %d groups", result.Verdict, result.Reason, len(result.Groups))
	}
	result := again(t, r, set(t, "baseline-unseen=30"))
	for _, g := range result.Groups {
		if g.State != replay.Diverged || g.Because == nil || g.First == nil {
			t.Fatalf("%+v", g)
		}
	}
	if last := first(result.Groups[209]); last != "verdict: new → undecided" {
		t.Errorf("the last one: %s", last)
	}
	r.Said.Rest[9].Verdict = triage.Undecided
	result = again(t, r, set(t))
	if result.Verdict != replay.Void || !strings.Contains(result.Reason, "recorded undecided, decided new") {
		t.Errorf("%s %s", result.Verdict, result.Reason)
	}
}

// TestVerifyTakesAWholeRecord: what is lacking in it is not verified.
func TestVerifyTakesAWholeRecord(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(*record.Record)
		want string
	}{
		"other thresholds": {func(r *record.Record) {
			delete(r.Recorded.Thresholds, "alias")
		}, "other thresholds: [alias]"},
		"answers were left out": {func(r *record.Record) { r.Evidence.Past.Runs = nil }, "what runs of other changes show"},
		"a threshold of no sense": {func(r *record.Record) { r.Recorded.Thresholds["alias"] = 7 },
			"other thresholds: [alias]"},
	} {
		r := kept(t, triagetest.OutageEvidence())
		row.edit(r)
		if err := replay.Verify(r); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

// TestWhatIsSaidInNoFormIsAnError, and so are a threshold that there is not, and evidence of which nothing can be
// worked out.
func TestWhatIsSaidInNoFormIsAnError(t *testing.T) {
	r := kept(t, triagetest.OutageEvidence())
	if _, err := replay.Replay(r, set(t, "watts=3")); err == nil || !strings.Contains(err.Error(), `unknown threshold "watts"`) {
		t.Errorf("%v", err)
	}
	r.Said.Run = []byte("7")
	if _, err := replay.Replay(r, set(t)); err == nil || !strings.Contains(err.Error(), "what was decided of the run") {
		t.Errorf("%v", err)
	}
	r = kept(t, triagetest.OutageEvidence())
	r.Evidence.Observed.Scenarios.Attributes[0].Values = nil // values without names
	if result, err := replay.Replay(r, set(t)); err != nil || result.Verdict != replay.Void {
		t.Errorf("by its own program: %s, %v", result.Verdict, err)
	}
	if _, err := replay.Replay(r, replay.Options{Program: "v2"}); err == nil ||
		!strings.Contains(err.Error(), "deciding again: looking for causes") {
		t.Errorf("by another: %v", err)
	}
	if err := replay.Verify(r); err == nil || !strings.Contains(err.Error(), "looking for causes") {
		t.Errorf("verified: %v", err)
	}
}
