package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"salve/internal/report/page"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

var update = flag.Bool("update", false, "write the golden files anew")

func blocks(t testing.TB, d postmortem.Draft) []postmortem.Block {
	t.Helper()
	made, err := page.Blocks(d)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func document(t testing.TB, d postmortem.Draft) string {
	t.Helper()
	return string(postmortem.Document(blocks(t, d)))
}

func sample(t testing.TB, sources postmortem.Sources) string {
	t.Helper()
	return document(t, reporttest.Draft(t, sources, postmortem.Options{}))
}

func of(runs ...*journal.History) postmortem.Sources { return postmortem.Sources{Runs: runs} }

func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", path, diff)
	}
}

// TestGolden: the styles, which all pages have alike, are left out.
func TestGolden(t *testing.T) {
	style := regexp.MustCompile(`(?s)<!-- salve:begin style .*<!-- salve:end style -->`)
	for _, one := range reporttest.Samples(t) {
		if one.Name == "wide" {
			continue // too long to be read
		}
		t.Run(one.Name, func(t *testing.T) {
			d := reporttest.Draft(t, one.Sources, postmortem.Options{})
			golden(t, one.Name+".html", style.ReplaceAllString(document(t, d), "<!-- style -->"))
			if slices.Contains([]string{"recovered", "prow-day"}, one.Name) {
				d = postmortem.Mask(d, one.Sources, []byte("0123456789abcdef"))
				golden(t, one.Name+".redacted.html", style.ReplaceAllString(document(t, d), "<!-- style -->"))
			}
		})
	}
}

// words are the texts of a page, without its tags.
func words(t testing.TB, text string) string {
	t.Helper()
	var out strings.Builder
	skipped := ""
	for tokens := html.NewTokenizer(strings.NewReader(text)); ; {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return strings.Join(strings.Fields(out.String()), " ")
		case html.StartTagToken, html.EndTagToken:
			name, _ := tokens.TagName()
			if skipped = ""; kind == html.StartTagToken && string(name) == "style" {
				skipped = "style"
			}
			out.WriteString(" ")
		case html.TextToken:
			if skipped == "" {
				out.Write(tokens.Text())
			}
		default:
		}
	}
}

func TestPageSaysWhatTheDraftSays(t *testing.T) {
	for name, wants := range map[string][]string{
		"recovered": {
			"2019-02-05 post-mortem: prod-1/system", "aks-recreate-pool version 1 on prod-1/system", "remediated",
			"18 writes failed (counted by: Activity Log", "salve resume 20190205-164700-aaaaaa",
			"Candidate A person passed over a guard: bo@jump (process 7) overrode guard wedge-evidence: seen in the portal",
			"Question What is the root cause? No source tells it.", "16:47:00 08:47:00 PST",
			"Tuesday, 5 February 2019", "Overridden: seen in the portal", "3 guards and checks that held",
			"not known, later done", "point of no return", "2m30s, budget 2m, try 2", "4 requests, 3 refused",
		},
		"prow-day": {
			"415 pods are stranded", "12 pods of ProwJobs in default", "suspected-change", "Other sources: watch.jsonl",
			"1 message without a known date or zone", "at 09:14: Ben Elder: prow was stuck", "alarm gone",
		},
		"never-joined": {"Tuesday, 5 February 2019", "Thursday, 7 February 2019", "0/5", "time left out",
			"wait for an operator"},
		"crashed":   {"no outcome recorded", "no end recorded"},
		"chat-only": {"No picture: it is drawn from journals of runs, and none was given."},
		"wide":      {"30 steps share the last row of steps.", "3 more pools are not drawn.", "3000 requests, 120 refused"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, one := range reporttest.Samples(t) {
				if one.Name != name {
					continue
				}
				text := words(t, sample(t, one.Sources))
				for _, want := range wants {
					if !strings.Contains(text, want) {
						t.Errorf("the page has no %q", want)
					}
				}
			}
		})
	}
}

