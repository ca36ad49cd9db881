package show

import (
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"salve/internal/triage"
	"salve/internal/triage/triagetest"
)

// TestHostileTextsBecomeNothing: whatever stands in the texts of a document, its comment has the blocks, spans and tags
// that it has with harmless words, and no text of it is anything to GitHub.
func TestHostileTextsBecomeNothing(t *testing.T) {
	for seed := range int64(60) {
		random := rand.New(rand.NewSource(seed))
		expectHarmless(t, seed, triagetest.Filled(func() string { return harmful(random, 4) }, 1+random.Intn(3)))
	}
}

// FuzzTexts is the same for texts that nobody thought of.
func FuzzTexts(f *testing.F) {
	for _, harm := range triagetest.Harm() {
		f.Add(harm, "word")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		if len(one)+len(two) > 1000 {
			t.Skip("longer than what is left whole")
		}
		at := 0
		expectHarmless(t, -1, triagetest.Filled(func() string {
			at++
			return []string{one + ".", one + two + ".", two + one + "."}[at%3]
		}, 1))
	})
}

func expectHarmless(t *testing.T, seed int64, doc triage.Document) {
	t.Helper()
	comment := Markdown(doc, Options{})
	harmless := Markdown(changed(doc, func(text string) string {
		if text == "found" || text == "" {
			return text
		}
		return "x"
	}), Options{})
	if diff := cmp.Diff(skeleton(harmless), skeleton(comment)); diff != "" {
		t.Fatalf("seed %d: not what harmless texts give (-want +got):\n%s\n%s", seed, diff, comment)
	}
	inspect(t, seed, comment)
}

// TestCommentsHoldTheirLimit with any number of groups, texts of any length, and any limit.
func TestCommentsHoldTheirLimit(t *testing.T) {
	for seed := range int64(14) {
		random := rand.New(rand.NewSource(seed))
		doc := triagetest.Filled(func() string { return harmful(random, 1+random.Intn(40)) }, 1+random.Intn(25))
		if seed%7 == 0 {
			doc = triagetest.Filled(func() string { return strings.Repeat("@`|", 700) }, 1+random.Intn(80))
		}
		options := Options{Limit: random.Intn(90000)}
		limit := min(max(options.Limit, LeastBytes), MostBytes)
		if options.Limit == 0 {
			limit = MostBytes
		}
		comment := Markdown(doc, options)
		if len(comment) > limit || utf8.RuneCountInString(comment) > limit {
			t.Fatalf("seed %d: %d bytes, the limit is %d", seed, len(comment), limit)
		}
		if !utf8.ValidString(comment) || !strings.HasPrefix(comment, MarkerPrefix) {
			t.Fatalf("seed %d: begins %.80q", seed, comment)
		}
		inspect(t, seed, comment)
	}
}

// harmful is a text of some pieces of harm, and of characters by chance. It never is nothing but space.
func harmful(random *rand.Rand, most int) string {
	harm := triagetest.Harm()
	var out strings.Builder
	for range 1 + random.Intn(most) {
		switch random.Intn(8) {
		case 0:
			out.WriteRune(rune(random.Intn(0x250)))
		case 1:
			out.WriteString([]string{" ", "\n", "\n\n", "`", "~", "|", "<", "-", ":", "@"}[random.Intn(10)])
		default:
			out.WriteString(harm[random.Intn(len(harm))])
		}
	}
	return out.String() + "."
}

func parse(source string) ast.Node {
	parser := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser()
	return parser.Parse(text.NewReader([]byte(source)))
}

// skeleton is what a comment is made of, texts aside.
func skeleton(source string) []string {
	var bones []string
	depth := 0
	_ = ast.Walk(parse(source), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		depth++
		bone := fmt.Sprintf("%*s%s", depth, "", node.Kind())
		switch node := node.(type) {
		case *ast.Text, *ast.String:
			return ast.WalkContinue, nil
		case *ast.Heading:
			bone += fmt.Sprint(node.Level)
		case *ast.FencedCodeBlock:
			bone += string(node.Language([]byte(source)))
		case *ast.HTMLBlock:
			if tags := string(node.Lines().Value([]byte(source))); !strings.HasPrefix(tags, MarkerPrefix) {
				bone += tags
			}
		}
		bones = append(bones, bone)
		return ast.WalkContinue, nil
	})
	return bones
}

// tags are the lines of HTML that comments may have; the marker is one more.
var tags = []string{
	"<details><summary>Example</summary>\n", "<details><summary>Scenarios and details</summary>\n",
	"<details><summary>Thresholds</summary>\n", "</details>\n",
}

// references are what GitHub makes something of, in texts that are not code.
var references = regexp.MustCompile(
	`@[A-Za-z0-9]|#\d|(?i:gh-\d)|://|(?i:www\.)|:[a-z0-9_+-]*[a-z+_-][a-z0-9_+-]*:|:100:|:1234:`)

// inspect finds what should not be in any comment.
func inspect(t *testing.T, seed int64, comment string) {
	t.Helper()
	source := []byte(comment)
	open := 0
	_ = ast.Walk(parse(comment), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink, *ast.RawHTML, *ast.CodeBlock, *ast.Blockquote, *ast.ThematicBreak:
			t.Errorf("seed %d: a %s", seed, node.Kind())
		case *ast.HTMLBlock:
			lines := string(node.Lines().Value(source))
			switch {
			case lines == "</details>\n":
				open--
			case slices.Contains(tags, lines):
				open++
			case !strings.HasPrefix(lines, MarkerPrefix) || node.PreviousSibling() != nil:
				t.Errorf("seed %d: HTML: %q", seed, lines)
			}
		}
		if node.Type() == ast.TypeBlock {
			if found := references.FindString(readable(node, source)); found != "" {
				t.Errorf("seed %d: %q in %q", seed, found, readable(node, source))
			}
		}
		return ast.WalkContinue, nil
	})
	if open != 0 {
		t.Errorf("seed %d: %d sections are not closed", seed, open)
	}
	for _, char := range strings.ReplaceAll(comment, "\u200b", "\u202e") {
		if unicode.Is(unicode.Bidi_Control, char) || unicode.Is(unicode.Cc, char) && char != '\n' && char != '\t' {
			t.Errorf("seed %d: %U", seed, char)
		}
	}
	for _, secret := range triagetest.Secrets() {
		if strings.Contains(comment, secret) {
			t.Errorf("seed %d: shows %q", seed, secret)
		}
	}
}

