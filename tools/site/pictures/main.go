// Pictures renders D2 sources to SVG: for each FILE.d2 a FILE.svg beside it, for light and dark pages alike.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"oss.terrastruct.com/d2/d2graph"
	"oss.terrastruct.com/d2/d2layouts/d2elklayout"
	"oss.terrastruct.com/d2/d2lib"
	"oss.terrastruct.com/d2/d2renderers/d2svg"
	"oss.terrastruct.com/d2/d2target"
	"oss.terrastruct.com/d2/d2themes/d2themescatalog"
	"oss.terrastruct.com/d2/lib/log"
	"oss.terrastruct.com/d2/lib/textmeasure"
)

func main() {
	check := flag.Bool("check", false, "write nothing: fail when a picture is not what its source says")
	flag.Parse()
	if err := renderAll(context.Background(), flag.Args(), *check); err != nil {
		fmt.Fprintf(os.Stderr, "pictures: %v\n", err)
		os.Exit(1)
	}
}

// renderAll renders the sources in folders.
func renderAll(ctx context.Context, folders []string, check bool) error {
	for _, folder := range folders {
		sources, err := filepath.Glob(filepath.Join(folder, "*.d2"))
		if err != nil {
			return err
		}
		if len(sources) == 0 {
			return fmt.Errorf("no *.d2 in %s", folder)
		}
		for _, source := range sources {
			if err := renderFile(ctx, source, check); err != nil {
				return fmt.Errorf("%s: %w", source, err)
			}
		}
	}
	return nil
}

func renderFile(ctx context.Context, source string, check bool) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	picture, err := render(ctx, string(text))
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(source, ".d2") + ".svg"
	if !check {
		return os.WriteFile(path, picture, 0o644)
	}
	written, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(written, picture) {
		err = fmt.Errorf("%s is stale. hint: make pictures", path)
	}
	return err
}

// ofThePage are the colours of tools/site/style.css on a dark page.
func ofThePage() *d2target.ThemeOverrides {
	text, quiet, page, line := "#dde3ea", "#98a4b0", "#14181d", "#7db8f5"
	outer, inner, shape := "#1a222b", "#212c38", "#293746"
	return &d2target.ThemeOverrides{
		N1: &text, N2: &quiet, N3: &quiet, N4: &quiet, N5: &shape, N6: &inner, N7: &page,
		B1: &line, B2: &line, B3: &shape, B4: &outer, B5: &inner, B6: &shape,
	}
}

// render draws a source. The colours of dark pages are in the same picture, chosen by the reader's browser.
func render(ctx context.Context, source string) ([]byte, error) {
	ruler, err := textmeasure.NewRuler()
	if err != nil {
		return nil, err
	}
	pad, light, dark := int64(12), d2themescatalog.NeutralDefault.ID, d2themescatalog.DarkMauve.ID
	options := &d2svg.RenderOpts{Pad: &pad, ThemeID: &light, DarkThemeID: &dark, DarkThemeOverrides: ofThePage()}
	elk := func(string) (d2graph.LayoutGraph, error) { return d2elklayout.DefaultLayout, nil }
	diagram, _, err := d2lib.Compile(log.WithDefault(ctx), source,
		&d2lib.CompileOptions{Ruler: ruler, LayoutResolver: elk}, options)
	if err != nil {
		return nil, err
	}
	return d2svg.Render(diagram, options)
}
