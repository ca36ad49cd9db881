package browser

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestSiteIsQuietAndFits: its pages load nothing but themselves, their style and their pictures from the disk, and can
// be read in each window, light and dark.
func TestSiteIsQuietAndFits(t *testing.T) {
	ctx := start(t)
	site := filepath.Join(t.TempDir(), "site")
	build := exec.CommandContext(t.Context(), "go", "run", ".", "-out", site, "../..")
	build.Dir = filepath.Join("..", "site")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range []string{
		"docs/3am.html", "docs/architecture.html", "docs/reference/run.html", "docs/node-hotfix.html",
	} {
		for _, window := range windows {
			name := fmt.Sprintf("site-%s-%d-%s", strings.TrimSuffix(filepath.Base(page), ".html"), window.width, window.scheme)
			t.Run(name, func(t *testing.T) {
				tab, cancel := chromedp.NewContext(ctx)
				defer cancel()
				w := visit(t, tab, filepath.Join(site, page), window.width, window.scheme)
				if got := ask[int64](t, tab, `document.documentElement.scrollWidth`); got > window.width {
					t.Errorf("%d pixels wide", got)
				}
				if got := ask[[]string](t, tab, pale); len(got) > 0 {
					t.Errorf("hard to read: %v", got)
				}
				picture(t, tab, name)
				w.expectWithin(t, site)
			})
		}
	}
}

// visit shows a file of a site.
func visit(t *testing.T, ctx context.Context, path string, width int64, scheme string) *watch {
	t.Helper()
	w := &watch{}
	chromedp.ListenTarget(ctx, w.hear)
	run(t, ctx, network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(width, 900, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
	return w
}

// expectWithin: nothing is fetched from elsewhere, and the browser complains of nothing.
func (w *watch) expectWithin(t *testing.T, site string) {
	t.Helper()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.complaints) > 0 {
		t.Errorf("the browser complains: %q", w.complaints)
	}
	for _, request := range w.requests {
		if !strings.HasPrefix(request, "file://"+site) && !strings.HasPrefix(request, "data:") {
			t.Errorf("request %q", request)
		}
	}
	if len(w.requests) < 2 {
		t.Errorf("requests: %q", w.requests)
	}
}