// readable is the text of a block's own lines as a reader gets it; code is left out.
func readable(block ast.Node, source []byte) string {
	var out strings.Builder
	for child := block.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			out.Write(util.UnescapePunctuations(
				util.ResolveEntityNames(util.ResolveNumericReferences(child.Segment.Value(source)))))
		case *ast.CodeSpan:
			out.WriteString("\x00")
		}
	}
	return out.String()
}

func TestWhatMattersStays(t *testing.T) {
	doc := triagetest.Filled(func() string { return strings.Repeat("word ", 300) }, 30)
	for i := range doc.Groups {
		doc.Groups[i].Cause.Text = fmt.Sprintf("cause-%d. ", i) + doc.Groups[i].Cause.Text
		doc.Groups[i].Alternative.Text = fmt.Sprintf("alternative-%d. ", i) + doc.Groups[i].Alternative.Text
		doc.Groups[i].WouldChange = []string{fmt.Sprintf("turn-%d. ", i) + strings.Repeat("word ", 300)}
	}
	comment := Markdown(doc, Options{})
	for i := range doc.Groups {
		for _, text := range []string{
			fmt.Sprintf("cause-%d.", i), fmt.Sprintf("alternative-%d.", i), fmt.Sprintf("turn-%d.", i),
		} {
			if !strings.Contains(comment, text) {
				t.Errorf("%s was left out", text)
			}
		}
	}
	if got := strings.Count(comment, "**new, low confidence**"); got != 30 {
		t.Errorf("%d verdicts", got)
	}
	if !strings.Contains(comment, "Left out, for this comment holds 65536 bytes: 30 groups' texts in part") {
		t.Errorf("what was left out: %s", comment[strings.LastIndex(comment, "Left out"):])
	}
}

func TestLaterGroupsAreFoldedAwayFirst(t *testing.T) {
	doc := triagetest.Filled(func() string { return "word" }, 10)
	for i := range doc.Groups {
		doc.Groups[i].Example.Text = fmt.Sprintf("example-%d ", i) + strings.Repeat("x", 2000)
	}
	comment := Markdown(doc, Options{Limit: 22000})
	shown := 0
	for i := range doc.Groups {
		if strings.Contains(comment, fmt.Sprintf("example-%d ", i)) {
			if i != shown {
				t.Errorf("example %d is shown, and the one before it is not", i)
			}
			shown++
		}
	}
	if shown == 0 || shown == 10 || !strings.Contains(comment, fmt.Sprintf("%d examples", 10-shown)) {
		t.Errorf("%d examples are shown: %s", shown, comment[strings.LastIndex(comment, "\n\n"):])
	}
}

// TestWhatMattersLessGoesFirst, at every limit: examples, then tables, then texts, then groups.
func TestWhatMattersLessGoesFirst(t *testing.T) {
	doc := triagetest.Filled(func() string { return strings.Repeat("word ", 60) }, 16)
	order := []string{"examples", "tables", "texts in part", "groups,"}
	reached := map[string]bool{}
	for limit := LeastBytes; limit <= MostBytes; limit += 5000 {
		comment := Markdown(doc, Options{Limit: limit})
		_, left, _ := strings.Cut(comment, "Left out, for")
		for i, what := range order[1:] {
			if strings.Contains(left, what) {
				reached[what] = true
				if kept := regexp.MustCompile(`<summary>Example|\n\| scenarios`).FindString(comment); kept != "" && i > 0 {
					t.Errorf("at %d %s are left out, but not all that matters less: %s", limit, what, kept)
				}
				if !strings.Contains(left, order[i]) {
					t.Errorf("at %d %s are left out, but %s are not", limit, what, order[i])
				}
			}
		}
	}
	if len(reached) != 3 {
		t.Errorf("only %v were ever left out", reached)
	}
}

func TestGroupsThatDoNotFitAreCounted(t *testing.T) {
	doc := triagetest.Filled(func() string { return strings.Repeat("word ", 120) }, 100)
	comment := Markdown(doc, Options{Limit: 20000})
	shown := strings.Count(comment, "\n### ")
	if shown == 0 || shown > 50 {
		t.Fatalf("%d groups are shown", shown)
	}
	want := fmt.Sprintf("%d groups, %d of their failures", 100-shown, 9*(100-shown))
	if !strings.Contains(comment, want) {
		t.Errorf("not said: %s: %s", want, comment[strings.LastIndex(comment, "Left out"):])
	}
	if strings.Count(comment, "**Evidence**") > shown || strings.Count(comment, "**Cause**") != shown {
		t.Error("parts of groups that are not shown")
	}
	if strings.Contains(comment, "**Baseline**") {
		t.Error("there is room for the baseline, and not for groups")
	}
}

func TestEmptyDocumentHasACommentToo(t *testing.T) {
	comment := Markdown(triage.Document{Groups: make([]triage.Group, 1)}, Options{})
	if !strings.HasPrefix(comment, "<!-- salve-triage build= digest= -->\n") {
		t.Errorf("%s", comment)
	}
	inspect(t, 0, comment)
}
