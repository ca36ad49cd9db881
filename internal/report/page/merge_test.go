package page_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"salve/internal/report/page"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

// rounds are drafts of a run that goes on.
func rounds(t *testing.T, n int) [][]postmortem.Block {
	t.Helper()
	w := reporttest.Open(t, reporttest.Morning(), journal.Header{Run: "20190205-164700-ffffff", Runbook: "b"})
	var all [][]postmortem.Block
	for i := range n {
		w.After(time.Minute).Step("drain", i+1, time.Second, journal.Result{Result: journal.Failure,
			Reason: fmt.Sprintf("made in round %d", i)})
		all = append(all, blocks(t, reporttest.Draft(t, of(w.History()), postmortem.Options{})))
	}
	return all
}

// TestHandEditsSurvive: 50 times somebody writes somewhere outside of the blocks, and the page is made again.
func TestHandEditsSurvive(t *testing.T) {
	made := rounds(t, 6)
	for seed := range int64(50) {
		random := rand.New(rand.NewSource(seed))
		text := postmortem.Document(made[0])
		if seed%2 == 1 {
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}
		for round := 1; round < len(made); round++ {
			text = edit(random, text)
			before := outside(text)
			merged, err := postmortem.Merge(text, made[round], postmortem.Merging{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if after := outside(merged.Text); !slices.Equal(before, after) {
				t.Fatalf("seed %d, round %d:\nbefore %q\nafter  %q", seed, round, before, after)
			}
			want := fmt.Appendf(nil, "made in round %d", round)
			if len(merged.Kept)+len(merged.Deleted)+len(merged.Unknown) > 0 || !bytes.Contains(merged.Text, want) {
				t.Fatalf("seed %d, round %d: not made again, %+v", seed, round, merged.Kept)
			}
			text = merged.Text
		}
	}
}

// edit writes a line outside of the blocks.
func edit(random *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	var free []int
	inside := false
	for i, one := range lines {
		inside = inside || bytes.HasPrefix(one, []byte("<!-- salve:begin"))
		if !inside {
			free = append(free, i)
		}
		inside = inside && !bytes.HasPrefix(one, []byte("<!-- salve:end"))
	}
	words := []string{"<p>we saw\n", "\t<td>x --> y\r\n", "\n\n", "<!-- a remark -->\n", "</main>\n", "é\u2028 | `\n", "\xff\xfe\n"}
	at := free[random.Intn(len(free))]
	return slices.Concat(bytes.Join(lines[:at], nil), []byte(words[random.Intn(len(words))]), bytes.Join(lines[at:], nil))
}

// outside are the parts of a page between its blocks.
func outside(text []byte) []string {
	var parts []string
	part, inside := "", false
	for one := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(one, "<!-- salve:begin"):
			parts, part, inside = append(parts, part), "", true
		case strings.HasPrefix(one, "<!-- salve:end"):
			inside = false
		case !inside:
			part += one
		}
	}
	return append(parts, part)
}

func TestMadeAgainFromTheSameIsTheSame(t *testing.T) {
	for _, one := range reporttest.Samples(t) {
		made := blocks(t, reporttest.Draft(t, one.Sources, postmortem.Options{}))
		text := postmortem.Document(made)
		merged, err := postmortem.Merge(text, made, postmortem.Merging{})
		if err != nil || len(merged.Kept) > 0 || !bytes.Equal(merged.Text, text) {
			t.Errorf("%s: %v, kept %v", one.Name, err, merged.Kept)
		}
	}
}

// TestDeletedBlocksComeBackIntoThePage: before its end, with the section around them; the styles into its head.
func TestDeletedBlocksComeBackIntoThePage(t *testing.T) {
	made := blocks(t, reporttest.Draft(t, of(reporttest.Recovered(t)), postmortem.Options{}))
	whole := postmortem.Document(made)
	for _, block := range made {
		id := block.ID
		if block.Body == "" {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(made), func(b postmortem.Block) bool { return b.ID == id && b.Body != "" })
		text := postmortem.Document(left)
		merged, err := postmortem.Merge(text, made, postmortem.Merging{})
		if err != nil || !bytes.Equal(merged.Text, text) || !slices.Equal(merged.Deleted, []postmortem.SectionID{id}) {
			t.Errorf("%s: %v, deleted %v", id, err, merged.Deleted)
		}
		merged, err = postmortem.Merge(text, made, postmortem.Merging{RestoreDeleted: true})
		if err != nil || len(outside(merged.Text)) != len(outside(whole)) {
			t.Errorf("%s: %v, %d parts", id, err, len(outside(merged.Text)))
		}
		home := map[postmortem.SectionID]string{page.Style: "</head>", postmortem.About: "</header>"}[id]
		_, behind, _ := bytes.Cut(merged.Text, fmt.Appendf(nil, "<!-- salve:end %s -->\n", id))
		behind = bytes.TrimPrefix(bytes.TrimPrefix(behind, []byte("</div>\n")), []byte("</section>\n"))
		if home = cmp.Or(home, "</main>"); !bytes.HasPrefix(behind, []byte(home+"\n")) {
			t.Errorf("%s is before %.40q, and not before %s", id, behind, home)
		}
		for _, tag := range []string{"section", "header", "div", "main"} {
			opened, closed := bytes.Count(merged.Text, []byte("<"+tag)), bytes.Count(merged.Text, []byte("</"+tag+">"))
			if opened != closed {
				t.Errorf("%s: %d times <%s>, %d times </%s>", id, opened, tag, closed, tag)
			}
		}
	}
}

// TestStylesOfOnesOwnStay, with the policy that knows them.
func TestStylesOfOnesOwnStay(t *testing.T) {
	made := rounds(t, 2)
	text := bytes.Replace(postmortem.Document(made[0]), []byte("max-width: 1180px"), []byte("max-width: 900px"), 1)
	merged, err := postmortem.Merge(text, made[1], postmortem.Merging{})
	if err != nil || !slices.Equal(merged.Kept, []postmortem.SectionID{page.Style}) ||
		!bytes.Contains(merged.Text, []byte("max-width: 900px")) || !bytes.Contains(merged.Text, []byte("made in round 1")) {
		t.Errorf("%v, kept %v", err, merged.Kept)
	}
}
