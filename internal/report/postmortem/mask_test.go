package postmortem_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"salve/internal/report"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
	"salve/runbook"
)

func masked(t *testing.T, name, key string) (text, document string) {
	t.Helper()
	sources := allSources(t)[name]
	d := postmortem.Mask(reporttest.Draft(t, sources, postmortem.Options{}), sources, []byte(key))
	var out bytes.Buffer
	if err := report.JSON(&out, d); err != nil {
		t.Fatal(err)
	}
	return markdown(d), out.String()
}

func TestNamesAreMasked(t *testing.T) {
	for name, words := range map[string][]string{
		"recovered": {"ana", "bo", "laptop-7", "jump", "prod-1", "5a1e0000"},
		"prow-day":  {"katharine", "laptop-1", "prow-cluster", "ben", "elder", "deploy-pod"},
	} {
		text, document := masked(t, name, "0123456789abcdef")
		for _, word := range words {
			found := regexp.MustCompile(`(?i)(?:^|[^a-z0-9])` + regexp.QuoteMeta(word) + `(?:[^a-z0-9]|$)`)
			if found.MatchString(text) || found.MatchString(document) {
				t.Errorf("%s: %q is shown: %s", name, word, found.FindString(text)+" in "+around(text+document, found))
			}
		}
		if name == "recovered" && !strings.Contains(text, "salve run aks-recreate-pool") {
			t.Error("the name of the runbook is masked")
		}
		if !strings.Contains(text, "**Redacted:**") || !strings.Contains(document, `"redacted": true`) {
			t.Errorf("%s does not say that it is redacted", name)
		}
	}
}

func around(text string, found *regexp.Regexp) string {
	at := found.FindStringIndex(text)
	return text[max(0, at[0]-60):min(len(text), at[1]+60)]
}

// TestEqualityIsKept: with one key the same value has the same pseudonym, with another one another.
func TestEqualityIsKept(t *testing.T) {
	person := regexp.MustCompile(`person-[0-9a-f]{6}`)
	first, _ := masked(t, "prow-day", "0123456789abcdef")
	again, _ := masked(t, "prow-day", "0123456789abcdef")
	other, _ := masked(t, "prow-day", "fedcba9876543210")
	if first != again {
		t.Error("the same key gives other pseudonyms")
	}
	if found := person.FindString(first); found == "" || strings.Contains(other, found) {
		t.Errorf("another key gives the same pseudonym %q", found)
	}
	// Katharine writes in the chat, and is mentioned by the bot, and holds a run.
	said := regexp.MustCompile(`\| (person-[0-9a-f]{6}): rolling back`).FindStringSubmatch(first)
	if said == nil || !strings.Contains(first, "Warning: "+said[1]) || !strings.Contains(first, said[1]+"@") {
		t.Errorf("%v is not the same person everywhere", said)
	}
}

// TestAddressesAndFilesAreMasked: those of IPv6, and the paths of the files that the draft cites.
func TestAddressesAndFilesAreMasked(t *testing.T) {
	const path = "home-alice-jones/Acme incident.md"
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"}).
		Evaluated("start", journal.Verdict{}, reporttest.Named("others", runbook.Yes("fine").
			WithEvidence(reporttest.Saw("log", map[string]string{"operation": "Microsoft.Compute/virtualMachines/write"})))).
		Write(journal.Warned, "", journal.Message{Text: "fe80::1 and 2001:db8::1 at 16:47:02, of 0:0, write-storm; " +
			"see /home/alice/x.log"})
	sources := postmortem.Sources{Runs: []*journal.History{w.History()}, Notes: []postmortem.NotesFile{{Name: path,
		Notes: []postmortem.Note{{Line: 1, Author: "Ann", At: reporttest.Morning(), Text: "prow is down"}}}}}
	d := postmortem.Mask(reporttest.Draft(t, sources, postmortem.Options{}), sources, []byte("0123456789abcdef"))
	text := markdown(d)
	for _, word := range []string{"fe80::1", "2001:db8::1", "alice", "Acme", "incident.md"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is shown", word)
		}
	}
	for _, word := range []string{"16:47:02", "write-storm"} {
		if !strings.Contains(text, word) {
			t.Errorf("%q is masked", word)
		}
	}
	if !postmortem.Redacted([]byte(text)) || postmortem.Redacted([]byte(markdown(reporttest.Draft(t, sources,
		postmortem.Options{})))) {
		t.Error("whether a written draft is redacted is not seen")
	}
}
