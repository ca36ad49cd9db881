package postmortem_test

import (
	"testing"
	"time"

	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/internal/triage"
	"salve/journal"
	"salve/runbook"
)

// TestDetectionKeepsTheTimeFromTheFirstFailure of tests to the triage of it, though one file tells of both.
func TestDetectionKeepsTheTimeFromTheFirstFailure(t *testing.T) {
	at := reporttest.Morning()
	document := triage.Document{Created: at.Add(5 * 24 * time.Hour), Verdict: triage.Undecided,
		Timeline: []triage.Moment{{Time: at, Failed: 3, Passed: 1, Seconds: 60}}}
	made := reporttest.Draft(t, postmortem.Sources{Triage: []postmortem.TriageFile{{Name: "t.json", Document: document}}},
		postmortem.Options{})
	items := section(t, made, postmortem.Detection)
	if !says(items, postmortem.Fact, "to the first notice after it (triage of a run without a name") ||
		!says(items, postmortem.Fact, ": 120h.") {
		t.Errorf("%+v", items)
	}
	if says(items, postmortem.Fact, "is what noticed it") {
		t.Error("the triage is said to have noticed what it came days after")
	}
}

// TestTheFirstNoticeIsWhatSomebodySays of trouble, and no paste; it stands in the short timeline.
func TestTheFirstNoticeIsWhatSomebodySays(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a question about trouble":        {"anyone seeing webhook issues? @ben", true},
		"trouble with a service":          {"I am generally having issues accessing prow.k8s.io", true},
		"trouble below a greeting":        {"hi all\nthe cluster is down", true},
		"a pasted log":                    {"```\ntime=\"2019\" msg=failed\n```", false},
		"a log without a fence":           {"time=\"2019-02-09T00:11:37Z\" level=warning msg=\"deploy failed\"", false},
		"a commit without a fence":        {"a1b2c3d4 Revert the broken thing", false},
		"inline code":                     {"we are on `the-failed-one` now", false},
		"a joke":                          {"deploy friday evening", false},
		"who says that it may be nothing": {"I'm unsure, the disk failed, I may be wrong", false},
		"an action is no notice":          {"the bump is merged", false},
	} {
		t.Run(name, func(t *testing.T) {
			notes := []postmortem.Note{{Line: 1, Author: "Ann", At: reporttest.Morning(), Text: c.text},
				{Line: 9, Author: "Bob", At: reporttest.Morning().Add(time.Hour), Text: "prow is broken"}}
			made := reporttest.Draft(t, postmortem.Sources{Notes: []postmortem.NotesFile{{Name: "c.md", Notes: notes}}},
				postmortem.Options{})
			items := section(t, made, postmortem.Detection)
			if got := says(items, postmortem.Fact, "first notice in the record: Ann"); got != c.want {
				t.Errorf("noticed: %t: %+v", got, items)
			}
			if e := made.Timeline.Events[0]; c.want && !e.Telling {
				t.Errorf("not in the short timeline: %q", e.Text)
			}
		})
	}
}

// TestCodeAndJokesTellNothing in the short timeline.
func TestCodeAndJokesTellNothing(t *testing.T) {
	for _, text := range []string{"deploy friday evening", "```\na1b2c3d fix: revert\n```", "f00dfeed Merge pull request 1",
		"I'm unsure what failed, I may be wrong"} {
		made := reporttest.Draft(t, postmortem.Sources{Notes: []postmortem.NotesFile{{Name: "c.md",
			Notes: []postmortem.Note{{Line: 1, Author: "Ann", At: reporttest.Morning(), Text: text}}}}}, postmortem.Options{})
		if made.Timeline.Events[0].Telling {
			t.Errorf("%q is in the short timeline", text)
		}
	}
}

// TestTheLastChangeIsACandidate, and never a step of the runbook that mended things.
func TestTheLastChangeIsACandidate(t *testing.T) {
	day := section(t, reporttest.Draft(t, reporttest.ProwDay(t), postmortem.Options{}), postmortem.RootCause)
	if !says(day, postmortem.Candidate, "The last change in the record") || says(day, postmortem.Fact, "The last change") {
		t.Errorf("%+v", day)
	}
	repair := section(t, reporttest.Draft(t, of(reporttest.Recovered(t)), postmortem.Options{}), postmortem.RootCause)
	if says(repair, postmortem.Candidate, "The last change") || says(repair, postmortem.Fact, "The last change") {
		t.Errorf("a step of the repair is said to be the change before the trouble: %+v", repair)
	}
}

// TestImpactIsWhatWasHarmed, not what a guard counted to be well.
func TestImpactIsWhatWasHarmed(t *testing.T) {
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"})
	w.Evaluated("start", journal.Verdict{},
		reporttest.Named("others", counted("each of the 1 other pools has nodes")),
		reporttest.Named("all-ready", counted("5 of 5 nodes are Ready")),
		reporttest.Named("none", counted("0 pods are stranded")),
		reporttest.Named("some-ready", counted("3 of 5 nodes are Ready")),
		reporttest.Named("writes", counted("18 writes failed")))
	items := section(t, reporttest.Draft(t, of(w.History()), postmortem.Options{}), postmortem.Impact)
	for text, want := range map[string]bool{"each of the 1": false, "5 of 5": false, "0 pods": false, "3 of 5": true,
		"18 writes": true} {
		if says(items, postmortem.Fact, text) != want {
			t.Errorf("%q told: %t", text, !want)
		}
	}
}

func counted(reason string) runbook.Finding {
	return runbook.Yes("%s", reason).WithEvidence(reporttest.Saw("the cluster", 1))
}
