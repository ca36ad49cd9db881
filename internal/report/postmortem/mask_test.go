package postmortem_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"salve/internal/report"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
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
