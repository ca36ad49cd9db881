package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentationBuilds: all pages of the repository, without a dead link.
func TestDocumentationBuilds(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	pages, err := build("../..", out)
	if err != nil {
		t.Fatal(err)
	}
	if pages < 30 {
		t.Errorf("only %d pages", pages)
	}
	for _, name := range []string{
		"index.html", "docs/index.html", "docs/3am.html", "docs/reference/run.html", "style.css",
	} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
}

// loads matches what a browser fetches without being asked.
var loads = regexp.MustCompile(`(?i)<script|<iframe|<object|@import|url\(|` +
	`src="(https?:)?//|<link [^>]*href="(https?:)?//`)

// TestPagesNeedNoScriptAndNoOtherHost, whatever a page says.
func TestPagesNeedNoScriptAndNoOtherHost(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	if _, err := build("../..", out); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(out, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".html") && !strings.HasSuffix(path, ".css") {
			return err
		}
		raw, err := os.ReadFile(path)
		if found := loads.Find(raw); found != nil {
			t.Errorf("%s holds %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// folder makes a small documentation.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestWhatEndsTheBuild(t *testing.T) {
	const heads = "# Index\n\n## Part\n\n- [a](a.md)\n"
	for name, test := range map[string]struct{ page, want string }{
		"a link to a file that is not there":     {"# A\n\n[x](gone.md)", `dead link "gone.md": docs/gone.md not found`},
		"a link to a heading that is not there":  {"# A\n\n[x](README.md#nowhere)", "docs/README.md has no heading #nowhere"},
		"a heading of the same page":             {"# A\n\n[x](#nowhere)", "docs/a.md has no heading #nowhere"},
		"a link that leaves the repository":      {"# A\n\n[x](../../etc/passwd)", "leaves the repository"},
		"a picture that is not there":            {"# A\n\n![x](gone.svg)", "docs/gone.svg not found"},
		"a picture on another host":              {"# A\n\n![x](https://example.com/a.png)", "is on another host"},
		"HTML in a page":                         {"# A\n\n<script>alert(1)</script>\n", "raw HTML is not shown"},
		"an angle bracket that is taken for one": {"# A\n\nsay <name> here", "&lt;"},
		"HTML behind a comment":                  {"# A\n\n<!-- a --><img src=x>\n", "raw HTML is not shown"},
		"a tag within what is folded":            {"# A\n\n<details><summary><b>x</b></summary>\n", "raw HTML is not shown"},
		"a link that is a script":                {"# A\n\n[x](javascript:alert(1))", "neither https nor mailto"},
		"a page without a title":                 {"words", "docs/a.md: the page has no title"},
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t, map[string]string{"README.md": "# Salve\n", "docs/README.md": heads, "docs/a.md": test.page})
			_, err := build(root, filepath.Join(t.TempDir(), "out"))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestLinksLeadToPagesOfTheSite(t *testing.T) {
	root := folder(t, map[string]string{
		"README.md": "# Salve\n\n[docs](docs/README.md) [use](docs/use.md#what-is-kept) [role](deploy/role.json) " +
			"[decisions](docs/decisions)\n",
		"docs/README.md": "# Documentation\n\n## Use\n\n- [How to use it](use.md)\n",
		"docs/use.md": "# Using *it*\n\n## What is kept?\n\n### `a` | b\n\n### Third\n\n" +
			"[up](../README.md) ![run](p/run.svg)\n\n| a |\n| --- |\n| b |\n",
		"docs/p/run.svg":         "<svg/>",
		"docs/decisions/0001.md": "# 1. First\n",
		"deploy/role.json":       `{"a": "<b>"}`,
		"docs/unlisted.md":       "# Unlisted\n",
	})
	out := filepath.Join(t.TempDir(), "out")
	if _, err := build(root, out); err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{
		"index.html": {`href="docs/index.html"`, `href="docs/use.html#what-is-kept"`,
			`href="deploy/role.json.html"`, `href="docs/decisions/index.html"`},
		"docs/use.html": {`<title>Using it · Salve`, `href="../index.html"`, `src="../docs/p/run.svg"`,
			`<div class="table" tabindex="0"><table>`, `id="what-is-kept"`, `href="../style.css"`,
			`aria-current="page">How to use it</a>`, `<h2>More</h2>`, `>Unlisted</a>`},
		"docs/decisions/index.html": {`href="../../docs/decisions/0001.html">1. First`},
		"deploy/role.json.html":     {"{&#34;a&#34;: &#34;&lt;b&gt;&#34;}"},
		"docs/p/run.svg":            {"<svg/>"},
	} {
		raw, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s lacks %s:\n%s", name, want, raw)
			}
		}
	}
}

func TestFolderOfOthersIsLeftAlone(t *testing.T) {
	root := folder(t, map[string]string{"README.md": "# Salve\n", "docs/README.md": "# Documentation\n"})
	out := folder(t, map[string]string{"mine.txt": "mine"})
	if _, err := build(root, out); err == nil || !strings.Contains(err.Error(), "holds something else") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(out, "mine.txt")); err != nil {
		t.Error(err)
	}
	site := filepath.Join(t.TempDir(), "site")
	for range 2 { // the second time over the first
		if _, err := build(root, site); err != nil {
			t.Error(err)
		}
	}
}
