package browser

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"salve/internal/triage/show"
	"salve/internal/triage/triagetest"
)

// html is the page of a triage.
func html(t *testing.T, sample triagetest.Sample) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := show.HTML(&out, sample.Document, show.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func samples() []triagetest.Sample {
	return append(triagetest.Samples(), triagetest.Sample{Name: "large", Document: triagetest.Large(20, 40)})
}

// TestPagesAreQuietAndFit: no page loads anything, runs anything, or makes the browser complain; none has to be moved
// sideways, on a telephone or on a screen.
func TestPagesAreQuietAndFit(t *testing.T) {
	ctx := start(t)
	for _, sample := range samples() {
		for _, window := range windows {
			name := fmt.Sprintf("%s-%d-%s", sample.Name, window.width, window.scheme)
			t.Run(name, func(t *testing.T) {
				tab, cancel := chromedp.NewContext(ctx)
				defer cancel()
				w := expectFit(t, tab, html(t, sample), window.width, window.scheme)
				picture(t, tab, name)
				w.expectQuiet(t)
			})
		}
	}
}

// TestPagesPrintWhole: what is folded on a screen is on paper.
func TestPagesPrintWhole(t *testing.T) {
	ctx := start(t)
	for _, sample := range samples() {
		t.Run(sample.Name, func(t *testing.T) {
			tab, cancel := chromedp.NewContext(ctx)
			defer cancel()
			open(t, tab, html(t, sample), 1280, "light")
			printed(t, tab, sample.Name)
			if got := ask[[]string](t, tab, folded); len(got) > 0 {
				t.Errorf("not on paper: %q", got)
			}
		})
	}
}

// TestPageIsStructured for those who can't see it.
func TestPageIsStructured(t *testing.T) {
	ctx := start(t)
	open(t, ctx, html(t, triagetest.Sample{Document: triagetest.SuspectedChange()}), 1280, "light")
	expectStructured(t, ctx)
}
