package page_test

import (
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

// allowed are the elements of a page, with their attributes besides class and id.
var allowed = map[string]string{
	"html": "lang", "head": "", "meta": "charset content http-equiv name", "title": "", "style": "", "body": "",
	"main":   "",
	"header": "", "nav": "aria-label", "section": "aria-labelledby", "div": "aria-label aria-labelledby role tabindex",
	"h1": "", "h2": "", "h3": "", "p": "", "b": "", "span": "aria-hidden", "code": "", "a": "href rel", "time": "datetime",
	"ul": "aria-label", "li": "", "dl": "", "dt": "", "dd": "", "details": "", "summary": "", "figure": "",
	"figcaption": "",
	"table":      "", "caption": "", "thead": "", "tbody": "", "tr": "", "th": "colspan scope", "td": "aria-hidden",
	"svg":  "aria-hidden aria-labelledby focusable height role viewBox width",
	"desc": "", "defs": "", "g": "", "pattern": "height patternTransform patternUnits width",
	"rect": "height width x y", "circle": "cx cy r", "line": "x1 x2 y1 y2", "path": "d", "text": "dx dy transform x y",
}

// expectHarmless: a page has the elements and attributes that are written for it and no others, leads nowhere but to
// its own lines and to addresses of the web, and has no character that would be obeyed.
func expectHarmless(t *testing.T, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for node := range root.Descendants() {
		switch node.Type {
		case html.ElementNode:
			expectKnown(t, node)
		case html.CommentNode:
			if !ours.MatchString(node.Data) {
				t.Errorf("comment %q", node.Data)
			}
		default:
		}
	}
	for _, char := range text {
		if char != '\n' && !unicode.IsPrint(char) {
			t.Errorf("has %U", char)
			break
		}
	}
}

var (
	ours   = regexp.MustCompile(`^ salve:(begin [a-z-]+ sha256=[0-9a-f]{64}|end [a-z-]+) $`)
	number = regexp.MustCompile(`^-?[0-9.]+$`)
	class  = regexp.MustCompile(`^[a-z-]+( [a-z-]+)*$`)
)

func expectKnown(t *testing.T, node *html.Node) {
	t.Helper()
	attributes, known := allowed[node.Data]
	if !known {
		t.Errorf("element <%s>", node.Data)
		return
	}
	for _, a := range node.Attr {
		switch {
		case a.Key == "href":
			if !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "http://") && !strings.HasPrefix(a.Val, "https://") {
				t.Errorf("leads to %q", a.Val)
			}
		case a.Key == "class":
			if !class.MatchString(a.Val) {
				t.Errorf("class %q", a.Val)
			}
		case a.Key == "id":
		case !slices.Contains(strings.Fields(attributes), a.Key):
			t.Errorf("<%s> has %s=%q", node.Data, a.Key, a.Val)
		case slices.Contains([]string{"x", "y", "width", "height", "cx", "cy", "x1", "x2", "y1", "y2"}, a.Key):
			if !number.MatchString(a.Val) {
				t.Errorf("<%s> has %s=%q", node.Data, a.Key, a.Val)
			}
		}
	}
}

// links are where a page leads to.
func links(t *testing.T, text string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for node := range root.Descendants() {
		for _, a := range node.Attr {
			if a.Key == "href" {
				found = append(found, a.Val)
			}
		}
	}
	return found
}

// harmful are texts that want to be more than texts.
var harmful = []string{
	"</style><script>alert(1)</script>", "</svg><script>alert(1)</script>", "</title><img src=x onerror=alert(1)>",
	"<!-- salve:end timeline -->", "-->", "\n<!-- salve:end about -->\n", "<![CDATA[", "]]>", "javascript:alert(1)",
	"https://example.com/\"onmouseover=alert(1)", "https://example.com/javascript:alert(1)", "data:text/html,<script>",
	"\u202egnp.exe\u202c", "\u2066\u2067", "\u200f", "\x1b[2J\x07", "\x00", "\u2028", "\xff\xfe", "{{.}}", "${x}",
	"url(//evil.example)",
	"' onload='alert(1)", "\" onload=\"alert(1)", "&lt;script&gt;", "&#x3c;script>", "<base href=//evil.example>",
	"é漢字🙂", "",
	"<foreignObject>", "<animate attributeName=href to=javascript:alert(1)>", "</desc></text></g>",
	"</details></table></main>",
	strings.Repeat("A", 3000), strings.Repeat("<", 3000), strings.Repeat("\u0301", 1000),
}

