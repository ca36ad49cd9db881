package show

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"math/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"salve/internal/triage"
	"salve/internal/triage/triagetest"
)

func shown(t *testing.T, doc triage.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, doc, Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHostileTextsBecomeNoTags: whatever stands in the texts, the page has the tags and attributes that it has with
// harmless words.
func TestHostileTextsBecomeNoTags(t *testing.T) {
	for seed := range int64(20) {
		random := rand.New(rand.NewSource(seed))
		doc := triagetest.Filled(func() string { return harmful(random, 4) }, 1+random.Intn(3))
		for i := range doc.Heat {
			doc.Heat[i].Attribute = "cluster" // neighbours of one attribute stand together
		}
		harmless := changed(doc, func(text string) string {
			if text == "found" || text == "cluster" || text == "" {
				return text
			}
			return "x"
		})
		if diff := cmp.Diff(elements(t, shown(t, harmless)), elements(t, shown(t, doc))); diff != "" {
			t.Fatalf("seed %d: not what harmless texts give (-want +got):\n%s", seed, diff)
		}
	}
}

// elements are the tags of a page with the names of their attributes, and the values that are not of the document.
func elements(t *testing.T, page string) []string {
	t.Helper()
	var found []string
	for tokens := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return found
		}
		token := tokens.Token()
		if kind == html.TextToken {
			continue
		}
		bone := token.Type.String() + " " + token.Data
		for _, attribute := range token.Attr {
			bone += " " + attribute.Key
			if attribute.Key == "href" || attribute.Key == "content" {
				bone += "=" + attribute.Val
			}
		}
		found = append(found, bone)
	}
}

func TestPageNeedsAndAllowsNothingElse(t *testing.T) {
	for _, sample := range triagetest.Samples() {
		page := shown(t, sample.Document)
		for _, element := range elements(t, page) {
			if regexp.MustCompile(`^\S+ \S+.* (src|srcset|style|on\w+|action|data|poster)\b`).MatchString(element) &&
				!strings.Contains(element, "http-equiv") {
				t.Errorf("%s: %s", sample.Name, element)
			}
			if _, target, links := strings.Cut(element, "href="); links && !strings.HasPrefix(target, "#group-") {
				t.Errorf("%s: links to %s", sample.Name, target)
			}
		}
		_, styles, _ := strings.Cut(page, "<style>")
		styles, _, _ = strings.Cut(styles, "</style>")
		hash := sha256.Sum256([]byte(styles))
		policy := html.UnescapeString(page[strings.Index(page, "Content-Security-Policy"):][:300])
		if !strings.Contains(policy, "default-src 'none'") ||
			!strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'") {
			t.Errorf("%s: policy %s", sample.Name, policy)
		}
		for _, secret := range triagetest.Secrets() {
			if strings.Contains(page, secret) {
				t.Errorf("%s: shows %q", sample.Name, secret)
			}
		}
	}
}

