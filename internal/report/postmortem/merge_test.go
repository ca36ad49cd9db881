package postmortem_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"salve/internal/report/postmortem"
)

func blocks(round int) []postmortem.Block {
	return []postmortem.Block{
		{ID: "summary", Heading: "## Summary", Body: fmt.Sprintf("- made in round %d\n", round)},
		{ID: "lessons", Heading: "## Lessons"},
		{ID: "impact", Heading: "## Impact", Body: fmt.Sprintf("- impact of round %d\n\n> **Question:** who?\n", round)},
		{ID: "timeline", Heading: "## Timeline", Body: strings.Repeat(fmt.Sprintf("| %d |\n", round), round%5+1)},
	}
}

// TestHandEditsSurvive: 50 times somebody writes somewhere outside of the blocks, and the report is made again.
func TestHandEditsSurvive(t *testing.T) {
	for seed := range int64(50) {
		random := rand.New(rand.NewSource(seed))
		text := postmortem.Document(blocks(0))
		if seed%2 == 1 {
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}
		for round := 1; round <= 10; round++ {
			text = edit(random, text)
			before := outside(t, text)
			merged, err := postmortem.Merge(text, blocks(round), postmortem.Merging{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if after := outside(t, merged.Text); !slices.Equal(before, after) {
				t.Fatalf("seed %d, round %d:\nbefore %q\nafter  %q", seed, round, before, after)
			}
			if len(merged.Kept) > 0 || !bytes.Contains(merged.Text, fmt.Appendf(nil, "made in round %d", round)) {
				t.Fatalf("seed %d, round %d: not made again, kept %v:\n%s", seed, round, merged.Kept, merged.Text)
			}
			text = merged.Text
		}
	}
}

// edit writes a line outside of the blocks, with or without the end of a line.
func edit(random *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	var free []int
	inside := false
	for i, one := range lines {
		if bytes.HasPrefix(one, []byte("<!-- salve:begin")) {
			inside = true
		}
		if !inside {
			free = append(free, i)
		}
		if bytes.HasPrefix(one, []byte("<!-- salve:end")) {
			inside = false
		}
	}
	words := []string{"we saw\n", "\tcode --> x\r\n", "\n\n", "<!-- a remark -->\n", "é\u2028 | `\n", "- [ ] todo  \r\n", "\xff\xfe\n"}
	at := free[random.Intn(len(free))]
	return slices.Concat(bytes.Join(lines[:at], nil), []byte(words[random.Intn(len(words))]), bytes.Join(lines[at:], nil))
}

// outside are the parts of a document between its blocks.
func outside(t *testing.T, text []byte) []string {
	t.Helper()
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

func TestEditedBlocksAreKept(t *testing.T) {
	text := bytes.Replace(postmortem.Document(blocks(1)), []byte("made in round 1"), []byte("made by hand"), 1)
	merged, err := postmortem.Merge(text, blocks(2), postmortem.Merging{})
	if err != nil || !slices.Equal(merged.Kept, []postmortem.SectionID{"summary"}) ||
		!bytes.Contains(merged.Text, []byte("made by hand")) || !bytes.Contains(merged.Text, []byte("impact of round 2")) {
		t.Errorf("%v, kept %v:\n%s", err, merged.Kept, merged.Text)
	}
	replaced, err := postmortem.Merge(text, blocks(2), postmortem.Merging{ReplaceEdited: true})
	if err != nil || len(replaced.Kept) > 0 || !bytes.Equal(replaced.Text, postmortem.Document(blocks(2))) {
		t.Errorf("%v, kept %v:\n%s", err, replaced.Kept, replaced.Text)
	}
}

func TestDeletedBlocksStayAway(t *testing.T) {
	all := blocks(1)
	text := postmortem.Document(all[:2])
	merged, err := postmortem.Merge(text, all, postmortem.Merging{})
	if err != nil || !bytes.Equal(merged.Text, text) || !slices.Equal(merged.Deleted,
		[]postmortem.SectionID{"impact", "timeline"}) {
		t.Errorf("%v, deleted %v:\n%s", err, merged.Deleted, merged.Text)
	}
	merged, err = postmortem.Merge(text, all, postmortem.Merging{RestoreDeleted: true})
	if err != nil || !bytes.HasPrefix(merged.Text, text) || !bytes.Contains(merged.Text, []byte("impact of round 1")) {
		t.Errorf("%v:\n%s", err, merged.Text)
	}
}

func TestUnknownBlocksAreKept(t *testing.T) {
	text := postmortem.Document([]postmortem.Block{{ID: "later", Heading: "## Later", Body: "x\n"}})
	merged, err := postmortem.Merge(text, blocks(1), postmortem.Merging{})
	if err != nil || !bytes.Equal(merged.Text, text) || !slices.Equal(merged.Unknown, []postmortem.SectionID{"later"}) {
		t.Errorf("%v, unknown %v", err, merged.Unknown)
	}
}

// TestMadeAgainFromTheSameIsTheSame also where an editor turned the ends of all lines.
func TestMadeAgainFromTheSameIsTheSame(t *testing.T) {
	for _, text := range [][]byte{
		postmortem.Document(blocks(1)),
		bytes.ReplaceAll(postmortem.Document(blocks(1)), []byte("\n"), []byte("\r\n")),
		bytes.TrimRight(postmortem.Document(blocks(1)), "\n"),
	} {
		merged, err := postmortem.Merge(text, blocks(1), postmortem.Merging{})
		if err != nil || len(merged.Kept) > 0 || !bytes.Equal(merged.Text, text) {
			t.Errorf("%v, kept %v: %q", err, merged.Kept, merged.Text)
		}
	}
}

func TestMarkersThatCanNotBe(t *testing.T) {
	begin := "<!-- salve:begin summary sha256=" + strings.Repeat("0", 64) + " -->\n"
	for name, test := range map[string]struct {
		text string
		line int
		want string
	}{
		"nested":           {"a\n" + begin + strings.Replace(begin, "summary", "impact", 1), 3, `"impact" begins inside of block "summary"`},
		"without an end":   {"a\n" + begin + "x\n", 2, "does not end"},
		"without a begin":  {"<!-- salve:end summary -->\n", 1, "did not begin"},
		"another end":      {begin + "<!-- salve:end impact -->\n", 2, "did not begin"},
		"twice":            {begin + "<!-- salve:end summary -->\n" + begin, 3, "a second time; the first is on line 1"},
		"forged digest":    {"<!-- salve:begin summary sha256=abc -->\n", 1, "not a marker"},
		"in other spacing": {"x <!--salve:END summary-->\n", 1, "not a marker"},
		"in a line":        {begin + "x <!-- salve:end summary -->\n", 2, "not a marker"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := postmortem.Merge([]byte(test.text), blocks(1), postmortem.Merging{})
			var wrong *postmortem.MarkerError
			if !errors.As(err, &wrong) || wrong.Line != test.line || !strings.Contains(wrong.Reason, test.want) {
				t.Errorf("got %v, want line %d: %s", err, test.line, test.want)
			}
		})
	}
}