// TestBlocksAreThoseOfTheMarkdown, with how the page looks and the picture.
func TestBlocksAreThoseOfTheMarkdown(t *testing.T) {
	d := reporttest.Draft(t, reporttest.ProwDay(t), postmortem.Options{})
	var want, got []postmortem.SectionID
	for _, b := range postmortem.Blocks(d) {
		if b.Body != "" {
			want = append(want, b.ID)
		}
	}
	for _, b := range blocks(t, d) {
		if b.Body != "" {
			got = append(got, b.ID)
		}
	}
	want = append([]postmortem.SectionID{page.Style}, want...)
	want = slices.Insert(want, 3, page.Picture)
	if !slices.Equal(got, want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
}

func TestPolicyAllowsTheStylesAlone(t *testing.T) {
	text := sample(t, of(reporttest.Recovered(t)))
	_, styles, _ := strings.Cut(text, "<style>")
	styles, _, _ = strings.Cut(styles, "</style>")
	hash := sha256.Sum256([]byte(styles))
	_, policy, _ := strings.Cut(text, `http-equiv="Content-Security-Policy" content="`)
	policy, _, _ = strings.Cut(policy, `"`)
	want := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
		base64.StdEncoding.EncodeToString(hash[:]) + "'; img-src data:"
	if policy != want || strings.Index(text, "Content-Security-Policy") > strings.Index(text, "<style>") {
		t.Errorf("policy %q, want %q before the styles", policy, want)
	}
	for _, bad := range []string{"@import", "://", "expression("} {
		if strings.Contains(styles, bad) {
			t.Errorf("the styles have %q", bad)
		}
	}
}

// TestSourcesLeadToTheirLines: of a fact, to the line of the timeline, or of all events.
func TestSourcesLeadToTheirLines(t *testing.T) {
	text := sample(t, of(reporttest.Recovered(t)))
	for _, want := range []string{
		`<a class="source" href="#journal-20190205-164700-aaaaaa-2">`, `<tr id="journal-20190205-164700-aaaaaa-2"`,
	} {
		if strings.Count(text, want) == 0 {
			t.Errorf("no %s", want)
		}
	}
	again := sample(t, of(reporttest.Recovered(t), reporttest.TakenBack(t)))
	if !strings.Contains(again, `<tr id="journal-20190205-164700-aaaaaa-2"`) {
		t.Error("with another source the name of a line is another one")
	}
}

func TestAddressesAreLinks(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"in a sentence": {"see https://example.com/a?b=1&c=2. Then", []string{"https://example.com/a?b=1&c=2"}},
		"in brackets": {"(https://example.com/a) [http://b.example/x]",
			[]string{"https://example.com/a", "http://b.example/x"}},
		"with brackets in it":   {"https://example.com/a_(b)", []string{"https://example.com/a_%28b%29"}},
		"none":                  {"javascript:alert(1) data:text/html,x ftp://a.example vbscript:x //b.example", nil},
		"a script behind a tab": {"java\tscript:alert(1)", nil},
		"that hides another": {"https://a.example/javascript:alert(1)",
			[]string{"https://a.example/javascript:alert%281%29"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"}).
				Write(journal.Warned, "", journal.Message{Text: test.text})
			var got []string
			for _, link := range links(t, sample(t, of(w.History()))) {
				if !strings.HasPrefix(link, "#") && !slices.Contains(got, link) {
					got = append(got, link)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("links %q, want %q", got, test.want)
			}
		})
	}
}

// TestSizeIsBounded: of 10,000 events, and where each text is as long as it may be.
func TestSizeIsBounded(t *testing.T) {
	const most = 2 << 20
	for name, sources := range map[string]postmortem.Sources{
		"busy":    of(reporttest.Busy(t, 10_000)),
		"hostile": reporttest.Hostile(t, func() string { return strings.Repeat(`'<&"`, 160) }, 1500),
	} {
		text := sample(t, sources)
		if len(text) > most {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		if !strings.Contains(text, "are not listed") || !strings.HasSuffix(text, "</html>\n") {
			t.Errorf("%s: what is left out is not said", name)
		}
		t.Logf("%s: %d bytes", name, len(text))
	}
}

func BenchmarkTenThousandEvents(b *testing.B) {
	history, zone := reporttest.Busy(b, 10_000), reporttest.LosAngeles(b)
	for b.Loop() {
		d, err := postmortem.New(of(history), postmortem.Options{Zone: zone})
		if err != nil {
			b.Fatal(err)
		}
		if len(postmortem.Document(blocks(b, d))) == 0 {
			b.Fatal("empty")
		}
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		sample(t, of(reporttest.Crashed(t))): true, "\ufeff\n<!-- ours -->\n<!DOCTYPE HTML>\n": true, "<html>": true,
		"": false, "# Title\n\n<html>": false, "<!-- salve:begin about -->\n# x": false, "<htmlx>": false,
	} {
		if page.Is([]byte(text)) != want {
			t.Errorf("%.40q: a page %t", text, !want)
		}
	}
}

// TestZones: a second one is shown where it is another, with its day where that is another.
func TestZones(t *testing.T) {
	auckland, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	text := words(t, document(t, reporttest.Draft(t, of(reporttest.Crashed(t)), postmortem.Options{Zone: auckland})))
	if !strings.Contains(text, "16:47:00 6 Feb 05:47:00 NZDT") {
		t.Error("the other day is not told")
	}
	text = words(t, document(t, reporttest.Draft(t, of(reporttest.Crashed(t)), postmortem.Options{Zone: time.UTC})))
	if strings.Contains(text, "Local") {
		t.Error("UTC is shown twice")
	}
}

func TestNoNameIsInAMaskedPage(t *testing.T) {
	for name, words := range map[string][]string{
		"recovered":    {"ana", "bo", "laptop-7", "jump", "prod-1", "5a1e0000"},
		"prow-day":     {"katharine", "laptop-1", "prow-cluster", "ben", "elder", "deploy-pod"},
		"never-joined": {"ana", "laptop-7", "prod-3", "web", "s1", "fleet", "shop", "front-1", "aks-web-vmss1", "5a1e0000"},
	} {
		for _, one := range reporttest.Samples(t) {
			if one.Name != name {
				continue
			}
			d := postmortem.Mask(reporttest.Draft(t, one.Sources, postmortem.Options{}), one.Sources, []byte("0123456789abcdef"))
			var text bytes.Buffer
			for _, b := range blocks(t, d) {
				if b.ID != page.Style {
					text.WriteString(b.Heading + b.Body)
				}
			}
			for _, word := range words {
				found := regexp.MustCompile(`(?i)(?:^|[^a-z0-9])` + regexp.QuoteMeta(word) + `(?:[^a-z0-9]|$)`)
				if at := found.FindIndex(text.Bytes()); at != nil {
					t.Errorf("%s: %q is shown: %s", name, word, text.Bytes()[max(0, at[0]-60):min(text.Len(), at[1]+60)])
				}
			}
			if !strings.Contains(text.String(), "<b>Redacted:</b>") {
				t.Errorf("%s: that names are masked is not said", name)
			}
		}
	}
}