func TestPageShowsTheFiguresOfTheWorkedExample(t *testing.T) {
	page := shown(t, triagetest.Outage())
	text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	text = html.UnescapeString(strings.Join(strings.Fields(text), " "))
	for _, want := range []string{
		"known-infrastructure", "medium confidence", "93 % 104/112", "86.5 % to 96.3 %", "p 1.1e-60",
		"refuted, at most 10.0 % of the failures can be its doing", "−1.1 points (−11.5 to +9.3)",
		"4 of 6 in 30 days", "cluster=a = network=kubenet; can't be told apart in this run", "Evidence 2",
		"32 numbers that the verdicts depend on", "12 November 2026, times in UTC", "3 of 115",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

func TestPageOfNothingIsAPage(t *testing.T) {
	page := shown(t, triage.Document{Groups: []triage.Group{{}}, Heat: []triage.Heat{{}}, Timeline: []triage.Moment{{}}})
	if !strings.Contains(page, "failures without a message") || strings.Contains(page, "When they failed") {
		t.Error("a group without a message, or a timeline of nothing")
	}
	if err := HTML(broken{}, triage.Document{}, Options{}); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}

func TestHeatHasTheRatesOfTheCause(t *testing.T) {
	for name, row := range map[string]struct {
		failed, passed int
		want           heatCell
	}{
		"none":                  {0, 9, heatCell{Rate: "0"}},
		"a few":                 {1, 19, heatCell{Class: "h1", Rate: "5 %", Count: "1/20"}},
		"most":                  {104, 8, heatCell{Class: "h6", Rate: "93 %", Count: "104/112"}},
		"all":                   {3, 0, heatCell{Class: "h6", Rate: "100 %", Count: "3/3"}},
		"less than none is not": {-1, 3, heatCell{Rate: "0"}},
	} {
		if got := newHeatCell(row.failed, row.passed); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	view := newHeat(triagetest.SuspectedChange())
	if len(view.Tables) != 2 || len(view.Columns) != 2 || view.Tables[0].Blocks[0].Rows[0].Cells[1].Count != "24/28" {
		t.Errorf("a group's rate leaves the others' failures out: %+v", view)
	}
}

func TestBarsStayOnTheirScale(t *testing.T) {
	interval := func(estimate, lower, upper float64) triage.Interval {
		return triage.Interval{Estimate: estimate, Lower: lower, Upper: upper}
	}
	for name, row := range map[string]struct {
		interval triage.Interval
		least    float64
		want     bar
	}{
		"a rate":             {interval(0.5, 0.25, 1), 0, bar{From: 41, Width: 120, At: 81, Zero: 1}},
		"a difference":       {interval(0, -1, 1), -1, bar{From: 1, Width: 160, At: 81, Zero: 81}},
		"beyond the scale":   {interval(7, -7, 9), 0, bar{From: 1, Width: 160, At: 161, Zero: 1}},
		"not a number":       {interval(math.NaN(), 0, 0), 0, bar{From: 1, Width: 1, At: 1, Zero: 1}},
		"an interval of one": {interval(1, 1, 1), 0, bar{From: 161, Width: 1, At: 161, Zero: 1}},
	} {
		if got := newBar(row.interval, row.least, ""); *got != row.want {
			t.Errorf("%s: %+v, want %+v", name, *got, row.want)
		}
	}
}

func TestTicksAreRoundNumbers(t *testing.T) {
	for most, want := range map[int][]int{
		0: {0, 1}, 1: {0, 1}, 4: {0, 1, 2, 3, 4}, 7: {0, 2, 4, 6, 8}, 24: {0, 10, 20, 30}, 1000: {0, 500, 1000},
	} {
		if diff := cmp.Diff(want, ticks(most)); diff != "" {
			t.Errorf("%d (-want +got):\n%s", most, diff)
		}
	}
}

func TestTimelineStacksTheGroups(t *testing.T) {
	doc := triagetest.SuspectedChange()
	view := newTimeline(doc)
	bars := map[string]int{}
	for _, bar := range view.Bars {
		bars[bar.Class]++
	}
	if diff := cmp.Diff(map[string]int{"g-1": 8, "g-2": 5, "passes": 9}, bars); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
	if view.Day != "12 November 2026" || view.Times[0].Text != "08:20" || len(view.Rows) != 9 {
		t.Errorf("%s, %v, %d rows", view.Day, view.Times, len(view.Rows))
	}
	if view := newTimeline(triagetest.Aborted()); len(view.FailTicks) != 0 || view.PassTop != chartTop {
		t.Errorf("room for failures that there are not: %v", view.FailTicks)
	}
	many := triagetest.Large(9, 1)
	if heat := newHeat(many); len(heat.Tables) != 1 {
		t.Errorf("%d wide tables", len(heat.Tables))
	}
	if view := newTimeline(many); !view.More || len(view.Legend) != groupColors {
		t.Errorf("%d groups in the legend, others: %t", len(view.Legend), view.More)
	}
}

func TestOccurrencesAreDrawnUpToTheThreshold(t *testing.T) {
	for name, row := range map[string]struct {
		given *triage.Occurrences
		want  string
	}{
		"no history":     {nil, ""},
		"below":          {&triage.Occurrences{Count: 2, Threshold: 4}, "seen seen left left"},
		"beyond":         {&triage.Occurrences{Count: 3, Threshold: 2, Escalated: true}, "over over over"},
		"too many":       {&triage.Occurrences{Count: 900, Threshold: 6}, ""},
		"no threshold":   {&triage.Occurrences{Count: 3}, ""},
		"none, which is": {&triage.Occurrences{Threshold: 2}, "left left"},
	} {
		if got := strings.Join(pips(row.given), " "); got != row.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestVerdictsAreSeenOnANarrowScreen: there a group's row is a stack, in which what it says is on lines of its own.
func TestVerdictsAreSeenOnANarrowScreen(t *testing.T) {
	var out bytes.Buffer
	doc := triagetest.SuspectedChange()
	doc.Groups[1].Alternative = triage.Alternative{State: "no-change", Text: "no change was given"}
	if err := HTML(&out, doc, Options{}); err != nil {
		t.Fatal(err)
	}
	narrow := out.String()
	narrow = narrow[strings.LastIndex(narrow, "@media (max-width: 520px)")+1:] // the first is of all pages
	narrow, _, _ = strings.Cut(narrow, "@media")
	for _, want := range []string{
		".overview tr { display: grid;", ".overview .verdict { grid-area: 2 /", ".overview .change { grid-area: 3 /",
	} {
		if !strings.Contains(narrow, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, want := range []string{`<td class="verdict">`, `<td class="change">supported</td>`, `<td class="change">not asked</td>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}
