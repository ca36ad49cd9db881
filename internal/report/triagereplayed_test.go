package report_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"salve/internal/report"
	"salve/internal/triage"
	"salve/internal/triage/decision"
	"salve/internal/triage/record"
	"salve/internal/triage/replay"
	"salve/internal/triage/triagetest"
)

// replayedTriage replays a triage that was made from evidence, with other thresholds.
func replayedTriage(t *testing.T, e decision.Evidence, program string, set ...replay.Setting) replay.Result {
	t.Helper()
	decided, err := decision.Decide(e, triage.Default())
	if err != nil {
		t.Fatal(err)
	}
	raw, _, err := record.Write(record.Triage{
		Program: "v1.4.0 4f1a2b3", Architecture: "amd64", Build: "rollout-4711", Created: triagetest.Noon(),
		Thresholds: triage.Default(), Evidence: e, Examined: e.Examined, Decision: decided,
	})
	if err != nil {
		t.Fatal(err)
	}
	back, err := record.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	if program == "void" {
		program = "v1.4.0 4f1a2b3"
		back.Said.Groups[0] = bytes.Replace(back.Said.Groups[0], []byte(`"confidence":"high"`),
			[]byte(`"confidence":"low"`), 1)
	}
	result, err := replay.Replay(back, replay.Options{Program: program, Architecture: "amd64", Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestReplayedTriageReadsAsItsGoldenFiles: the same, another verdict, parted groups, what is lacking, and void.
func TestReplayedTriageReadsAsItsGoldenFiles(t *testing.T) {
	const same = "v1.4.0 4f1a2b3"
	alone := triagetest.OutageEvidence()
	alone.Past = decision.Past{Now: triagetest.Noon(), History: decision.NoHistory, Hours: 24}
	alone.Observed.Baselines = nil
	for name, result := range map[string]replay.Result{
		"same": replayedTriage(t, triagetest.OutageEvidence(), same),
		"diverged": replayedTriage(t, triagetest.RegressionEvidence(), "v1.5.0 77c0ffee",
			replay.Setting{Name: "risk-ratio", Value: "100"}),
		"parted": replayedTriage(t, alone, same, replay.Setting{Name: "known-coverage", Value: "97 %"},
			replay.Setting{Name: "producers", Value: "4"}),
		"lacking": replayedTriage(t, triagetest.WithoutScenarios(triagetest.SuspectEvidence()), same,
			replay.Setting{Name: "alias", Value: "0.9"}),
		"void": replayedTriage(t, triagetest.OutageEvidence(), "void"),
	} {
		golden(t, "triage-"+name+".txt", written(t, func(out *bytes.Buffer) error {
			return report.TriageReplayed(out, columns, result)
		}))
	}
}

// TestDocumentedReplayIsWritten keeps docs/replay.md from showing what no replay writes.
func TestDocumentedReplayIsWritten(t *testing.T) {
	page, err := os.ReadFile("../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile("testdata/triage-diverged.txt")
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(shown), "\n\nDiverged")
	var indented []string
	for line := range strings.SplitSeq(text, "\n") {
		indented = append(indented, strings.TrimRight("    "+line, " "))
	}
	if want := strings.Join(indented, "\n"); !found || !strings.Contains(string(page), want+"\n") {
		t.Errorf("docs/replay.md does not show\n%s", want)
	}
}
