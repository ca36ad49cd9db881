package show

import (
	"fmt"
	"slices"
	"strings"

	"salve/internal/triage"
)

// Options say how a document is shown to people who are not at the terminal.
type Options struct {
	// KeepSecrets shows what looks like a credential as it stands.
	KeepSecrets bool
	// Limit is how many bytes a comment may have; 0, and what is more, is MostBytes, and what is less than LeastBytes is
	// that. HTML has no limit.
	Limit int
}

// Limits of a comment. GitHub counts characters, which are no more than the bytes; with less than LeastBytes there is
// no room for a verdict with its reasons.
const (
	MostBytes  = 65536
	LeastBytes = 12288
)

// Bytes that one text of a comment takes at most, in full and in short.
const (
	fullText    = 1500
	shortText   = 260
	terseText   = 128
	titleText   = 600
	cellText    = 200
	exampleText = 4096
	shownLines  = 12 // of evidence, scenarios, problems and notes, each
	shortLines  = 3
)

// Markdown is the document as a comment on a pull request: of at most Limit bytes, what matters least left out first
// and counted at the end. No text of the document becomes anything but text: see prose, code and fence.
func Markdown(doc triage.Document, options Options) string {
	limit := MostBytes
	if options.Limit > 0 {
		limit = min(max(options.Limit, LeastBytes), MostBytes)
	}
	doc = masked(doc, options.KeepSecrets)
	c := comment{doc: doc}
	for i, group := range doc.Groups {
		c.groups = append(c.groups, newSection(i+1, group))
	}
	return fit(c.parts(), c.steps(), limit)
}

// comment is the parts of the document as a whole, and of each group.
type comment struct {
	doc        triage.Document
	groups     []section
	remarks    *part
	thresholds *part
}

// parts are all of them, in the order in which they are read.
func (c *comment) parts() []*part {
	c.remarks, c.thresholds = remarksPart(c.doc), thresholdsPart(c.doc.Thresholds)
	parts := []*part{plainly(heading(c.doc))}
	for _, s := range c.groups {
		parts = append(parts, s.head, s.table, s.evidence, s.tail, s.example, s.more)
	}
	return append(parts, c.remarks, c.thresholds)
}

// steps are what is left out, the least important first: what is folded, of the last group first and of the first group
// last; remarks and the meaning of thresholds; lines of evidence; tables; then texts, in part. Only groups that are
// then still too many are left out themselves, and never the first.
func (c *comment) steps() []step {
	var steps []step
	for _, s := range slices.Backward(c.groups) {
		steps = append(steps, step{s.more, 1}, step{s.example, 1})
	}
	steps = append(steps, step{c.remarks, 1}, step{c.thresholds, 1})
	var evidence, tables, texts []*part
	for _, s := range c.groups {
		evidence, tables = append(evidence, s.evidence), append(tables, s.table)
		texts = append(texts, s.head, s.tail)
	}
	steps = slices.Concat(steps, backwards(evidence, 1), backwards(tables, 1), backwards(texts, 1),
		backwards(evidence, 2), backwards(texts, 2))
	return append(steps, backwards(texts[min(len(texts), 2):], 3)...)
}

func heading(doc triage.Document) string {
	var out strings.Builder
	line := func(label, text string, limit int) {
		if text = prose(text, limit); text != "" {
			out.WriteString(label + text + "\n\n")
		}
	}
	out.WriteString(Marker(doc.Build, doc.Digest) + "\n\n")
	line("## Triage: ", verdict(doc)+confidence(doc.Confidence), cellText)
	line("", doc.Summary, fullText)
	line("**The run did not get to its end.** ", aborted(doc.Aborted), titleText)
	counts := counted(doc.Counts)
	if doc.Build != "" {
		counts += "; build " + doc.Build
	}
	line("", counts, titleText)
	line("**The change**: ", change(doc.Change), titleText)
	return out.String()
}

func remarksPart(doc triage.Document) *part {
	full, short := remarksText(doc, shownLines), remarksText(doc, 0)
	return &part{forms: []form{
		{text: full, left: tally{remarks: max(0, len(doc.Problems)-shownLines) + max(0, len(doc.Notes)-shownLines)}},
		{text: short, left: tally{remarks: len(doc.Problems) + len(doc.Notes)}},
	}}
}

func remarksText(doc triage.Document, most int) string {
	var out strings.Builder
	if doc.Omitted > 0 {
		fmt.Fprintf(&out, "%s not shown.\n\n", plural(doc.Omitted, "smaller group is", "smaller groups are"))
	}
	list := func(label string, texts []string) {
		texts = texts[:min(len(texts), most)]
		for _, text := range texts {
			fmt.Fprintf(&out, "- %s: %s\n", label, prose(text, titleText))
		}
		if len(texts) > 0 {
			out.WriteString("\n")
		}
	}
	list("Problem", doc.Problems)
	list("Note", doc.Notes)
	return out.String()
}

func thresholdsPart(thresholds []triage.Threshold) *part {
	if len(thresholds) == 0 {
		return plainly("")
	}
	var rows strings.Builder
	rows.WriteString("| threshold | value | meaning |\n|---|---|---|\n")
	shown := thresholds[:min(len(thresholds), 100)]
	for _, t := range shown {
		fmt.Fprintf(&rows, "| %s | %s | %s |\n",
			prose(t.Name, cellText), prose(t.Value, cellText), prose(t.Meaning, cellText))
	}
	short := "Thresholds (docs/triage.md): " + prose(compact(thresholds), fullText) + "\n\n"
	return &part{forms: []form{
		{text: folded("Thresholds", rows.String()), left: tally{thresholds: len(thresholds) - len(shown)}},
		{text: short, left: tally{thresholds: len(thresholds)}},
	}}
}

// folded hides a block behind a title, which is ours alone.
func folded(title, block string) string {
	return "<details><summary>" + title + "</summary>\n\n" + block + "\n</details>\n\n"
}
