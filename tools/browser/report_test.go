package browser

import (
	"bytes"
	"fmt"
	"os/exec"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"salve/internal/report/page"
	"salve/internal/report/postmortem"
	"salve/internal/report/reporttest"
	"salve/journal"
)

// report is the page of a post-mortem.
func report(t *testing.T, sources postmortem.Sources) []byte {
	t.Helper()
	blocks, err := page.Blocks(reporttest.Draft(t, sources, postmortem.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return postmortem.Document(blocks)
}

func incidents(t *testing.T) []reporttest.Sample {
	t.Helper()
	return append(reporttest.Samples(t), reporttest.Sample{Name: "busy",
		Sources: postmortem.Sources{Runs: []*journal.History{reporttest.Busy(t, 10_000)}}})
}

// TestReportsAreQuietAndFit: also with all that is folded unfolded.
func TestReportsAreQuietAndFit(t *testing.T) {
	ctx := start(t)
	for _, sample := range incidents(t) {
		for i, window := range windows {
			if sample.Name == "busy" && i > 0 {
				continue // it is like the others, and long
			}
			name := fmt.Sprintf("report-%s-%d-%s", sample.Name, window.width, window.scheme)
			t.Run(name, func(t *testing.T) {
				tab, cancel := chromedp.NewContext(ctx)
				defer cancel()
				w := expectFit(t, tab, report(t, sample.Sources), window.width, window.scheme)
				picture(t, tab, name)
				run(t, tab, chromedp.Evaluate(`document.querySelectorAll('details').forEach(d => d.open = true)`, nil))
				if got := ask[int64](t, tab, `document.documentElement.scrollWidth`); got > window.width {
					t.Errorf("%d pixels wide when unfolded", got)
				}
				if got := ask[[]string](t, tab, pale); len(got) > 0 {
					t.Errorf("hard to read when unfolded: %v", got)
				}
				w.expectQuiet(t)
			})
		}
	}
}

func TestReportsPrintWhole(t *testing.T) {
	ctx := start(t)
	for _, sample := range reporttest.Samples(t) {
		t.Run(sample.Name, func(t *testing.T) {
			tab, cancel := chromedp.NewContext(ctx)
			defer cancel()
			open(t, tab, report(t, sample.Sources), 1280, "light")
			expectSections(t, printed(t, tab, "report-"+sample.Name))
			if got := ask[[]string](t, tab, folded); len(got) > 0 {
				t.Errorf("not on paper: %q", got)
			}
		})
	}
}

// expectSections: the headings and the lines of a report are on paper, as text.
func expectSections(t *testing.T, sheet []byte) {
	t.Helper()
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Log("no pdftotext here: what is on paper is not read; Debian has it in poppler-utils")
		return
	}
	reading := exec.CommandContext(t.Context(), program, "-layout", "-", "-")
	reading.Stdin = bytes.NewReader(sheet)
	text, err := reading.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Post-mortem", "Summary", "What happened when", "Impact", "Root cause", "Detection",
		"Resolution", "Lessons learned", "Action items", "Timeline", "Appendix",
		"What happened, in two sentences for somebody who was not there?"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is not on paper", want)
		}
	}
}

// TestDrawingsArePrintedWhole: each as wide as the paper and not higher.
func TestDrawingsArePrintedWhole(t *testing.T) {
	ctx := start(t)
	for _, sample := range reporttest.Samples(t) {
		t.Run(sample.Name, func(t *testing.T) {
			tab, cancel := chromedp.NewContext(ctx)
			defer cancel()
			const width, height = 700, 1000 // pixels of an A4 sheet within its margins, to be sure
			open(t, tab, report(t, sample.Sources), width, "light")
			run(t, tab, emulation.SetEmulatedMedia().WithMedia("print"))
			if got := ask[[]string](t, tab, fmt.Sprintf(`[...document.querySelectorAll('svg.drawing')].map(s =>
				s.getBoundingClientRect()).filter(r => r.right > %d || r.height > %d).map(r => r.right + '×' + r.height)`,
				width, height)); len(got) > 0 {
				t.Errorf("drawings that are cut: %q", got)
			}
		})
	}
}

func TestReportIsStructured(t *testing.T) {
	ctx := start(t)
	for _, sample := range reporttest.Samples(t) {
		t.Run(sample.Name, func(t *testing.T) {
			tab, cancel := chromedp.NewContext(ctx)
			defer cancel()
			open(t, tab, report(t, sample.Sources), 1280, "light")
			expectStructured(t, tab)
		})
	}
}
