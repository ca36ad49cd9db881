package analysis_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"salve/internal/triage"
	"salve/internal/triage/analysis"
	"salve/internal/triage/catalogue"
	"salve/internal/triage/change"
	"salve/internal/triage/history"
	"salve/internal/triage/record"
	"salve/internal/triage/replay"
)

// secret has the shape of a credential wherever it stands.
const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"

// analyzed is a triage whose record decides as it did, to the byte: each triage of these tests has one.
func analyzed(t *testing.T, r analysis.Request) (*analysis.Result, error) {
	t.Helper()
	result, err := analysis.Analyze(t.Context(), r)
	if err != nil {
		return nil, err
	}
	raw, leftOut, err := record.Write(record.Triage{
		Thresholds: result.Thresholds, Evidence: result.Evidence, Examined: result.Examined, Decision: result.Decision,
	})
	if err != nil || len(leftOut) > 0 {
		t.Error(err, leftOut)
	}
	back, err := record.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := replay.Verify(back); err != nil {
		t.Error(err)
	}
	return result, nil
}

// TestEvidenceHoldsNoCredential wherever one stood in what was read, and decides all the same: what is masked stays
// different from each other.
func TestEvidenceHoldsNoCredential(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	for i := range 60 {
		name := fmt.Sprintf("TestA%d/%s", i, secret)
		event := func(rest string) { fmt.Fprintf(&out, `{"Package":"e2e","Test":"%s",%s}`+"\n", name, rest) }
		other := secret
		if i >= 20 { // another one, in which nothing fails
			other = strings.Replace(secret, "0123", "9876", 1)
		}
		event(fmt.Sprintf(`"Action":"attr","Key":"cluster","Value":"%s"`, other))
		event(fmt.Sprintf(`"Action":"attr","Key":"password","Value":"hunter%d"`, i/20))
		if i >= 18 {
			event(`"Action":"pass"`)
			continue
		}
		event(fmt.Sprintf(`"Action":"output","Output":"    a_test.go:7: token %s refused\n"`, secret))
		event(`"Action":"fail"`)
	}
	out.WriteString(`{"Package":"e2e","Action":"fail"}` + "\n")
	known, err := catalogue.Parse("catalogue.yaml", []byte(fmt.Sprintf(`signatures: [{id: refused, class: infrastructure,
  owner: "%[1]s", title: "%[1]s", links: ["https://a/?token=%[1]s"], action: "use %[1]s", all: ["refused"]}]`, secret)))
	if err != nil {
		t.Fatal(err)
	}
	components, err := change.ParseMap("map.yaml",
		[]byte(`components: [{name: "`+secret+`", paths: ["pkg/**"], scenarios: ["TestA1*/**"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	past, err := history.Open(t.Context(), t.TempDir(), history.Options{Grouping: analysis.Grouping()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		entry := history.Entry{
			Build: fmt.Sprint("b", i), Change: secret, Time: now.Add(-time.Hour),
			Ran:    history.SetOf([]string{"TestA0/" + secret}),
			Totals: history.Totals{Scenarios: 60, Failed: 9},
			Groups: []history.Group{{Key: "g1-0123456789abcdef", Signatures: []string{"refused"}, Failures: 9}},
		}
		if past, err = past.With(entry); err != nil {
			t.Fatal(err)
		}
	}
	result, err := analyzed(t, analysis.Request{
		Paths:  []string{write(t, filepath.Join(t.TempDir(), "run.json"), out.String())},
		Change: &change.Change{Files: []change.File{{Path: "pkg/a.go", Status: change.Modified}}}, Map: components,
		Catalogue: known, Past: analysis.Record(past, analysis.Identity{Build: secret, Change: "pr-1"}, now),
		Build: secret, Now: now, Thresholds: triage.Default(),
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, _, err := record.Write(record.Triage{
		Program: "p", Build: result.Document.Build, Thresholds: result.Thresholds, Evidence: result.Evidence,
		Examined: result.Examined, Decision: result.Decision,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{secret, "hunter", "ghp_", "9876456789"} {
		if at := strings.Index(string(raw), text); at >= 0 {
			t.Errorf("it holds %q: …%s…", text, raw[max(0, at-80):min(len(raw), at+80)])
		}
	}
	back, err := record.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := replay.Verify(back); err != nil {
		t.Error(err)
	}
	g := result.Decision.Groups[0]
	if len(g.Cause.Candidates) != 1 || g.Cause.Candidates[0].FailedWith != 18 || g.Cause.Candidates[0].PassedWith != 2 {
		t.Errorf("cause: %+v", g.Cause)
	}
	attributes := back.Evidence.Observed.Scenarios.Attributes
	for _, a := range attributes {
		if a.Name == "cluster" && (len(a.Values) != 2 || a.Values[0] == a.Values[1]) {
			t.Errorf("values of cluster: %q", a.Values)
		}
	}
	if g.Verdict != triage.KnownInfrastructure {
		t.Errorf("%s: %s", g.Verdict, g.Alternative.Text)
	}
}

// TestWhatNobodyWasAskedIsNoEmptyAnswer: no change, no map, no history and a baseline that can't be read stand in the
// evidence as what they are.
func TestWhatNobodyWasAskedIsNoEmptyAnswer(t *testing.T) {
	folder := t.TempDir()
	run := write(t, filepath.Join(folder, "run.json"), failing("no such pod", "no such pod", "no such pod"))
	request := func(edit func(*analysis.Request)) analysis.Request {
		r := analysis.Request{Paths: []string{run}, Now: time.Unix(1e9, 0), Thresholds: triage.Default()}
		edit(&r)
		return r
	}
	components, err := change.ParseMap("map.yaml",
		[]byte(`components: [{name: a, paths: ["pkg/**"], scenarios: ["TestB*"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	past, err := history.Open(t.Context(), t.TempDir(), history.Options{Grouping: analysis.Grouping()})
	if err != nil {
		t.Fatal(err)
	}
	touched := &change.Change{Files: []change.File{{Path: "pkg/a.go", Status: change.Modified}}}
	for name, row := range map[string]struct {
		edit func(*analysis.Request)
		has  []string
	}{
		"nothing but results": {func(*analysis.Request) {},
			[]string{`"change":null`, `"reach":null`, `"history":"none"`, `"baselines":[]`, `"sizes":null`}},
		"a change without a map": {func(r *analysis.Request) { r.Change = touched },
			[]string{`"change":{"files":1`, `"at":null`, `"reach":null`}},
		"a change with a map": {func(r *analysis.Request) { r.Change, r.Map = touched, components },
			[]string{`"reach":[2,1]`}},
		"an empty history": {func(r *analysis.Request) {
			r.Past = analysis.Record(past, analysis.Identity{Build: "1", Change: "pr-1"}, r.Now)
		}, []string{`"history":"asked"`, `"spans":[]`, `"sizes":{"days":30,"runs":0,"fewest":0}`}},
		"a history, and nobody knows the change": {func(r *analysis.Request) {
			r.Past = analysis.Record(past, analysis.Identity{Build: "1"}, r.Now)
		}, []string{`"history":"change-unknown"`, `"runs":[]`}},
		"a baseline that isn't there": {func(r *analysis.Request) {
			r.Baseline = []string{filepath.Join(folder, "none.json"), run}
		}, []string{`"baselines":[null,23]`}},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := analyzed(t, request(row.edit))
			if err != nil {
				t.Fatal(err)
			}
			raw, _, err := record.Write(record.Triage{
				Evidence: result.Evidence, Examined: result.Examined, Decision: result.Decision,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range row.has {
				if !strings.Contains(string(raw), part) {
					t.Errorf("it does not have %s:\n%s", part, raw)
				}
			}
		})
	}
}

// TestFewOfManyScenariosThatFailedOtherwiseInABaselineAreNoReason: as in a history, it takes half of them.
func TestFewOfManyScenariosThatFailedOtherwiseInABaselineAreNoReason(t *testing.T) {
	texts := func(other int) []string {
		var list []string
		for i := range 6 {
			text := "no such pod"
			if i < other {
				text = "disk is full"
			}
			list = append(list, text)
		}
		return list
	}
	for other, want := range map[int]triage.Baseline{2: triage.NotEnoughHistory, 3: triage.PreExistingElse} {
		folder := t.TempDir()
		// In the baseline some of the scenarios fail otherwise, and the rest pass.
		before := strings.ReplaceAll(failing(texts(other)...), "no such pod", "fine")
		for i := other; i < 6; i++ {
			before = strings.Replace(before, fmt.Sprintf(`"Test":"TestA%d","Action":"fail"`, i),
				fmt.Sprintf(`"Test":"TestA%d","Action":"pass"`, i), 1)
		}
		result, err := analyzed(t, analysis.Request{
			Paths:    []string{write(t, filepath.Join(folder, "run.json"), failing(texts(0)...))},
			Baseline: []string{write(t, filepath.Join(folder, "before.json"), before)},
			Now:      time.Unix(1e9, 0), Thresholds: triage.Default(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Document.Groups[0].Baseline; got.Answer != want {
			t.Errorf("%d of 6 failed otherwise: %s: %s", other, got.Answer, got.Text)
		}
	}
}
