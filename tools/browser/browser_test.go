package browser

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long the browser has for the pages of one test: long, for a machine that is busy with other things.
const patience = 8 * time.Minute

// start runs the browser for a test, or skips it.
func start(t *testing.T) context.Context {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no chromium here: Debian has it as chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(patience),
	)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("the browser: %v", err)
	}
	return ctx
}

// watch is what the browser says of a page.
type watch struct {
	mutex      sync.Mutex
	complaints []string
	requests   []string
}

func (w *watch) hear(event any) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch event := event.(type) {
	case *runtime.EventConsoleAPICalled:
		w.complaints = append(w.complaints, fmt.Sprintf("console: %s %v", event.Type, event.Args))
	case *runtime.EventExceptionThrown:
		w.complaints = append(w.complaints, event.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		w.complaints = append(w.complaints, event.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		w.complaints = append(w.complaints, "dialog: "+event.Message)
	case *network.EventRequestWillBeSent:
		w.requests = append(w.requests, event.Request.URL)
	}
}

// open shows a page, in a window of a width, light or dark.
func open(t *testing.T, ctx context.Context, html []byte, width int64, scheme string) *watch {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, html, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &watch{}
	chromedp.ListenTarget(ctx, w.hear)
	run(t, ctx, network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(width, 900, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()))
	return w
}

func run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	var answer T
	run(t, ctx, chromedp.Evaluate(expression, &answer))
	return answer
}

// picture leaves a screenshot where somebody asked for them.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	folder := os.Getenv("SALVE_SCREENSHOTS")
	if folder == "" {
		return
	}
	var shot []byte
	run(t, ctx, chromedp.FullScreenshot(&shot, 100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *watch) expectQuiet(t *testing.T) {
	t.Helper()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.complaints) > 0 {
		t.Errorf("the browser complains: %q", w.complaints)
	}
	if len(w.requests) != 1 || !strings.HasPrefix(w.requests[0], "file://") {
		t.Errorf("requests: %q", w.requests)
	}
}

// windows are what pages are looked at in.
var windows = []struct {
	width  int64
	scheme string
}{{400, "light"}, {1280, "light"}, {1280, "dark"}}

// expectFit opens a page in a window: it loads nothing, runs nothing, makes the browser complain of nothing, can be
// read, and need not be moved sideways. The tab is left to look further.
func expectFit(t *testing.T, tab context.Context, html []byte, width int64, scheme string) *watch {
	t.Helper()
	w := open(t, tab, html, width, scheme)
	if got := ask[int64](t, tab, `document.documentElement.scrollWidth`); got > width {
		t.Errorf("%d pixels wide", got)
	}
	if got := ask[int64](t, tab, active); got != 0 {
		t.Errorf("%d elements that load or run something", got)
	}
	if got := ask[[]string](t, tab, pale); len(got) > 0 {
		t.Errorf("hard to read: %v", got)
	}
	return w
}

// printed prints a page to PDF, and leaves the tab as it is on paper.
func printed(t *testing.T, tab context.Context, name string) []byte {
	t.Helper()
	var sheet []byte
	run(t, tab, chromedp.ActionFunc(func(ctx context.Context) error {
		var err error
		sheet, _, err = page.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(sheet, []byte("%PDF-")) {
		t.Errorf("%.20q", sheet)
	}
	if folder := os.Getenv("SALVE_SCREENSHOTS"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name+".pdf"), sheet, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, tab, emulation.SetEmulatedMedia().WithMedia("print"))
	picture(t, tab, name+"-print")
	return sheet
}

// expectStructured: one main heading, no level left out, and every picture named.
func expectStructured(t *testing.T, tab context.Context) {
	t.Helper()
	levels := ask[[]int](t, tab, `[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))`)
	if len(levels) < 4 || levels[0] != 1 {
		t.Fatalf("headings: %v", levels)
	}
	for i, level := range levels[1:] {
		if level == 1 || level > levels[i]+1 {
			t.Errorf("headings: %v", levels)
		}
	}
	if got := ask[[]string](t, tab, `[...document.querySelectorAll('svg')].filter(s =>
		s.getAttribute('aria-hidden') !== 'true' && !(s.getAttribute('aria-label') || s.getAttribute('aria-labelledby')))
		.map(s => s.outerHTML.slice(0, 80))`); len(got) > 0 {
		t.Errorf("pictures without a name: %q", got)
	}
	if got := ask[[]string](t, tab, `[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) =>
		all.indexOf(id) !== i)`); len(got) > 0 {
		t.Errorf("IDs of several elements: %q", got)
	}
	if got := ask[[]string](t, tab, `[...document.querySelectorAll('[aria-labelledby]')].flatMap(e =>
		e.getAttribute('aria-labelledby').split(' ')).concat([...document.querySelectorAll('a[href^="#"]')].map(a =>
		a.getAttribute('href').slice(1))).filter(id => !document.getElementById(id))`); len(got) > 0 {
		t.Errorf("IDs of no element: %q", got)
	}
}

// folded are the texts that stand in a closed fold and are not to be seen.
const folded = `[...document.querySelectorAll('details:not(.long) > :not(summary)')]
  .filter(e => e.textContent.trim() && e.getBoundingClientRect().height < 5).map(e => e.textContent.slice(0, 40))`

const active = `document.querySelectorAll(
  'script, img, iframe, object, embed, link, form, base, video, audio, [onerror], [onclick], [style]').length`

// pale are the elements whose text has less contrast to what is behind it than WCAG asks of small text (4.5).
const pale = `(() => {
  const rgb = color => color.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const color = rgb(getComputedStyle(element).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  const compare = (element, color, back) => {
    const [a, b] = [light(rgb(color)), light(back)].sort((x, y) => y - x);
    const contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) found.add(element.tagName + '.' + element.getAttribute('class') + ' ' + contrast.toFixed(2));
  };
  for (const element of document.querySelectorAll('body *:not(svg *)')) {
    if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    compare(element, getComputedStyle(element).color, behind(element));
  }
  for (const element of document.querySelectorAll('svg text')) {
    compare(element, getComputedStyle(element).fill, behind(element));
    const ready = element.classList.contains('level') && document.querySelector('rect.n-ready');
    if (ready) compare(element, getComputedStyle(element).fill, rgb(getComputedStyle(ready).fill));
  }
  return [...found];
})()`