// TestTextsOfOthersAreText: whatever stands in a journal, a chat or a title.
func TestTextsOfOthersAreText(t *testing.T) {
	for seed := range int64(10) {
		random := rand.New(rand.NewSource(seed))
		text := func() string {
			return harmful[random.Intn(len(harmful))] + " " + harmful[random.Intn(len(harmful))]
		}
		d := reporttest.Draft(t, reporttest.Hostile(t, text, 30), postmortem.Options{Title: text()})
		page := document(t, d)
		expectHarmless(t, page)
		if _, err := postmortem.Merge([]byte(page), nil, postmortem.Merging{}); err != nil {
			t.Errorf("seed %d: its markers are not understood: %v", seed, err)
		}
		for _, bad := range []string{"<script", "onerror=alert(1)>", "<img", "<base", "\u202e"} {
			if strings.Contains(page, bad) {
				t.Errorf("seed %d: has %q", seed, bad)
			}
		}
	}
}

// TestLongLines of a hundred kilobytes are cut.
func TestLongLines(t *testing.T) {
	for _, long := range []string{"A", "<", "é", "https://a.example/"} {
		long := strings.Repeat(long, 100_000/len(long))
		w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"}).
			Write(journal.Warned, "", journal.Message{Text: long}).
			Step("drain", 1, time.Second, journal.Result{Result: journal.Failure, Reason: long})
		sources := of(w.History())
		sources.Notes = []postmortem.NotesFile{{Name: long, Notes: []postmortem.Note{{Line: 1, Author: long, Text: long}}}}
		page := document(t, reporttest.Draft(t, sources, postmortem.Options{Title: long}))
		expectHarmless(t, page)
		if len(page) > 100_000 {
			t.Errorf("%.20s: %d bytes", long, len(page))
		}
	}
}

// TestDraftsThatAreNotClean: a draft that New did not make, as one that was read from JSON.
func TestDraftsThatAreNotClean(t *testing.T) {
	evil := strings.Join(harmful, " ")[:5000]
	d := reporttest.Draft(t, reporttest.ProwDay(t), postmortem.Options{})
	d.Title, d.Zone, d.Inputs[0] = evil, evil, evil
	d.Runs[0].Run, d.Runs[0].State, d.Runs[0].Target = evil, evil, evil
	d.Timeline.Events[0].Text, d.Timeline.Events[0].Source.Of = evil, evil
	d.Timeline.Events[0].Kind, d.Timeline.Events[0].Source.Kind = postmortem.EventKind(evil), postmortem.SourceKind(evil)
	d.Chart.Spans[0].Run, d.Chart.Spans[0].Step, d.Chart.Spans[0].Reason = evil, evil, evil
	for i := range d.Sections {
		d.Sections[i].Title = evil
		for n := range d.Sections[i].Items {
			d.Sections[i].Items[n].Text, d.Sections[i].Items[n].Kind = evil, postmortem.ItemKind(evil)
			d.Sections[i].Items[n].Sources = []postmortem.Source{{Kind: postmortem.SourceKind(evil), Of: evil, Detail: evil}}
		}
	}
	expectHarmless(t, document(t, d))
}

func FuzzPage(f *testing.F) {
	for i, text := range harmful {
		f.Add(text, harmful[(i+7)%len(harmful)], uint8(i))
	}
	f.Fuzz(func(t *testing.T, a, b string, n uint8) {
		texts, i := []string{a, b, a + b, fmt.Sprint(n)}, int(n)
		text := func() string {
			i++
			return texts[i%len(texts)]
		}
		page := document(t, reporttest.Draft(t, reporttest.Hostile(t, text, 10), postmortem.Options{Title: a}))
		expectHarmless(t, page)
		if _, err := postmortem.Merge([]byte(page), nil, postmortem.Merging{}); err != nil {
			t.Error(err)
		}
	})
}
