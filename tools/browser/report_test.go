package browser

import (
	"fmt"
	"testing"

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
		for _, window := range windows {
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
			printed(t, tab, "report-"+sample.Name)
			if got := ask[[]string](t, tab, folded); len(got) > 0 {
				t.Errorf("not on paper: %q", got)
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
